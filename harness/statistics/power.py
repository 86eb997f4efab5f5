"""How many runs it takes to find a change, and how small a change a number of runs finds.

A change is found by the test of `change` at the strictest of Holm's thresholds, which a table's first change
has to pass. Workloads are taken to be alike, and to tell as much as OTHERS of them.
"""

import math
from bisect import bisect_left
from functools import cache

from harness.model.limits import MIN_RUNS
from harness.statistics.change import ALPHA, OWN_FACTOR
from harness.statistics.run_model import BATCHES, t_quantile

POWER = 0.9
"""The probability of finding a change that is there."""
MAX_RUNS = 200
"""On either side. A change that takes more is not worth waiting for."""
OTHERS = 1.0
"""How many other workloads tell of a variance, with due caution, if all workloads are alike."""


def runs_needed(change: float, sd: float, comparisons: int) -> int | None:
    """Return the smallest number of runs on either side that finds `change` with the usual power.

    `change` is relative (-0.05 or 0.05), `sd` the relative standard deviation of runs, `comparisons` the size
    of the table. Return None if it takes more than MAX_RUNS.
    """
    candidates = range(MIN_RUNS, MAX_RUNS + 1)
    effect = abs(math.log1p(change))
    index = bisect_left(candidates, -effect, key=lambda runs: -sd * _distance(runs, comparisons))
    if index < len(candidates):
        return candidates[index]
    return None


def detectable_change(sd: float, runs: int, comparisons: int) -> float | None:
    """Return the smallest relative increase that `runs` on either side find with the usual power.

    Return None if so few runs cannot find a change of any size.
    """
    if runs >= MIN_RUNS:
        return math.expm1(sd * _distance(runs, comparisons))
    return None


def narrower_interval(runs: int, more: int) -> float:
    """Return how wide the interval of a time becomes by `more` runs beside these, as a fraction of now.

    There are two runs or more.
    """
    return _width(runs + more) / _width(runs)


def _width(runs: int) -> float:
    """Return the width of the interval of a time, in standard deviations of runs."""
    return t_quantile(min(runs, BATCHES) - 1) / math.sqrt(runs)


@cache
def _distance(runs: int, comparisons: int) -> float:
    """Return the difference of logarithms that is found, in standard deviations of runs."""
    from scipy.special import nctdtrinc  # noqa: PLC0415  loads for 0.4 s

    own_df = 2 * (min(runs, BATCHES) - 1)
    with_others = own_df + min(OTHERS, comparisons - 1) * own_df
    levels = {own_df: ALPHA / min(OWN_FACTOR, comparisons), with_others: ALPHA / comparisons}
    errors = [
        float(nctdtrinc(df, 1 - POWER, t_quantile(df, 1 - level))) for df, level in levels.items()
    ]
    return max(errors) * math.sqrt(2 / runs)
