"""What a change costs per second that it saves, and performance for its cost."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.analysis.compare.all_workloads import times_within
from harness.analysis.compare.comparison import Comparison
from harness.analysis.cost.costs import Costs, Money
from harness.analysis.observed.configuration import named_by_runs
from harness.analysis.observed.sample import Performance
from harness.model.prediction import Prediction
from harness.statistics.change import Verdict
from harness.statistics.interval import Interval

PER = 1000
"""Units of the currency that a performance is divided by: a cluster costs thousands."""


@dataclass(frozen=True)
class Saving:
    """How many seconds less one execution of all workloads takes; negative if it takes more.

    - `seconds`: the sum over the `workloads` with a significant, or a predicted, change. Controls are none.
    - `interval`: the sum of their intervals, in seconds saved; None if there are no workloads.
    """

    seconds: float
    interval: Interval | None
    workloads: tuple[str, ...]


@dataclass(frozen=True)
class CostBenefit:
    """The cost and the benefit of a configuration.

    `cost` is what it costs more than the baseline. `saving` is None if there are too few runs.
    """

    configuration: str
    cost: Money
    saving: Saving | None

    @property
    def cost_per_second_saved(self) -> Money | None:
        """The cost of each second that a round, all workloads once, takes less; None if it does not."""
        if self.saving is None or self.saving.seconds <= 0:
            return None
        return Money(self.cost.amount / self.saving.seconds, self.cost.currency)


def cost_benefits(comparison: Comparison, costs: Costs) -> tuple[CostBenefit, ...]:
    """Return every configuration that has a cost, the lowest cost per second saved first."""
    savings: dict[str, Saving | None] = {}
    for index, column in enumerate(comparison.columns[1:], 1):
        savings[column.name] = saving(comparison, index)
    return _ranked(savings, costs)


def predicted_benefits(predictions: Sequence[Prediction], costs: Costs) -> tuple[CostBenefit, ...]:
    """Return every target that has a cost, the lowest cost per predicted second saved first."""
    return _ranked({made.target.name: predicted_saving(made) for made in predictions}, costs)


def _ranked(savings: Mapping[str, Saving | None], costs: Costs) -> tuple[CostBenefit, ...]:
    """Order by cost per second saved, then by cost; what saves nothing comes last.

    Changes that save time and cost no more than the baseline come first, by their cost: the cost of a second
    has no meaning for them.
    """
    found = [
        CostBenefit(name, costs.of_change(name), saved)
        for name, saved in savings.items()
        if name in costs.others
    ]
    return tuple(sorted(found, key=_rank))


def _rank(found: CostBenefit) -> tuple[int, float, float]:
    per_second = found.cost_per_second_saved
    cost = found.cost.amount
    if found.saving is None or per_second is None:
        return 2, cost, 0.0
    if cost <= 0:
        return 0, cost, -found.saving.seconds
    return 1, per_second.amount, cost


@dataclass(frozen=True)
class PerformanceForCost:
    """The performance of one workload in one configuration, and what the configuration costs."""

    workload: str
    configuration: str
    performance: Performance
    cost: Money

    @property
    def per_cost(self) -> float:
        """Work per second for each PER units of money."""
        return self.performance.value * PER / self.cost.amount


def performances_for_cost(comparison: Comparison, costs: Costs) -> tuple[PerformanceForCost, ...]:
    """Return every workload that counts its work, without controls, by configuration; the best value first.

    A performance belongs to a whole cluster. So there is none without the baseline's cost: then, costs cover
    the change alone. Configurations that cost nothing are left out.
    """
    if costs.baseline is None:
        return ()
    of_clusters = {comparison.columns[0].name: costs.baseline, **costs.others}
    # The figure of such a workload is for one process, not for the whole cluster.
    left_out = comparison.controls | named_by_runs(comparison.descriptions, "per_process")
    found: list[PerformanceForCost] = []
    for row in comparison.rows:
        if row.workload in left_out:
            continue
        of_row: list[PerformanceForCost] = []
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            cost = of_clusters.get(column.name)
            performance = cell.performance
            if performance and cost and cost.amount:
                of_row.append(PerformanceForCost(row.workload, column.name, performance, cost))
        found += sorted(of_row, key=lambda one: -one.per_cost)
    return tuple(found)


def predicted_saving(prediction: Prediction) -> Saving:
    """Return what a prediction expects of all workloads but the controls."""
    times = prediction.judged
    low_s = math.fsum(time.baseline_s - time.interval_95.high_s for time in times)
    high_s = math.fsum(time.baseline_s - time.interval_95.low_s for time in times)
    return Saving(
        math.fsum(time.baseline_s - time.expected_s for time in times),
        Interval(low_s, high_s),
        tuple(time.workload for time in times),
    )


def saving(comparison: Comparison, index: int) -> Saving | None:
    """Return the saving of the column with this index; None if no workload has enough runs.

    A workload that counts its work saves no time: it is asked how much it does, not when it ends. The time of
    streams together counts, and that of an application, and not the times within them.
    """
    left_out = comparison.controls | times_within(comparison, index)
    workloads: list[str] = []
    seconds: list[float] = []
    low_s: list[float] = []
    high_s: list[float] = []
    is_tested = False
    for row in comparison.rows:
        cell = row.cells[index]
        change = cell.change
        if row.workload in left_out or cell.sample.unit or not cell.summary or not change:
            continue
        is_tested = is_tested or change.verdict is not Verdict.TOO_FEW
        if change.verdict is Verdict.CHANGED and change.interval:
            # Beyond the controls, a change is relative to the time that was to be expected without it.
            expected_s = cell.summary.time_s / (1 + change.relative_change)
            workloads.append(row.workload)
            seconds.append(-change.relative_change * expected_s)
            low_s.append(-change.interval.high * expected_s)
            high_s.append(-change.interval.low * expected_s)
    if not is_tested:
        return None
    interval = Interval(math.fsum(low_s), math.fsum(high_s)) if workloads else None
    return Saving(math.fsum(seconds), interval, tuple(workloads))
