"""Two samples held against each other by their ranks (Mann and Whitney 1947): how sure, how much.

The null distribution is exact, with ties too: it is that of the sum of so many of the ranks at hand,
drawn at random. Several pairs of samples count as strata (van Elteren 1960, unweighted): each is
ranked by itself and what is summed is tested. The interval of the ratio is what the same test would
not reject (Hodges and Lehmann 1963): it lies between two of the ratios of all pairs of values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Numbers = NDArray[np.float64]
Stratum = tuple[Sequence[float], Sequence[float]]
"""Before and after, both not empty, all greater than 0 where a ratio is asked for."""

LARGEST_EXACT = 100
"""Values in a stratum; beyond it the sum's distribution is normal for every purpose here."""
MOST_PAIRS = 250_000
"""Ratios that are laid out one by one; of more, the interval is found by bisection."""


@dataclass(frozen=True)
class Interval:
    """Where a number lies, `low` to `high`, both included."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """Midway between the ends."""
        return self.low + (self.high - self.low) / 2

    def farthest(self, value: float) -> float:
        """The greater of the distances of the two ends from `value`."""
        return max(self.high - value, value - self.low)


def p_value(strata: Sequence[Stratum]) -> float:
    """Two-sided: how often chance alone would part before and after as far as this, or farther."""
    arrays = [(np.asarray(before, float), np.asarray(after, float)) for before, after in strata]
    wins = sum(_wins(before, after) for before, after in arrays)
    if any(len(before) + len(after) > LARGEST_EXACT for before, after in arrays):
        moments = [_moments(before, after) for before, after in arrays]
        mean, variance = (sum(each) for each in zip(*moments, strict=True))
        # Half a step towards the middle, because wins come in steps.
        distance = max(0.0, abs(wins - mean) - 0.5)
        return min(1.0, 2 * float(ndtr(-distance / math.sqrt(variance)))) if variance else 1.0
    chances = _null(tuple(_ties(before, after) for before, after in arrays))
    doubled = round(2 * wins)
    tail = min(float(chances[: doubled + 1].sum()), float(chances[doubled:].sum()))
    return min(1.0, 2 * tail)


def ratio_interval(strata: Sequence[Stratum], level: float = 0.95) -> Interval | None:
    """Of after / before, common to all strata.

    None of too few values, and where one before is next to 0.
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
    if pairs > MOST_PAIRS:
        return Interval(_nth_ratio(arrays, outside), _nth_ratio(arrays, pairs - 1 - outside))
    with np.errstate(over="ignore"):
        ratios = np.concatenate(
            [np.divide.outer(after, before).ravel() for before, after in arrays]
        )
    ratios.partition((outside, pairs - 1 - outside))
    if math.isinf(ratios[pairs - 1 - outside]):
        return None
    return Interval(float(ratios[outside]), float(ratios[pairs - 1 - outside]))


def least_p(before: int, after: int) -> float:
    """The least p that so many trials on either side can come to, be they as far apart as they may."""
    return min(1.0, 2 / math.comb(before + after, before))


def _wins(before: Numbers, after: Numbers) -> float:
    """Mann and Whitney's U: pairs in which after is greater, those with a tie counted half."""
    ordered = np.sort(before)
    below = np.searchsorted(ordered, after, "left") + np.searchsorted(ordered, after, "right")
    return float(below.sum()) / 2


def _moments(before: Numbers, after: Numbers) -> tuple[float, float]:
    """Mean and variance of the wins by chance, given the ties."""
    n_before, n_after = len(before), len(after)
    n = n_before + n_after
    tied = np.unique(np.concatenate([before, after]), return_counts=True)[1].astype(float)
    ties = float((tied**3 - tied).sum()) / (n * (n - 1))
    return n_before * n_after / 2, n_before * n_after / 12 * (n + 1 - ties)


_Ties = tuple[int, tuple[int, ...]]
"""How many values come after, and how many are equal at each place in the common order."""


def _ties(before: Numbers, after: Numbers) -> _Ties:
    counts = np.unique(np.concatenate([before, after]), return_counts=True)[1]
    return len(after), tuple(counts.tolist())


@lru_cache(maxsize=1024)
def _null(strata: tuple[_Ties, ...]) -> Numbers:
    """The chance of each number of wins, summed over the strata; the index is twice the wins."""
    return reduce(np.convolve, (_null_of_one(*stratum) for stratum in strata))


@lru_cache(maxsize=1024)
def _null_of_one(after: int, tied: tuple[int, ...]) -> Numbers:
    """By counting, value by value, in how many ways so many of them have a sum of ranks."""
    ends = [0, *np.cumsum(tied).tolist()]
    # Twice the mean rank of those that are equal: a whole number.
    ranks = [low + high + 1 for low, high in pairwise(ends) for _ in range(high - low)]
    most = sum(ranks[len(ranks) - after :])
    ways = np.zeros((after + 1, most + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : most + 1 - rank]
    least = after * (after + 1)
    wins = np.zeros(2 * after * (len(ranks) - after) + 1)
    counts = ways[after, least : least + len(wins)]
    wins[: len(counts)] = counts
    return wins / math.comb(len(ranks), after)


@lru_cache(maxsize=1024)
def largest_rejected_u(sizes: tuple[tuple[int, int], ...], alpha: float) -> int | None:
    """The most wins, of the side that has fewer, at which p is at most `alpha`; None if it never is.

    `sizes` are the numbers of values before and after, of each stratum, without ties.
    """
    if any(before + after > LARGEST_EXACT for before, after in sizes):
        mean = sum(before * after for before, after in sizes) / 2
        variance = sum(before * after * (before + after + 1) for before, after in sizes) / 12
        # The half step of p_value.
        most = math.floor(mean - 0.5 + float(ndtri(alpha / 2)) * math.sqrt(variance))
    else:
        strata = tuple((after, (1,) * (before + after)) for before, after in sizes)
        likely = np.cumsum(_null(strata)[::2])
        most = int(np.searchsorted(likely, alpha / 2, "right")) - 1
    return most if most >= 0 else None


def _nth_ratio(arrays: Sequence[tuple[Numbers, Numbers]], index: int) -> float:
    """The ratio with `index` smaller ones, to the last digits, without laying all of them out."""
    low = min(float(after[0] / before[-1]) for before, after in arrays)
    high = max(float(after[-1] / before[0]) for before, after in arrays)
    for _ in range(60):
        middle = math.sqrt(low * high)
        if sum(_up_to(before, after, middle) for before, after in arrays) > index:
            high = middle
        else:
            low = middle
    return high


def _up_to(before: Numbers, after: Numbers, ratio: float) -> int:
    """How many pairs have at most this ratio."""
    return int(np.searchsorted(after, before * ratio, "right").sum())
