"""`clusterlift report`: a page for people who would rather look than read."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.comparison import Comparison, compare
from harness.analysis.configuration import find_configuration
from harness.analysis.price import rank_offers
from harness.analysis.price_list import (
    Money,
    Offer,
    PriceList,
    declared_offer,
    parse_cost,
    parse_money,
    read_price_list,
)
from harness.commands.options import needs_extra, results_option
from harness.model.errors import BadInput
from harness.model.probe import Measurement
from harness.records.lookup import probes_beside
from harness.terminal import visible


@click.command("report")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER [MORE...]")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option(
    "--cost",
    "costs",
    multiple=True,
    metavar="COST",
    help="What the change costs: 350USD; 2.5g-rs=350USD for one configuration alone; or a TOML file "
    "of offers. Repeatable.  [default: what runs declare: --fact cost=350USD]",
)
@click.option("--hour", metavar="MONEY", help="What an hour that is saved is worth, such as 20USD.")
@click.option(
    "--adjust",
    type=click.Choice(["controls"]),
    help="Show changes beyond those of the controls, which no network or storage can move.",
)
@click.option(
    "--allow-different-data", is_flag=True, help="Compare runs on datasets of different content."
)
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
    """Write one HTML file that says what a change buys, in words, pictures and tables.

    BEFORE, AFTER and MORE are what `clusterlift compare` takes. The page needs nothing besides
    itself: no network, no other file.
    """
    with needs_extra("report", "report"):
        from harness.present.report.page import render  # noqa: PLC0415  compare works without

    comparison = compare(
        [find_configuration(name, results) for name in configurations],
        relative_to_controls=adjust == "controls",
        allow_different_data=allow_different_data,
    )
    prices = _prices(costs, hour, comparison)
    measured = _measured(comparison)
    shared = [
        *configurations,
        *(["--adjust", adjust] if adjust else []),
        *(["--allow-different-data"] if allow_different_data else []),
        *(["--results", str(results)] if results != Path("results") else []),
    ]
    own = [*(f"--cost={cost}" for cost in costs), *([f"--hour={hour}"] if hour else [])]
    page = render(
        comparison,
        measured=measured,
        worths=rank_offers(comparison, prices, measured) if prices else (),
        again=_again(shared, [*own, f"--output={output}"]),
    )
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise BadInput(
            f"--output: cannot write {output}: {error.strerror}; choose another place"
        ) from error
    click.echo(visible(str(output)))


def _prices(costs: Sequence[str], hour: str | None, comparison: Comparison) -> PriceList | None:
    """What is given, or else what the runs declare; None if nobody says what anything costs."""
    offers: list[Offer] = []
    hours: list[Money | None] = []
    for cost in costs:
        if cost.endswith(".toml"):
            prices = read_price_list(Path(cost))
            offers += prices.offers
            hours += [prices.hour]
        else:
            offers.append(parse_cost(cost))
    if not costs:
        offers += filter(None, map(declared_offer, comparison.columns))
    if hour is not None and not offers:
        raise BadInput("--hour is of use where something costs: say what the change does: --cost")
    worth = parse_money("--hour", hour) if hour else next(filter(None, hours), None)
    return PriceList(tuple(offers), worth) if offers else None


def _measured(comparison: Comparison) -> dict[str, list[Measurement]]:
    """What was probed in each configuration that was."""
    found = {
        column.name: [one for probed in probes_beside(column.runs) for one in probed.measurements]
        for column in comparison.columns
    }
    return {name: measurements for name, measurements in found.items() if measurements}


def _again(shared: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """The commands that lead from the runs to the table, and to this page."""
    return (
        shlex.join(["clusterlift", "compare", *shared]),
        shlex.join(["clusterlift", "report", *shared, *own]),
    )
