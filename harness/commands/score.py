"""`clusterlift score`: a prediction held against what came."""

from __future__ import annotations

from pathlib import Path

import click

from harness.analysis.configuration import ConfigurationRuns, find_configuration
from harness.analysis.prediction import link_of
from harness.analysis.score import score
from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.model.link import is_same_rate
from harness.present.prediction import render_score
from harness.records.predictions import FrozenPrediction, frozen_predictions
from harness.terminal import show


@command("score")
@click.argument("baseline")
@click.argument("after")
@click.option(
    "--prediction",
    "id_",
    metavar="ID",
    help="Which prediction of BASELINE. [default: the latest one for AFTER's link that was made before "
    "AFTER was measured]",
)
@results_option
def score_command(baseline: str, after: str, id_: str | None, results: Path) -> None:
    """Hold a prediction for BASELINE against AFTER, which was measured after the upgrade.

    BASELINE and AFTER are names of configurations under --results, or directories of results files.
    """
    before, came = (find_configuration(name, results) for name in (baseline, after))
    ledger = frozen_predictions(Path(before.runs[0].source).parent)
    if not ledger:
        raise BadInput(
            f"{before.name!r} has no prediction; make one before the upgrade: clusterlift predict {baseline}"
        )
    found = [each for each in ledger if (each.id.startswith(id_) if id_ else _is_for(each, came))]
    if not found:
        which = f"with the id {id_}" if id_ else f"for the link of {came.name!r}"
        known = ", ".join(f"{each.id} ({each.prediction.target})" for each in ledger)
        raise BadInput(f"{before.name!r} has no prediction {which}; there are: {known}")
    start = min(recorded.run.started_at for recorded in came.runs)
    in_time = [each for each in found if each.prediction.made_at < start]
    chosen = (in_time or found)[-1]
    show(render_score(chosen, score(chosen.prediction, before, came)))


def _is_for(frozen: FrozenPrediction, came: ConfigurationRuns) -> bool:
    rate = link_of(came).rate_bit_s
    return rate is not None and is_same_rate(rate, frozen.prediction.target.link_bit_s)
