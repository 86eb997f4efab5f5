"""Finds the configuration that is the outcome of a saved prediction, and scores it."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import LAYOUT
from harness.analysis.predict.score import Score, is_in_time, score, started_at
from harness.analysis.predict.target import known_link
from harness.model.errors import BadInput
from harness.model.link import is_same_rate
from harness.model.prediction import Prediction
from harness.records.predictions import FrozenPrediction, frozen_predictions

Scored = tuple[FrozenPrediction, Score]


def score_of(before: ConfigurationRuns, after: ConfigurationRuns, id_: str | None = None) -> Scored:
    """Return the prediction for a baseline that another configuration is the outcome of, with its score.

    It is the one with this id, or else the latest that was made before the outcome was measured, or else
    the latest. Raises BadInput if there is none, or if several begin with this id.
    """
    ledger = frozen_predictions(directory_of(before))
    if not ledger:
        raise BadInput(
            f"{before.name!r} has no prediction; make one before the upgrade: clusterlift predict "
            f"{shlex.quote(before.name)} --link RATE"
        )
    found = [
        frozen
        for frozen in ledger
        if (frozen.id.startswith(id_) if id_ else is_outcome_of(after, frozen.prediction))
    ]
    if not found:
        which = f"with the id {id_}" if id_ else f"for the link and layout of {after.name!r}"
        known = ", ".join(f"{frozen.id} ({frozen.prediction.target})" for frozen in ledger)
        raise BadInput(f"{before.name!r} has no prediction {which}; there are: {known}")
    if id_ and found[1:]:
        known = ", ".join(frozen.id for frozen in found)
        raise BadInput(
            f"--prediction {id_}: the IDs of several of {before.name!r} begin with it: {known}"
        )
    in_time = [frozen for frozen in found if is_in_time(frozen.prediction, after)]
    chosen = (in_time or found)[-1]
    return chosen, score(chosen.prediction, before, after)


def outcomes(before: ConfigurationRuns, others: Sequence[ConfigurationRuns]) -> dict[str, Scored]:
    """Return, by the name of the outcome, each prediction for a baseline that was made before its outcome."""
    ledger = frozen_predictions(directory_of(before))
    found = {}
    for after in others:
        in_time = [frozen for frozen in ledger if _is_later_outcome(after, frozen.prediction)]
        for latest in in_time[-1:]:
            with suppress(BadInput):  # nothing that was predicted was measured
                found[after.name] = latest, score(latest.prediction, before, after)
    return found


def all_scores(
    columns: Sequence[ConfigurationRuns],
) -> Iterator[tuple[FrozenPrediction, Score | None]]:
    """Yield every prediction with the score of its first outcome, None if nothing was measured since."""
    ledgers = {directory_of(column): column for column in columns}
    for directory, before in ledgers.items():
        for frozen in frozen_predictions(directory):
            prediction = frozen.prediction
            since = [column for column in columns if _is_later_outcome(column, prediction)]
            scored = None
            for after in sorted(since, key=started_at)[:1]:
                with suppress(BadInput):  # nothing that was predicted was measured
                    scored = score(prediction, before, after)
            yield frozen, scored


def _is_later_outcome(column: ConfigurationRuns, prediction: Prediction) -> bool:
    return is_in_time(prediction, column) and is_outcome_of(column, prediction)


def is_outcome_of(column: ConfigurationRuns, prediction: Prediction) -> bool:
    """Return whether a configuration has the links and the layout that a prediction is for."""
    link, target = known_link(column), prediction.target
    if link is None:
        return False
    if link.rate_bit_s is None or target.link_bit_s is None:
        is_link = link.rate_bit_s == target.link_bit_s
    else:
        is_link = is_same_rate(link.rate_bit_s, target.link_bit_s)
    layout = target.layout or prediction.conditions.get(LAYOUT)
    return is_link and link.mtu == target.mtu and (layout is None or column.layouts == {layout})


def directory_of(column: ConfigurationRuns) -> Path:
    """Return the directory of a configuration's results, which has its ledger."""
    return Path(column.runs[0].source).parent
