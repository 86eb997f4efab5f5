"""`clusterlift predict`: what an upgrade of the network would buy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.configuration import find_configuration
from harness.analysis.prediction import predict, target_of
from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.model.layout import Layout
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate
from harness.present.prediction import render
from harness.records.predictions import freeze
from harness.terminal import show


def _layout(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    try:
        return None if value is None else str(Layout.parse(value))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


@command("predict")
@click.argument("baseline")
@click.option(
    "--link",
    "links",
    multiple=True,
    metavar="RATE",
    help="Rate of the links to buy, such as 2.5gbit; several times for several offers. "
    "[default: the present rate]",
)
@click.option(
    "--mtu",
    type=click.IntRange(MIN_MTU, MAX_MTU),
    metavar="BYTES",
    help="MTU after the upgrade. [default: the present one]",
)
@click.option(
    "--layout",
    callback=_layout,
    metavar="LAYOUT",
    help="Layout of the data after the upgrade, such as replicated:2. [default: the present one]",
)
@click.option(
    "--copy",
    metavar="CONFIGURATION",
    help="The same cluster and links with a copy of the data in that layout. Without it, the effect of the "
    "layout is only estimated.",
)
@click.option(
    "--throttled",
    multiple=True,
    metavar="CONFIGURATION",
    help="The same cluster and data over slower links, as an experiment measures it; several times for "
    "several rates. It shows how far each workload waits for its link.",
)
@results_option
def predict_command(
    baseline: str,
    links: Sequence[str],
    mtu: int | None,
    layout: str | None,
    copy: str | None,
    throttled: Sequence[str],
    results: Path,
) -> None:
    """Predict the times of BASELINE's workloads over other links, and freeze the prediction.

    BASELINE is the name of a configuration under --results, or a directory of results files. The prediction
    is written to its directory `predictions`, under a name that is a digest of what it says. After the
    upgrade, `clusterlift score` holds it against what came.
    """
    if not links and mtu is None and layout is None:
        raise BadInput(
            "predict needs what is to change: --link RATE, --mtu BYTES or --layout LAYOUT"
        )
    if copy is not None and layout is None:
        raise BadInput("--copy needs --layout: the layout of that copy of the data")
    column = find_configuration(baseline, results)
    slower = [find_configuration(name, results) for name in throttled]
    other = find_configuration(copy, results) if copy is not None else None
    rates: list[int | None] = [parse_rate("--link", link, MAX_BIT_S) for link in links]
    targets = [target_of(column, rate, mtu, layout) for rate in rates or [None]]
    predictions = [predict(column, target, slower, other) for target in targets]
    directory = Path(column.runs[0].source).parent
    show(render([freeze(each, directory) for each in predictions]))
