"""The table of costs: what each configuration costs and saves, the lowest cost per second saved first."""

from collections.abc import Sequence

from harness.analysis.cost.benefit import PER, CostBenefit, PerformanceForCost, Saving
from harness.analysis.cost.costs import Money
from harness.base.words import quantity_text, significant
from harness.present import quantities
from harness.present.blocks import Table

_CENT = 0.01
HEADINGS = ("rank", "configuration", "cost", "saved per round", "cost per second saved")


def money_text(value: Money | None) -> str:
    """Return `1,350 USD` or `1.75 USD`; two significant digits for less than a cent; `-` for None."""
    if value is None:
        return quantities.UNKNOWN
    if 0 < abs(value.amount) < _CENT:
        return f"{significant(value.amount, 2)} {value.currency}"
    return f"{value.amount:,.2f}".removesuffix(".00") + f" {value.currency}"


def cost_summary(benefit: CostBenefit) -> str:
    """Return a line such as `350 USD for the change, 68.29 USD for each second saved in every round`."""
    cost = f"{money_text(benefit.cost)} for the change"
    per_second = benefit.cost_per_second_saved
    if per_second is None:
        return cost
    return f"{cost}, {money_text(per_second)} for each second saved in every round"


def cost_table(benefits: Sequence[CostBenefit]) -> Table:
    """Return a row for each configuration, in the order given."""
    rows = []
    for number, benefit in enumerate(benefits, 1):
        per_second = benefit.cost_per_second_saved
        rank = str(number) if per_second else quantities.UNKNOWN
        cost = money_text(benefit.cost)
        saved = _saving_text(benefit.saving)
        rows.append([rank, benefit.configuration, cost, saved, money_text(per_second)])
    return Table(HEADINGS, rows)


def performance_table(performances: Sequence[PerformanceForCost]) -> Table:
    """Return a row for each performance, in the order given."""
    headings = ("workload", "configuration", "performance", "cost", f"for each {PER:,} of the cost")
    rows = []
    for found in performances:
        unit = f"{found.performance.unit}/s"
        performance = quantity_text(found.performance.value, unit)
        per_cost = quantity_text(found.per_cost, unit)
        cost = money_text(found.cost)
        rows.append([found.workload, found.configuration, performance, cost, per_cost])
    return Table(headings, rows)


def _saving_text(saving: Saving | None) -> str:
    """Return `12.5 s (11.3 s to 13.6 s)`, or why there is no such number."""
    if saving is None:
        return "unknown: too few runs"
    if not saving.workloads:
        return "nothing significant"
    text = quantities.time_text(saving.seconds)
    if saving.interval:
        text += f" ({quantities.ends_text(saving.interval, quantities.time_text)})"
    return text
