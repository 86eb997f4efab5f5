"""The options that say what offers cost, and what a saved hour is worth."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from harness.analysis.price.price_list import (
    PriceList,
    parse_cost,
    parse_money,
    read_price_list,
)
from harness.model.errors import BadInput

hour_option = click.option(
    "--hour",
    metavar="MONEY",
    help="Value of one hour of the cluster's time, such as 20USD; needs a cost. It shows after how many "
    "rounds, of all workloads once, an offer has paid for itself.",
)


def cost_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --cost, which `prices_of` reads, with this help."""
    return click.option("--cost", "costs", multiple=True, metavar="COST", help=text)


def prices_of(
    costs: Sequence[str], hour: str | None, default: PriceList | None = None
) -> PriceList | None:
    """Return the prices of the command line, else the default, else None. Raises BadInput."""
    given = [
        read_price_list(Path(cost)) if cost.endswith(".toml") else PriceList((parse_cost(cost),))
        for cost in costs
    ]
    prices = given or [default or PriceList(())]
    offers = tuple(offer for each in prices for offer in each.offers)
    hours = [parse_money("--hour", hour)] if hour is not None else [each.hour for each in prices]
    worth = list(dict.fromkeys(filter(None, hours)))
    if hour is not None and not offers:
        raise BadInput("--hour needs the cost of the change; add --cost, for example --cost 350USD")
    if len(worth) > 1:
        raise BadInput("--cost: the files differ in `hour`; give one value with --hour")
    own = list(dict.fromkeys(filter(None, (each.baseline for each in prices))))
    if len(own) > 1:
        raise BadInput("--cost: the files differ in `baseline`; the baseline has one price")
    return PriceList(offers, next(iter(worth), None), next(iter(own), None)) if offers else None
