"""Workloads that the change cannot affect: if they move, the machine moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.statistics.change import ALPHA
from harness.statistics.rank_test import Interval, Stratum, p_value, ratio_interval


@dataclass(frozen=True)
class ControlShift:
    """How all controls moved together.

    `ratio` is after / before, the middle of the ratios of all pairs of trials of the same workload;
    `interval` where it lies at 95 %, None of too few trials; `p` that of no shift at all.
    """

    workloads: tuple[str, ...]
    ratio: float
    interval: Interval | None
    p: float

    @property
    def moved(self) -> bool:
        """Whether more than chance is in it."""
        return self.p <= ALPHA


def control_shift(controls: Mapping[str, Stratum]) -> ControlShift | None:
    """The common shift of these workloads' times, before and after; None without any."""
    strata: Sequence[Stratum] = list(controls.values())
    middle = ratio_interval(strata, level=0.0) if strata else None
    if middle is None:
        return None
    return ControlShift(tuple(controls), middle.middle, ratio_interval(strata), p_value(strata))
