"""Changes from one configuration to another, and whether chance alone explains them."""

import math
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from harness.model.limits import MIN_RUNS
from harness.model.run import Word
from harness.statistics.interval import Interval
from harness.statistics.moderation import moderated
from harness.statistics.run_model import Estimate, RunModel

ALPHA = 0.05
"""Family-wise error rate: the fraction of tables without any change that claim one."""
OWN_FACTOR = 2
"""How many times smaller than ALPHA the p value of a workload's own runs has to be."""


class Verdict(Word):
    """What the test says about a change."""

    CHANGED = "changed"
    NOISE = "noise"
    TOO_FEW = "too-few-runs"


@dataclass(frozen=True)
class Change:
    """The change from one configuration to another, as one comparison of a table.

    `relative_change` is after / before - 1: -0.095 is 9.5 % faster. With enough runs to test it, it has

    - `interval`: its 95 % confidence interval;
    - `p`: the two-sided p value;
    - `adjusted_p`: the same, adjusted for all comparisons of the table (Holm).

    With too few runs, it has a `limit`: the largest relative change that could be no more than another run.
    """

    relative_change: float
    interval: Interval | None = None
    p: float | None = None
    adjusted_p: float | None = None
    limit: float | None = None

    @property
    def of_performance(self) -> "Change":
        """The change of the reciprocal of a time, which is how much is done in it."""
        interval = None
        if self.interval:
            low, high = self.interval
            interval = Interval(_reciprocal_change(high), _reciprocal_change(low))
        return replace(
            self, relative_change=_reciprocal_change(self.relative_change), interval=interval
        )

    @property
    def verdict(self) -> Verdict:
        """Whether the change is significant, or why it cannot be."""
        if self.adjusted_p is None:
            return Verdict.TOO_FEW
        if self.adjusted_p <= ALPHA:
            return Verdict.CHANGED
        return Verdict.NOISE

    @property
    def uncertainty(self) -> float | None:
        """How far the true change may be from `relative_change`."""
        if not self.interval:
            return None
        return self.interval.max_distance(self.relative_change)


def _reciprocal_change(change: float) -> float:
    """Return the change of 1 / x for the change of x.

    The change to 0 becomes the largest that floats hold.
    """
    return -change / max(1 + change, sys.float_info.epsilon)


@dataclass(frozen=True)
class ControlShift:
    """How the control workloads changed together: if they did, the machine changed."""

    workloads: tuple[str, ...]
    change: Change

    @property
    def moved(self) -> bool:
        """Whether the shift is significant."""
        return self.change.verdict is Verdict.CHANGED


@dataclass(frozen=True)
class Difference:
    """A ratio after / before, not yet adjusted for the other comparisons of its table.

    `runs` is the number of runs on the side that has fewer. `moderated` is the same ratio with a variance to
    which other workloads contribute; None if there is none.
    """

    ratio: Estimate
    runs: int
    moderated: Estimate | None = None


def changes_from_baseline(
    model: RunModel,
    controls: Sequence[Sequence[str]] | None = None,
    beyond: float = 0.0,
    left_out: Collection[tuple[str, int]] = (),
) -> dict[tuple[str, int], Change]:
    """Return the changes from the first configuration, by workload and number of configuration.

    A workload without times on a side has no change, nor has one that is `left_out`. The p values are
    adjusted for the whole table, and belong to the hypothesis that a change is `beyond`, a fraction. With
    `controls` of each configuration, a change is relative to theirs.
    """
    differences: dict[tuple[str, int], Difference] = {}
    for after in range(1, len(model.configurations)):
        of_after = _differences(model, after, controls[after] if controls else ())
        for name, difference in of_after.items():
            if (name, after) not in left_out:
                differences[name, after] = difference
    changes = adjusted_changes(list(differences.values()), beyond)
    return dict(zip(differences, changes, strict=True))


def _differences(model: RunModel, after: int, controls: Sequence[str]) -> dict[str, Difference]:
    runs: dict[str, int] = {}
    ratios: dict[str, Estimate] = {}
    for name in model.workloads:
        runs[name] = model.runs_of_either(0, after, name)
        if runs[name]:
            ratios[name] = model.ratio(0, after, name, controls=controls)
    others = moderated(ratios)
    return {name: Difference(ratio, runs[name], others.get(name)) for name, ratio in ratios.items()}


def shift_of_controls(model: RunModel, after: int, controls: Sequence[str]) -> ControlShift | None:
    """Return how these controls changed from the first configuration; None if there are none.

    Each control must have times on both sides.
    """
    if not controls:
        return None
    change = _single_change(model, after, controls, model.ratio(0, after, *controls))
    return ControlShift(tuple(controls), change)


def joint_change(
    model: RunModel,
    after: int,
    workloads: Sequence[str],
    controls: Sequence[str] = (),
    *,
    of_sums: bool,
) -> Change:
    """Return how all these workloads together changed from the first configuration. Runs are the unit.

    It is the change of the sum of their times, or the geometric mean of their changes. Each must have times
    on both sides.
    """
    ratio = model.joint_ratio(0, after, *workloads, of_sums=of_sums, controls=controls)
    return _single_change(model, after, workloads, ratio)


def _single_change(
    model: RunModel, after: int, workloads: Sequence[str], ratio: Estimate
) -> Change:
    """Return the change by this ratio of several workloads, as the only comparison of a table."""
    runs = min(model.runs_of_either(0, after, name) for name in workloads)
    [change] = adjusted_changes([Difference(ratio, runs)])
    return change


def adjusted_changes(differences: Sequence[Difference], beyond: float = 0.0) -> list[Change]:
    """Return the changes of one table, in order, Holm-adjusted, each tested against the change `beyond`.

    The more comparisons a table has, the stronger the evidence that each of them needs. Those with too few
    runs do not count as comparisons. Where other workloads contribute to a variance, the workload's own runs
    alone have to show the change, too, at ALPHA / OWN_FACTOR.
    """
    p_values: list[float] = []
    for each in differences:
        if each.runs >= MIN_RUNS:
            ratio = each.moderated or each.ratio
            p_values.append(ratio.p(1 + beyond))
    adjusted = iter(holm(p_values))
    changes: list[Change] = []
    for each in differences:
        if each.runs >= MIN_RUNS:
            changes.append(_tested_change(each, beyond, next(adjusted)))
        else:
            limit = math.expm1(each.ratio.margin())
            changes.append(Change(math.expm1(each.ratio.log), limit=limit))
    return changes


def _tested_change(difference: Difference, beyond: float, adjusted_p: float) -> Change:
    """Return a change by two p values: of its own runs, and of the table."""
    ratio = difference.ratio
    p = ratio.p(1 + beyond)
    if difference.moderated:
        adjusted_p = max(adjusted_p, min(1.0, OWN_FACTOR * p))
    low, high = ratio.interval
    return Change(math.expm1(ratio.log), Interval(low - 1, high - 1), p, adjusted_p)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's (1979) step-down adjusted p values, in the order of the given ones.

    The smallest of n is multiplied by n, the next by n - 1, and so on. An adjusted p value is never smaller
    than the one before it, nor greater than 1.
    """
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, n in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, p_values[n] * (len(p_values) - rank)))
        adjusted[n] = largest
    return adjusted
