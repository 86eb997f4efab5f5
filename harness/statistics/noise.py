"""How much trials of the same differ, whatever a few odd ones among them do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median, stdev

LEAST_TIMES = 5
"""Fewer say next to nothing."""
_NORMAL = 1.4826
"""What makes the median of the distances a standard deviation, if times are (log-)normal."""


def noise(times_s: Sequence[float]) -> float | None:
    """The standard deviation of a time's logarithm: about that of the time, as a share of it.

    By the median distance from the median, corrected for few values (Croux and Rousseeuw 1992);
    where more than half of all are equal, by the usual formula. None of fewer than five, and where a
    time is 0. Even of ten it is right to a third only.
    """
    n = len(times_s)
    if n < LEAST_TIMES or min(times_s) <= 0:
        return None
    middle_s = median(times_s)
    logarithms = [math.log(time_s / middle_s) for time_s in times_s]
    distance = median(map(abs, logarithms))
    return _NORMAL * distance * n / (n - 0.8) if distance else stdev(logarithms)
