"""`clusterlift predict`: what an upgrade would bring, and what came."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.cost.benefit import predicted_benefits
from harness.analysis.cost.costs import given_costs
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.predict.disks import disk_target
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.score import Score, ledger_of, score
from harness.analysis.predict.target import target_of
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.options import cost_option, mtu_option, results_option
from harness.model.link import MAX_BIT_S, parse_rate, rate_text
from harness.present import text
from harness.present.prediction_page import prediction_page, score_page
from harness.records.predictions import freeze


@command("predict")
@click.argument("baseline")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="RATE",
    help="Rate of the links to buy, such as 2.5gbit; repeatable. Without it, the rate stays, and only the "
    "MTU changes.",
)
@mtu_option("MTU after the upgrade. [default: the present one]")
@click.option(
    "--disk",
    "disks",
    multiple=True,
    metavar="FACTOR",
    help="How many times as fast the disks to buy are, such as 2x; repeatable. Links stay as they are.",
)
@cost_option(
    "Cost of all that the upgrade needs: 350USD for any --link or --disk, or 2.5gbit=350USD for one of them. "
    "Repeatable."
)
@click.option(
    "--score",
    "after",
    metavar="AFTER",
    help="Instead of predicting, compare AFTER's times with the last prediction for its links or disks and "
    "its layout that was made before its first run.",
)
@results_option
def predict_command(
    baseline: str,
    links: Sequence[str],
    mtu: int | None,
    disks: Sequence[str],
    costs: Sequence[str],
    after: str | None,
    results: Path,
) -> None:
    """Predict the times of BASELINE's workloads with faster links or disks, and save the prediction.

    BASELINE is the name of a configuration under --results, or a directory of results files, and so is AFTER.
    The prediction is saved in BASELINE's directory `predictions`, as ID.json. The ID is a digest of the
    content, which shows whether anybody changed it. After the upgrade, --score compares it with what was
    measured.
    """
    column = find_configuration(baseline, results)
    if after is not None:
        if links or mtu or disks or costs:
            raise BadInput("--score compares what was predicted: leave out all but BASELINE")
        measured = _score_of(column, find_configuration(after, results))
        show(text.render(score_page(measured)))
        return
    targets = [disk_target(text) for text in dict.fromkeys(disks)]
    predictor = Predictor(column)
    if links or mtu:
        if disks:
            raise BadInput("--disk predicts disks alone: leave out --link and --mtu")
        rates = list(dict.fromkeys(parse_rate("--link", link, MAX_BIT_S) for link in links))
        targets = [target_of(predictor.link, baseline, rate, mtu) for rate in (rates or (None,))]
    if not targets:
        raise BadInput("predict needs what is to change: --link, --mtu or --disk")
    predictions = list(map(predictor.predict, targets))
    names = [made.target.name for made in predictions]
    given = given_costs(costs, baseline, names, spelt=_spelt)
    benefits = predicted_benefits(predictions, given) if given else ()
    frozen = [freeze(made, ledger_of(column)) for made in predictions]
    show(text.render(prediction_page(frozen, benefits)))


def _score_of(before: ConfigurationRuns, after: ConfigurationRuns) -> Score:
    found = score(before, after)
    if found is None:
        raise BadInput(
            f"{before.name!r} has no prediction for the link and layout of {after.name!r} from before its "
            "first run; make one before an upgrade: clusterlift predict "
            f"{shlex.quote(before.name)} --link RATE (--disk FACTOR: probe the disks of both)"
        )
    return found


def _spelt(name: str) -> str:
    """Return a target's name as a prediction spells it: `2500mbit` is 2.5gbit."""
    if name.endswith("x"):
        return disk_target(name).name
    return rate_text(parse_rate("--cost", name, MAX_BIT_S))
