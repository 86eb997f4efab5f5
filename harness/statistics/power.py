"""How many runs it takes to find a change, and how small a change a number of runs finds.

The power is that of the test of `change` at the strictest of Holm's thresholds, which a table's first
change has to pass. Workloads are taken to be alike, and to tell as much as OTHERS of them.
"""

import math
from bisect import bisect_left
from functools import lru_cache
from statistics import NormalDist, fmean

from scipy.special import gammaincinv, stdtrit

from harness.model.limits import MIN_RUNS
from harness.statistics.change import ALPHA, OWN_FACTOR

POWER = 0.9
"""The probability of finding a change that is there."""
MAX_RUNS = 200
"""On either side; a change that takes more is not worth waiting for."""
OTHERS = 1.0
"""How many other workloads tell of a variance, with due caution, if all workloads are alike."""
_QUANTILES = 64
"""How many quantiles of the variance the power is computed with."""
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
def _thresholds(df: int, comparisons: int) -> tuple[float, ...]:
    """Return equally likely thresholds of a difference, in standard errors: the estimated variance varies."""
    others_df = min(OTHERS, comparisons - 1) * df
    own = float(stdtrit(df, 1 - ALPHA / min(OWN_FACTOR, comparisons) / 2))
    family = float(stdtrit(df + others_df, 1 - ALPHA / comparisons / 2))
    return tuple(
        math.sqrt(max(own**2 * variance, family**2 * max(variance, moderated)))
        for variance in _variances(df)
        for moderated in [(others_df + df * variance) / (others_df + df)]
    )


def _variances(df: float) -> list[float]:
    """Return equally likely estimates of a variance of 1 with these degrees of freedom."""
    return [
        2 * float(gammaincinv(df / 2, (number + 0.5) / _QUANTILES)) / df
        for number in range(_QUANTILES)
    ]
