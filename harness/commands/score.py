"""`clusterlift score`: predictions compared with what was measured later."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from harness.analysis.configuration import ConfigurationRuns, find_configuration
from harness.analysis.prediction import is_outcome_of
from harness.analysis.score import Score, score
from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.present.prediction import render_score, render_scores
from harness.records.directories import results_files
from harness.records.predictions import FrozenPrediction, frozen_predictions
from harness.terminal import show


@command("score")
@click.argument("configurations", nargs=-1, metavar="[BASELINE AFTER]")
@click.option(
    "--prediction",
    "id_",
    metavar="ID",
    help="Which prediction of BASELINE: its id, or the beginning of it. [default: the latest for AFTER's "
    "link and layout that was made before AFTER was measured, or else the latest, which is void]",
)
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="Instead of BASELINE AFTER: score every prediction under --results, and all of them together.",
)
@results_option
def score_command(
    configurations: tuple[str, ...], id_: str | None, results: Path, *, all_: bool
) -> None:
    """Compare a prediction for BASELINE with AFTER, which was measured after the upgrade.

    BASELINE and AFTER are names of configurations under --results, or directories of results files.
    """
    if all_:
        if configurations or id_:
            raise BadInput("--all scores every prediction under --results: leave out all else")
        show(render_scores(list(_all_scores(results))))
        return
    if len(configurations) != 2:  # noqa: PLR2004  as the usage says
        raise BadInput("score needs two configurations, BASELINE AFTER, or --all")
    before, after = (find_configuration(name, results) for name in configurations)
    ledger = frozen_predictions(_directory(before))
    if not ledger:
        raise BadInput(
            f"{before.name!r} has no prediction; make one before the upgrade: clusterlift predict "
            f"{before.name}"
        )
    found = [
        each
        for each in ledger
        if (each.id.startswith(id_) if id_ else is_outcome_of(after, each.prediction.target))
    ]
    if not found:
        which = f"with the id {id_}" if id_ else f"for the link and layout of {after.name!r}"
        known = ", ".join(f"{each.id} ({each.prediction.target})" for each in ledger)
        raise BadInput(f"{before.name!r} has no prediction {which}; there are: {known}")
    in_time = [each for each in found if each.prediction.made_at < _start(after)]
    chosen = (in_time or found)[-1]
    show(render_score(chosen, score(chosen.prediction, before, after)))


def _all_scores(results: Path) -> Iterator[tuple[FrozenPrediction, Score | None]]:
    """Yield each prediction with its score, None if its target was not measured after it."""
    columns = [
        find_configuration(str(directory), results)
        for directory in sorted(results.glob("*"))
        if results_files(directory)
    ]
    for before in columns:
        for frozen in frozen_predictions(_directory(before)):
            target, made_at = frozen.prediction.target, frozen.prediction.made_at
            came = [
                each for each in columns if made_at < _start(each) and is_outcome_of(each, target)
            ]
            after = min(came, key=_start, default=None)
            yield frozen, score(frozen.prediction, before, after) if after else None


def _directory(column: ConfigurationRuns) -> Path:
    return Path(column.runs[0].source).parent


def _start(column: ConfigurationRuns) -> str:
    return min(recorded.run.started_at for recorded in column.runs)
