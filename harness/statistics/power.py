"""How many trials a change takes to be found, and how small a change so many trials find.

By simulation with numbers that are always the same: log-normal noise on either side, the exact test
of `ranks`, and of the table the strictest of Holm's thresholds, which the first change has to pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from harness.statistics.change import ALPHA, trials_for_any_result
from harness.statistics.rank_test import Numbers, largest_rejected_u

POWER = 0.9
"""How often a change is to be found."""
MOST_TRIALS = 400
"""On either side; a change that takes more is not worth waiting for."""
_TABLES = 4000
"""Simulated ones: the power is right to about half a percent."""
_SEED = 20201129
_MOST_NOISES = 50.0


def trials_needed(
    change: float, noise: float, comparisons: int, power: float = POWER
) -> int | None:
    """The least number of trials on either side that finds `change` so often; None beyond 400.

    `change` is a share (-0.05 or 0.05), `noise` the standard deviation of a trial as a share.
    """
    distance = math.inf if noise == 0 else abs(math.log1p(change)) / noise

    def found(n: int) -> bool:
        return power_of(distance, n, comparisons) >= power

    least = trials_for_any_result(1, 1, comparisons)
    return _least(found, least, MOST_TRIALS) if found(MOST_TRIALS) else None


def detectable_change(noise: float, n: int, comparisons: int, power: float = POWER) -> float | None:
    """The smallest change, as a share, that `n` trials on either side find so often.

    None if they can find none at all, however great.
    """
    if n < trials_for_any_result(1, 1, comparisons):
        return None
    low, high = 0.0, _MOST_NOISES
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(middle, n, comparisons) >= power else (middle, high)
    return math.expm1(high * noise)


def power_of(distance: float, n: int, comparisons: int) -> float:
    """How often a change is found that is so many standard deviations of the noise."""
    most = largest_rejected_u(((n, n),), ALPHA / comparisons)
    if most is None:
        return 0.0
    if math.isinf(distance):
        return 1.0
    before, after = _noise(n)
    # Of the wins of the greater side too few are lacking.
    missing = n * n - _wins(before, after + distance)
    return float(np.mean(missing <= most))


def _wins(before: Numbers, after: Numbers) -> Numbers:
    """Pairs in which after is greater, a row a table."""
    n = before.shape[1]
    ranks = np.argsort(np.argsort(np.concatenate([before, after], axis=1), axis=1), axis=1) + 1.0
    return np.asarray(ranks[:, n:].sum(axis=1) - n * (n + 1) / 2, float)


@lru_cache(maxsize=4)
def _noise(n: int) -> tuple[Numbers, Numbers]:
    """Standard normal: `_TABLES` rows of `n` numbers, before and after."""
    random = np.random.default_rng(_SEED)
    return random.standard_normal((_TABLES, n)), random.standard_normal((_TABLES, n))


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least whole number for which it holds, once it holds for `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
