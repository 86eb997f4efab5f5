"""Performance per price: how much work a second a configuration does for what it costs."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.analysis.observed.configuration import named_by_runs
from harness.analysis.observed.sample import Performance
from harness.analysis.price.price_list import Money, PriceList

PER = 1000
"""Units of the currency that a performance is divided by: that of a cluster costs thousands."""


@dataclass(frozen=True)
class PerformancePrice:
    """The performance of one workload in one configuration, and its price.

    `offer` is the offer's name, None for the baseline. `per_price` are units a second for each 1,000 of the
    currency.
    """

    workload: str
    offer: str | None
    configuration: str
    performance: Performance
    price: Money

    @property
    def per_price(self) -> float:
        """The higher, the better."""
        return self.performance.value * PER / self.price.amount


def performance_prices(comparison: Comparison, prices: PriceList) -> tuple[PerformancePrice, ...]:
    """Return every workload that counts its work, without controls, for every offer; the best value first.

    A performance is that of a whole cluster. So there is none unless the price list has what the baseline
    cost: without it, offers are prices of the change alone. What costs nothing is left out.
    """
    if prices.baseline is None:
        return ()
    # Their figure is that of one process, not of the whole cluster.
    per_process = named_by_runs(comparison.columns, "per_process")
    found = [
        each
        for row in comparison.rows
        if row.workload not in comparison.common_controls | per_process
        for each in sorted(
            _of_workload(comparison, prices, row.workload), key=lambda each: -each.per_price
        )
    ]
    return tuple(found)


def _of_workload(
    comparison: Comparison, prices: PriceList, workload: str
) -> Iterator[PerformancePrice]:
    row = next(row for row in comparison.rows if row.workload == workload)
    performances = {
        column.name: cell.performance
        for column, cell in zip(comparison.columns, row.cells, strict=True)
        if cell.performance
    }
    baseline, *others = (column.name for column in comparison.columns)
    if baseline in performances and prices.baseline is not None and prices.baseline.amount:
        yield PerformancePrice(workload, None, baseline, performances[baseline], prices.baseline)
    for name in others:
        for offer in prices.offers:
            is_for = offer.configurations is None or name in offer.configurations
            if is_for and name in performances and offer.cost.amount:
                yield PerformancePrice(workload, offer.name, name, performances[name], offer.cost)
