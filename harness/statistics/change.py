"""A change from before to after, and whether more than chance is in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.statistics.rank_test import Interval, least_p, p_value, ratio_interval

ALPHA = 0.05
"""How often a table without any change may claim one."""


class Verdict(StrEnum):
    """What can be said of a change."""

    CHANGED = "changed"
    NOISE = "noise"
    TOO_FEW = "too-few-trials"


@dataclass(frozen=True)
class Change:
    """From a sample before to one after.

    `share` is median / median before - 1 (-0.095 is 9.5 % faster) and `interval` where it lies at
    95 %, None where there are too few trials for one. `p` is Mann and Whitney's, two-sided, as of
    this comparison alone; `adjusted_p` as of the whole table. `trials_needed` is how many either
    side has to have for any result to be significant in this table.
    """

    share: float
    interval: Interval | None
    p: float
    adjusted_p: float
    trials_needed: int
    verdict: Verdict

    @property
    def uncertainty(self) -> float | None:
        """How far the true change may be from `share`; of noise, how great it may be at most."""
        if self.interval is None:
            return None
        return self.interval.farthest(0 if self.verdict is Verdict.NOISE else self.share)


@dataclass(frozen=True)
class TwoSampleTest:
    """A change by itself, before the rest of its table is known."""

    share: float
    interval: Interval | None
    p: float
    before: int
    after: int


def two_sample_test(
    share: float, before: Sequence[float], after: Sequence[float], relative_to: Interval | None
) -> TwoSampleTest:
    """Hold the times of two samples against each other; they are greater than 0.

    `relative_to` is where a ratio lies that is not to count as change, such as the controls'. Then
    p is the greatest that any ratio in it leads to, and the interval has room for all of them.
    """
    factor = relative_to or Interval(1, 1)
    ratio = ratio_interval([(before, after)])
    interval = None
    if ratio is not None:
        low, high = ratio.low / factor.high - 1, ratio.high / factor.low - 1
        # The ratio of the medians is not the middle of all ratios and may, seldom, lie outside.
        interval = Interval(min(low, share), max(high, share))
    return TwoSampleTest(
        share, interval, _greatest_p(before, after, factor), len(before), len(after)
    )


def adjusted_changes(table: Sequence[TwoSampleTest]) -> list[Change]:
    """The changes of one table, in order: the more are held, the farther each has to go."""
    adjusted = holm([one.p for one in table])
    return [_judge(one, p, len(table)) for one, p in zip(table, adjusted, strict=True)]


def _judge(one: TwoSampleTest, adjusted_p: float, comparisons: int) -> Change:
    needed = trials_for_any_result(one.before, one.after, comparisons)
    change = Change(one.share, one.interval, one.p, adjusted_p, needed, Verdict.NOISE)
    if min(one.before, one.after) < needed:
        return replace(change, verdict=Verdict.TOO_FEW)
    return replace(change, verdict=Verdict.CHANGED) if adjusted_p <= ALPHA else change


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjusted for their number, so that of no change at all one is claimed once in 1 / ALPHA tables.

    Holm (1979): the least is multiplied by the number of all, the next by one less, and none ends
    up below one that was less.
    """
    adjusted = [0.0] * len(p_values)
    greatest = 0.0
    in_order = sorted(range(len(p_values)), key=p_values.__getitem__)
    for rank, index in enumerate(in_order):
        greatest = max(greatest, min(1.0, p_values[index] * (len(p_values) - rank)))
        adjusted[index] = greatest
    return adjusted


def trials_for_any_result(before: int, after: int, comparisons: int) -> int:
    """The least N such that with N trials or more on either side a result can be significant.

    A side that has more already keeps them. For 8 comparisons of equal sides it is 6.
    """
    needed = 1
    while least_p(max(before, needed), max(after, needed)) * comparisons > ALPHA:
        needed += 1
    return needed


def _greatest_p(before: Sequence[float], after: Sequence[float], factor: Interval) -> float:
    if factor.low == factor.high:
        return p_value([(before, [time / factor.low for time in after])])
    ends = [
        p_value([(before, [time / end for time in after])]) for end in (factor.low, factor.high)
    ]
    ratio = ratio_interval([(before, after)], level=0.0)
    # The middle of all ratios is what no test rejects.
    if ratio is None or (ratio.low <= factor.high and ratio.high >= factor.low):
        return 1.0
    return max(ends)
