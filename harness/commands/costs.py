"""The options that say what offers cost, and what a saved hour is worth."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from harness.analysis.cost.offers import Costs, parse_cost, parse_money, read_costs
from harness.model.errors import BadInput

hour_option = click.option(
    "--hour",
    metavar="MONEY",
    help="Value of one hour of the cluster's time, such as 20USD; needs a cost. It shows after how many "
    "rounds, of all workloads once, an offer has paid for itself.",
)


def cost_option(text: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return the option --cost, which `costs_of` reads, with this help."""
    return click.option("--cost", "costs", multiple=True, metavar="COST", help=text)


def costs_of(costs: Sequence[str], hour: str | None, default: Costs | None = None) -> Costs | None:
    """Return what the command line says, or else the default; None if that has no offers.

    Raises BadInput if several files contradict each other, or if there is an hour and no offer.
    """
    given = [
        read_costs(Path(cost)) if cost.endswith(".toml") else Costs((parse_cost(cost),))
        for cost in costs
    ] or [default or Costs(())]
    offers = tuple(offer for found in given for offer in found.offers)
    if hour is not None and not offers:
        raise BadInput("--hour needs the cost of the change; add --cost, for example --cost 350USD")
    hours = {parse_money("--hour", hour)} if hour is not None else {found.hour for found in given}
    hours.discard(None)
    if len(hours) > 1:
        raise BadInput("--cost: the files differ in `hour`; give one value with --hour")
    baselines = {found.baseline for found in given} - {None}
    if len(baselines) > 1:
        raise BadInput("--cost: the files differ in `baseline`; the baseline has one cost")
    return Costs(offers, next(iter(hours), None), next(iter(baselines), None)) if offers else None
