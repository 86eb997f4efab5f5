"""`clusterlift predict` and `score`: what an upgrade would bring, and what came."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.analysis.cost.benefit import predicted_benefits
from harness.analysis.cost.costs import given_costs
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.predict.outcomes import Scored, all_scores, directory_of, outcomes, score_of
from harness.analysis.predict.prediction import Predictor
from harness.analysis.predict.target import target_of
from harness.commands.command import command
from harness.commands.options import converted, cost_option, hour_option, mtu_option, results_option
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.model.link import MAX_BIT_S, parse_rate, rate_text
from harness.present.prediction import render, render_score, render_scores
from harness.records.directories import PROBES, results_files
from harness.records.predictions import freeze
from harness.terminal import say, show


@command("predict")
@click.argument("baseline")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="RATE",
    help="Rate of the links to buy, such as 2.5gbit; repeatable. Without it, the rate stays, and only "
    "MTU or layout change.",
)
@mtu_option("MTU after the upgrade. [default: the present one]")
@click.option(
    "--layout",
    callback=converted(lambda text: str(Layout.parse(text))),
    metavar="LAYOUT",
    help="Layout of the data after the upgrade, such as replicated:2. [default: the present one]",
)
@click.option(
    "--copy",
    metavar="CONFIGURATION",
    help="A configuration that was measured on a copy of the data in that layout, over the present links. "
    "Without one, what the layout gains is only estimated.",
)
@cost_option(
    "Cost of all that the upgrade needs: 350USD for any --link, or 2.5gbit=350USD for one of them. "
    "Repeatable."
)
@hour_option
@results_option
def predict_command(
    baseline: str,
    links: Sequence[str],
    mtu: int | None,
    layout: str | None,
    copy: str | None,
    costs: Sequence[str],
    hour: str | None,
    results: Path,
) -> None:
    """Predict the times of BASELINE's workloads over other links, and save the prediction.

    BASELINE is the name of a configuration under --results, or a directory of results files. The prediction
    is saved in its directory `predictions`, as ID.json; the ID is a digest of the content, which shows
    whether anybody changed it. After the upgrade, `clusterlift score` compares it with what was measured.
    """
    if not links and mtu is None and layout is None:
        raise BadInput(
            "predict needs what is to change: --link RATE, --mtu BYTES or --layout LAYOUT"
        )
    if copy is not None and layout is None:
        raise BadInput("--copy needs --layout: the layout of that copy of the data")
    rates = list(dict.fromkeys(parse_rate("--link", link, MAX_BIT_S) for link in links))
    column = find_configuration(baseline, results)
    predictor = Predictor(column, find_configuration(copy, results) if copy is not None else None)
    targets = [
        target_of(predictor.link, baseline, rate, mtu, layout) for rate in (rates or (None,))
    ]
    predictions = list(map(predictor.predict, targets))
    names = [made.target.link for made in predictions]
    given = given_costs(costs, hour, baseline, names, spelt=_rate)
    benefits = predicted_benefits(predictions, given) if given else ()
    show(render([freeze(made, directory_of(column)) for made in predictions], benefits))


def _rate(name: str) -> str:
    """Return a rate as a prediction spells it: `2500mbit` is 2.5gbit."""
    return rate_text(parse_rate("--cost", name, MAX_BIT_S))


@command("score")
@click.argument("configurations", nargs=-1, metavar="[BASELINE AFTER]")
@click.option(
    "--prediction",
    "id_",
    metavar="ID",
    help="Which prediction of BASELINE: its ID, or the beginning of it. [default: for the link and layout of "
    "AFTER, the latest that was made before the first run of AFTER began; if there is none, the latest of "
    "all, which is then void]",
)
@click.option(
    "--all",
    "all_",
    is_flag=True,
    help="Instead of BASELINE AFTER: score every prediction under --results against the configuration that "
    "has its link and layout, and all of them together.",
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
            raise BadInput(
                "--all scores every prediction under --results: leave out everything else"
            )
        show(render_scores(list(all_scores(list(_all(results))))))
        return
    if len(configurations) != 2:  # noqa: PLR2004  as the usage says
        raise BadInput("score needs two configurations, BASELINE AFTER, or --all")
    before, after = (find_configuration(name, results) for name in configurations)
    show(render_score(*score_of(before, after, id_)))


def _all(results: Path) -> Iterator[ConfigurationRuns]:
    """Yield every configuration in a directory or below; say which cannot be read."""
    if not results.is_dir():
        raise BadInput(f"--results: {results} is not a directory; name that of the results")
    for directory in sorted(path for path in (results, *results.rglob("*")) if results_files(path)):
        if directory.name == PROBES and directory.parent != results:
            continue  # what was probed in the configuration whose directory this is in
        try:
            yield find_configuration(str(directory), results)
        except BadInput as error:
            say(f"{directory} is left out: {error}")


def predictions_of(columns: Sequence[ConfigurationRuns]) -> list[Scored]:
    """Return the predictions for the first column that were made before another one was measured.

    If the ledger is damaged, say so and return none: the table does not need it.
    """
    before, *others = columns
    try:
        return list(outcomes(before, others).values())
    except BadInput as error:
        say(f"predictions for {before.name} are left out: {error}")
        return []
