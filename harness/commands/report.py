"""`clusterlift report`: a comparison as an HTML page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.comparison import Comparison, compare
from harness.analysis.configuration import find_configuration, probe_measurements
from harness.analysis.outcomes import outcomes
from harness.analysis.price import rank_offers
from harness.analysis.price_list import (
    PriceList,
    declared_prices,
    parse_cost,
    parse_money,
    read_price_list,
)
from harness.commands.command import command
from harness.commands.options import (
    adjust_option,
    different_data_option,
    optional_import,
    results_option,
)
from harness.model.errors import BadInput
from harness.records.outputs import OutputKind, write_file
from harness.terminal import show, visible


@command("report")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The HTML file to write.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="COST",
    help="Cost of the change: 350USD; 2.5g-rs=350USD for one configuration; or a TOML file of offers. "
    "Repeatable.  [default: the fact cost of the runs, as in --fact cost=350USD]",
)
@click.option("--hour", metavar="MONEY", help="Value of one hour saved, such as 20USD.")
@adjust_option
@different_data_option
@results_option
def report_command(
    configurations: Sequence[str],
    output: Path,
    costs: Sequence[str],
    hour: str | None,
    adjust: str | None,
    results: Path,
    *,
    allow_different_data: bool,
) -> None:
    """Write a comparison with charts, probes and costs to one HTML file.

    BEFORE, AFTER and MORE are the same as for `clusterlift compare`. The page is self-contained: a
    browser shows it without network access or other files.
    """
    with optional_import("report", "report"):
        from harness.present.report.page import is_page, render  # noqa: PLC0415  compare works without

    comparison = compare(
        [find_configuration(name, results) for name in configurations],
        relative_to_controls=adjust == "controls",
        allow_different_data=allow_different_data,
    )
    prices = _prices(costs, hour, comparison)
    by_configuration = {column.name: probe_measurements(column) for column in comparison.columns}
    measured = {name: found for name, found in by_configuration.items() if found}
    shared = [
        *configurations,
        *(["--adjust", adjust] if adjust else []),
        *(["--allow-different-data"] if allow_different_data else []),
        *(["--results", str(results)] if results != Path("results") else []),
    ]
    own = [*(f"--cost={cost}" for cost in costs), *([f"--hour={hour}"] if hour is not None else [])]
    page = render(
        comparison,
        measured=measured,
        offers=rank_offers(comparison, prices, measured) if prices else (),
        presenting_commands=(
            shlex.join(["clusterlift", "compare", *shared]),
            shlex.join(["clusterlift", "report", *shared, *own, f"--output={output}"]),
        ),
        predictions=list(outcomes(comparison.columns[0], comparison.columns[1:]).values()),
    )
    write_file(
        output,
        page.encode(errors="backslashreplace"),
        OutputKind("a report of clusterlift", is_page),
    )
    show(visible(str(output)))


def _prices(costs: Sequence[str], hour: str | None, comparison: Comparison) -> PriceList | None:
    """Return the prices of the command line, else those that the runs declare, else None."""
    given = [
        read_price_list(Path(cost)) if cost.endswith(".toml") else PriceList((parse_cost(cost),))
        for cost in costs
    ]
    prices = given or [declared_prices(comparison.columns)]
    offers = tuple(offer for each in prices for offer in each.offers)
    hours = [parse_money("--hour", hour)] if hour is not None else [each.hour for each in prices]
    worth = list(dict.fromkeys(filter(None, hours)))
    if hour is not None and not offers:
        raise BadInput("--hour needs the cost of the change; add --cost, for example --cost 350USD")
    if len(worth) > 1:
        raise BadInput("--cost: the files differ in `hour`; give one value with --hour")
    return PriceList(offers, next(iter(worth), None), prices[0].baseline) if offers else None
