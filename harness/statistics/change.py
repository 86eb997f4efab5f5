"""Changes from one sample to another, and whether chance alone explains them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.statistics.median import Interval
from harness.statistics.rank_test import Stratum, min_p_value, p_value, ratio_interval

ALPHA = 0.05
"""Family-wise error rate: the fraction of tables without any change that claim one."""


class Verdict(StrEnum):
    """What the test says about a change."""

    CHANGED = "changed"
    NOISE = "noise"
    TOO_FEW = "too-few-trials"


@dataclass(frozen=True)
class Change:
    """The change from one sample to another, as one comparison of a table.

    `relative_change` is median after / median before - 1: -0.095 is 9.5 % faster. `interval` is its
    95 % confidence interval, None if there are too few trials. `p` is the two-sided p value of the
    Mann-Whitney U test, `adjusted_p` the same adjusted for all comparisons of the table (Holm).
    `trials_needed` is how many trials either side needs before any result can be significant.
    """

    relative_change: float
    interval: Interval | None
    p: float
    adjusted_p: float
    trials_needed: int
    verdict: Verdict

    @property
    def uncertainty(self) -> float | None:
        """How far the true change may be from `relative_change`; for noise, how far from 0."""
        if self.interval is None:
            return None
        return self.interval.max_distance(
            0 if self.verdict is Verdict.NOISE else self.relative_change
        )


@dataclass(frozen=True)
class TwoSampleTest:
    """A change before it is adjusted for the other comparisons of its table.

    `before` and `after` are the numbers of trials.
    """

    relative_change: float
    interval: Interval | None
    p: float
    before: int
    after: int


def two_sample_test(
    relative_change: float,
    before: Sequence[float],
    after: Sequence[float],
    relative_to: Interval | None,
) -> TwoSampleTest:
    """Compare two samples of times greater than 0 by the Mann-Whitney U test.

    `relative_to` is the interval of a ratio that does not count as a change, such as the shift of
    the controls. The p value is then the largest over all ratios in it, and the confidence interval
    includes their uncertainty.
    """
    null_ratio = relative_to or Interval(1, 1)
    ratio = ratio_interval([(before, after)])
    interval = None
    if ratio is not None:
        low, high = ratio.low / null_ratio.high - 1, ratio.high / null_ratio.low - 1
        # The ratio of the medians differs from the median of the ratios and may lie outside.
        interval = Interval(min(low, relative_change), max(high, relative_change))
    p = _max_p_value(before, after, null_ratio)
    return TwoSampleTest(relative_change, interval, p, len(before), len(after))


def adjusted_changes(tests: Sequence[TwoSampleTest]) -> list[Change]:
    """Return the changes of one table, in order, Holm-adjusted.

    The more comparisons a table has, the stronger the evidence that each of them needs.
    """
    adjusted = holm([test.p for test in tests])
    return [_change(test, p, len(tests)) for test, p in zip(tests, adjusted, strict=True)]


def _change(test: TwoSampleTest, adjusted_p: float, comparisons: int) -> Change:
    needed = min_trials(test.before, test.after, comparisons)
    verdict = Verdict.NOISE
    if min(test.before, test.after) < needed:
        verdict = Verdict.TOO_FEW
    elif adjusted_p <= ALPHA:
        verdict = Verdict.CHANGED
    return Change(test.relative_change, test.interval, test.p, adjusted_p, needed, verdict)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return Holm's (1979) step-down adjusted p values, in the order of the given ones.

    The smallest of n is multiplied by n, the next by n - 1, and so on; none becomes smaller than
    the one before it, or greater than 1. Rejecting those up to ALPHA keeps the family-wise error
    rate at ALPHA.
    """
    adjusted = [0.0] * len(p_values)
    previous = 0.0
    ascending = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(ascending):
        previous = max(previous, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = previous
    return adjusted


def min_trials(before: int, after: int, comparisons: int) -> int:
    """Return the smallest N for which N trials on either side can give a significant result.

    A side that already has more than N keeps them. For 8 comparisons with equal sides N is 6.
    """
    needed = 1
    while min_p_value(max(before, needed), max(after, needed)) * comparisons > ALPHA:
        needed += 1
    return needed


def _max_p_value(before: Sequence[float], after: Sequence[float], null_ratio: Interval) -> float:
    """Return the largest p value over the null hypotheses that the ratio is r, r in `null_ratio`."""

    def p_if(ratio: float) -> float:
        return p_value([(before, [time / ratio for time in after])])

    if null_ratio.low == null_ratio.high:
        return p_if(null_ratio.low)
    estimate = ratio_interval([(before, after)], level=0.0)
    # The test never rejects the Hodges-Lehmann estimate, the median of all ratios.
    if estimate is None or (estimate.low <= null_ratio.high and estimate.high >= null_ratio.low):
        return 1.0
    return max(p_if(null_ratio.low), p_if(null_ratio.high))


@dataclass(frozen=True)
class ControlShift:
    """How the control workloads moved together: if they did, the machine changed.

    `ratio` is after / before, the Hodges-Lehmann estimate over all pairs of trials of the same
    workload; `interval` is its 95 % confidence interval, None if there are too few trials; `p` is
    the p value of the null hypothesis that nothing moved.
    """

    workloads: tuple[str, ...]
    ratio: float
    interval: Interval | None
    p: float

    @property
    def moved(self) -> bool:
        """Whether the shift is significant."""
        return self.p <= ALPHA


def control_shift(controls: Mapping[str, Stratum]) -> ControlShift | None:
    """Return the common shift of the controls' times, by workload; None without any controls."""
    strata = list(controls.values())
    estimate = ratio_interval(strata, level=0.0) if strata else None
    if estimate is None:
        return None
    return ControlShift(tuple(controls), estimate.middle, ratio_interval(strata), p_value(strata))
