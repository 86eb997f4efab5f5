"""How many trials it takes to find a change, and how small a change a number of trials finds.

The power comes from a simulation with a fixed seed: log-normal noise on either side, the exact
Mann-Whitney U test, and the strictest of Holm's thresholds, which a table's first change has to pass.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from harness.statistics.change import ALPHA, min_trials
from harness.statistics.rank_test import Numbers, largest_rejected_u

POWER = 0.9
"""The probability of finding a change that is there."""
MAX_TRIALS = 400
"""On either side; a change that takes more is not worth waiting for."""
_SIMULATIONS = 4000
"""They determine the power to about half a percent."""
_SEED = 20201129
_MAX_EFFECT = 50.0


def trials_needed(
    change: float, noise: float, comparisons: int, power: float = POWER
) -> int | None:
    """Return the smallest number of trials on either side that finds `change` with this power.

    `change` is relative (-0.05 or 0.05); `noise` is a trial's relative standard deviation. Return
    None if it takes more than MAX_TRIALS.
    """
    effect = math.inf if noise == 0 else abs(math.log1p(change)) / noise

    def power_at(n: int) -> float:
        return statistical_power(effect, n, comparisons)

    if power_at(MAX_TRIALS) < power:
        return None
    candidates = range(min_trials(1, 1, comparisons), MAX_TRIALS)
    return candidates.start + bisect_left(candidates, power, key=power_at)


def detectable_change(noise: float, n: int, comparisons: int, power: float = POWER) -> float | None:
    """Return the smallest relative change that `n` trials on either side find with this power.

    Return None if `n` trials cannot find a change of any size.
    """
    if n < min_trials(1, 1, comparisons):
        return None
    low, high = 0.0, _MAX_EFFECT
    for _ in range(30):
        middle = (low + high) / 2
        is_found = statistical_power(middle, n, comparisons) >= power
        low, high = (low, middle) if is_found else (middle, high)
    return math.expm1(high * noise)


def statistical_power(effect: float, n: int, comparisons: int) -> float:
    """Return the probability that `n` trials on either side find a change.

    `effect` is the change of the logarithm of the time in standard deviations of the noise.
    """
    max_u = largest_rejected_u(((n, n),), ALPHA / comparisons)
    if max_u is None:
        return 0.0
    if math.isinf(effect):
        return 1.0
    before, after = _noise(n)
    smaller_u = n * n - _u_statistics(before, after + effect)
    return float(np.mean(smaller_u <= max_u))


def _u_statistics(before: Numbers, after: Numbers) -> Numbers:
    """Return the U statistic of `after` for each row: in how many pairs it is greater."""
    n = before.shape[1]
    ranks = np.argsort(np.argsort(np.concatenate([before, after], axis=1), axis=1), axis=1) + 1.0
    return np.asarray(ranks[:, n:].sum(axis=1) - n * (n + 1) / 2, float)


@lru_cache(maxsize=4)
def _noise(n: int) -> tuple[Numbers, Numbers]:
    """Return standard normal samples before and after, each of shape (_SIMULATIONS, n)."""
    random = np.random.default_rng(_SEED)
    return random.standard_normal((_SIMULATIONS, n)), random.standard_normal((_SIMULATIONS, n))
