"""How much work a second a configuration does for what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison, Row
from harness.analysis.cost.offers import Costs, Money
from harness.analysis.observed.configuration import named_by_runs
from harness.analysis.observed.sample import Performance

PER = 1000
"""Units of the currency that a performance is divided by: that of a cluster costs thousands."""


@dataclass(frozen=True)
class PerformanceForCost:
    """The performance of one workload in one configuration, and its cost.

    `offer` is the offer's name, None for the baseline.
    """

    workload: str
    offer: str | None
    configuration: str
    performance: Performance
    cost: Money

    @property
    def per_cost(self) -> float:
        """Work per second for each PER units of money."""
        return self.performance.value * PER / self.cost.amount


def performances_for_cost(comparison: Comparison, costs: Costs) -> tuple[PerformanceForCost, ...]:
    """Return every workload that counts its work, without controls, for every offer; the best value first.

    A performance is that of a whole cluster. So there is none unless it is known what the baseline cost:
    otherwise, offers are costs of the change alone. What costs nothing is left out.
    """
    if costs.baseline is None:
        return ()
    # Their figure is that of one process, not of the whole cluster.
    per_process = named_by_runs(comparison.columns, "per_process")
    return tuple(
        found
        for row in comparison.rows
        if row.workload not in comparison.common_controls | per_process
        for found in sorted(_of_row(comparison, row, costs), key=lambda found: -found.per_cost)
    )


def _of_row(comparison: Comparison, row: Row, costs: Costs) -> Iterator[PerformanceForCost]:
    baseline = comparison.columns[0].name
    for column, cell in zip(comparison.columns, row.cells, strict=True):
        offered: list[tuple[str | None, Money | None]] = (
            [(None, costs.baseline)]
            if column.name == baseline
            else [(offer.name, offer.cost) for offer in costs.offers if offer.is_for(column.name)]
        )
        for offer, cost in offered:
            if cell.performance and cost and cost.amount:
                yield PerformanceForCost(row.workload, offer, column.name, cell.performance, cost)
