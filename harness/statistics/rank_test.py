"""The Mann-Whitney U test of two samples (1947), and the confidence interval that belongs to it.

The null distribution is exact, with ties as well: it is the distribution of the rank sum of as many
of the observed ranks, drawn at random. Several pairs of samples count as strata (van Elteren 1960,
unweighted): each is ranked by itself, and the test takes the sum of their U statistics. The interval
of the ratio after / before contains the ratios that the test does not reject (Hodges and Lehmann
1963); its ends are two of the ratios of all pairs of values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import pairwise
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from harness.statistics.median import Interval

Numbers = NDArray[np.float64]
Stratum = tuple[Sequence[float], Sequence[float]]
"""Values before and after; neither is empty, and for a ratio all are greater than 0."""

MAX_EXACT_VALUES = 100
"""Values of a stratum; with more, a normal distribution is exact enough for every purpose here."""
MAX_LISTED_PAIRS = 250_000
"""Ratios that are computed one by one; with more pairs, bisection finds the interval."""


def p_value(strata: Sequence[Stratum]) -> float:
    """Return the two-sided p value of the null hypothesis that before and after do not differ."""
    arrays = [(np.asarray(before, float), np.asarray(after, float)) for before, after in strata]
    u = sum(_u_statistic(before, after) for before, after in arrays)
    if any(len(before) + len(after) > MAX_EXACT_VALUES for before, after in arrays):
        moments = [_moments(before, after) for before, after in arrays]
        mean, variance = (sum(each) for each in zip(*moments, strict=True))
        # The continuity correction: U changes in steps, so half a step towards the mean.
        distance = max(0.0, abs(u - mean) - 0.5)
        return math.erfc(distance / math.sqrt(2 * variance)) if variance else 1.0
    probabilities = _null_distribution(tuple(_ties(before, after) for before, after in arrays))
    doubled = round(2 * u)
    tail = min(float(probabilities[: doubled + 1].sum()), float(probabilities[doubled:].sum()))
    return min(1.0, 2 * tail)


def ratio_interval(strata: Sequence[Stratum], level: float = 0.95) -> Interval | None:
    """Return the confidence interval of the ratio after / before that all strata have in common.

    Return None if there are too few values, or if a value before is 0 or so small that a ratio
    overflows.
    """
    arrays = [
        (np.sort(np.asarray(before, float)), np.sort(np.asarray(after, float)))
        for before, after in strata
    ]
    if any(before[0] <= 0 for before, _ in arrays):
        return None
    sizes = tuple((len(before), len(after)) for before, after in arrays)
    outside = largest_rejected_u(sizes, 1 - level)
    if outside is None:
        return None
    pairs = sum(len(before) * len(after) for before, after in arrays)
    if pairs > MAX_LISTED_PAIRS:
        return Interval(_nth_ratio(arrays, outside), _nth_ratio(arrays, pairs - 1 - outside))
    with np.errstate(over="ignore"):
        ratios = np.concatenate(
            [np.divide.outer(after, before).ravel() for before, after in arrays]
        )
    ratios.partition((outside, pairs - 1 - outside))
    if math.isinf(ratios[pairs - 1 - outside]):
        return None
    return Interval(float(ratios[outside]), float(ratios[pairs - 1 - outside]))


def min_p_value(before: int, after: int) -> float:
    """Return the smallest p value possible with these numbers of values: none of them overlap."""
    return min(1.0, 2 / math.comb(before + after, before))


def _u_statistic(before: Numbers, after: Numbers) -> float:
    """Return U of `after`: in how many pairs it is greater; a tie counts half."""
    ordered = np.sort(before)
    below = np.searchsorted(ordered, after, "left") + np.searchsorted(ordered, after, "right")
    return float(below.sum()) / 2


def _moments(before: Numbers, after: Numbers) -> tuple[float, float]:
    """Return mean and variance of U under the null hypothesis, given the ties."""
    n_before, n_after = len(before), len(after)
    n = n_before + n_after
    tied = np.unique(np.concatenate([before, after]), return_counts=True)[1].astype(float)
    ties = float((tied**3 - tied).sum()) / (n * (n - 1))
    return n_before * n_after / 2, n_before * n_after / 12 * (n + 1 - ties)


_Ties = tuple[int, tuple[int, ...]]
"""The number of values after; and for each distinct value, ascending, how often it occurs."""


def _ties(before: Numbers, after: Numbers) -> _Ties:
    counts = np.unique(np.concatenate([before, after]), return_counts=True)[1]
    return len(after), tuple(counts.tolist())


@lru_cache(maxsize=1024)
def _null_distribution(strata: tuple[_Ties, ...]) -> Numbers:
    """Return the probability of each sum of the strata's U statistics; the index is twice the sum."""
    return reduce(np.convolve, (_stratum_distribution(*stratum) for stratum in strata))


@lru_cache(maxsize=1024)
def _stratum_distribution(after: int, tied: tuple[int, ...]) -> Numbers:
    """Return the probability of each U statistic; the index is twice the statistic.

    Dynamic programming over the values counts the subsets of each size and rank sum.
    """
    ends = [0, *np.cumsum(tied).tolist()]
    # Twice the mean rank of tied values, which is a whole number.
    ranks = [low + high + 1 for low, high in pairwise(ends) for _ in range(high - low)]
    max_sum = sum(ranks[len(ranks) - after :])
    subsets = np.zeros((after + 1, max_sum + 1))  # by size and rank sum
    subsets[0, 0] = 1
    for rank in ranks:
        subsets[1:, rank:] += subsets[:-1, : max_sum + 1 - rank]
    min_sum = after * (after + 1)
    by_u = np.zeros(2 * after * (len(ranks) - after) + 1)
    counts = subsets[after, min_sum : min_sum + len(by_u)]
    by_u[: len(counts)] = counts
    return by_u / math.comb(len(ranks), after)


@lru_cache(maxsize=1024)
def largest_rejected_u(sizes: tuple[tuple[int, int], ...], alpha: float) -> int | None:
    """Return the largest U, of the side with the smaller one, that is rejected at `alpha`.

    `sizes` are the numbers of values before and after in each stratum, which has no ties. Return
    None if no U is rejected.
    """
    if any(before + after > MAX_EXACT_VALUES for before, after in sizes):
        mean = sum(before * after for before, after in sizes) / 2
        variance = sum(before * after * (before + after + 1) for before, after in sizes) / 12
        # With the continuity correction of `p_value`.
        max_u = math.floor(mean - 0.5 + NormalDist().inv_cdf(alpha / 2) * math.sqrt(variance))
    else:
        strata = tuple((after, (1,) * (before + after)) for before, after in sizes)
        cumulative = np.cumsum(_null_distribution(strata)[::2])
        max_u = int(np.searchsorted(cumulative, alpha / 2, "right")) - 1
    return max_u if max_u >= 0 else None


def _nth_ratio(arrays: Sequence[tuple[Numbers, Numbers]], index: int) -> float:
    """Return the ratio that has `index` smaller ones, by bisection to the last digits."""
    low = min(float(after[0] / before[-1]) for before, after in arrays)
    high = max(float(after[-1] / before[0]) for before, after in arrays)
    for _ in range(60):
        middle = math.sqrt(low * high)
        if sum(_pairs_up_to(before, after, middle) for before, after in arrays) > index:
            high = middle
        else:
            low = middle
    return high


def _pairs_up_to(before: Numbers, after: Numbers, ratio: float) -> int:
    """Return the number of pairs whose ratio is at most `ratio`."""
    return int(np.searchsorted(after, before * ratio, "right").sum())
