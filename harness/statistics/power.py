"""How many runs it takes to find a change, and how small a change a number of runs finds.

The power is that of the t test of `mixed_model` at the strictest of Holm's thresholds, which a table's
first change has to pass. Half of the variance between runs is taken to be common to all workloads.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from statistics import NormalDist, fmean

from scipy.special import gammaincinv, stdtrit

from harness.model.limits import MIN_RUNS
from harness.statistics.change import ALPHA
from harness.statistics.mixed_model import PRIOR_WEIGHT

POWER = 0.9
"""The probability of finding a change that is there."""
MAX_RUNS = 200
"""On either side; a change that takes more is not worth waiting for."""
_QUANTILES = 16
"""How many quantiles of each part of the variance the power is computed with."""
_MAX_LOG_CHANGE = 50.0


def runs_needed(change: float, sd: float, comparisons: int) -> int | None:
    """Return the smallest number of runs on either side that finds `change` with the usual power.

    `change` is relative (-0.05 or 0.05); `sd` is the relative standard deviation of runs. Return None if
    it takes more than MAX_RUNS.
    """

    def power_at(runs: int) -> float:
        return statistical_power(change, sd, runs, comparisons)

    if power_at(MAX_RUNS) < POWER:
        return None
    candidates = range(MIN_RUNS, MAX_RUNS)
    return candidates.start + bisect_left(candidates, POWER, key=power_at)


def detectable_change(sd: float, runs: int, comparisons: int) -> float | None:
    """Return the smallest relative increase that `runs` on either side find with the usual power.

    Return None if so few runs cannot find a change of any size.
    """
    if runs < MIN_RUNS:
        return None
    low, high = 0.0, _MAX_LOG_CHANGE
    for _ in range(50):
        middle = (low + high) / 2
        is_found = statistical_power(math.expm1(middle), sd, runs, comparisons) >= POWER
        low, high = (low, middle) if is_found else (middle, high)
    return math.expm1(high)


def statistical_power(change: float, sd: float, runs: int, comparisons: int) -> float:
    """Return the probability that `runs` on either side find a relative change.

    `sd` is the relative standard deviation of runs, `comparisons` the size of the table.
    """
    effect = abs(math.log1p(change))
    if sd == 0:
        return float(effect > 0)
    distance = effect / (sd * math.sqrt(2 / runs))
    thresholds = _thresholds(2 * (runs - 1), comparisons)
    return fmean(NormalDist(threshold).cdf(distance) for threshold in thresholds)


@lru_cache(maxsize=1024)
def _thresholds(shared_df: int, comparisons: int) -> tuple[float, ...]:
    """Return equally likely thresholds of a difference, in standard errors: the estimated variance varies.

    A table of one comparison has one workload, whose variance has no part of its own.
    """
    below = 1 - ALPHA / comparisons / 2
    if comparisons == 1:
        quantile = float(stdtrit(shared_df, below))
        return tuple(quantile * math.sqrt(value) for value in _variances(shared_df))
    own_df = min(shared_df * (comparisons - 1), PRIOR_WEIGHT + shared_df)
    return tuple(
        float(stdtrit((shared + own) ** 2 / (shared**2 / shared_df + own**2 / own_df), below))
        * math.sqrt((shared + own) / 2)
        for shared in _variances(shared_df)
        for own in _variances(own_df)
    )


def _variances(df: float) -> list[float]:
    """Return equally likely estimates of a variance of 1 with these degrees of freedom."""
    return [
        2 * float(gammaincinv(df / 2, (number + 0.5) / _QUANTILES)) / df
        for number in range(_QUANTILES)
    ]
