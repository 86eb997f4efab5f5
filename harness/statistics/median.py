"""Where the true median lies, whatever the distribution. Standard library only."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

LEVEL = 0.95


def median_interval(ordered: Sequence[float], level: float = LEVEL) -> tuple[float, float] | None:
    """The k-th least and the k-th greatest of values in ascending order, k as great as may be.

    Each value falls below the true median as a coin falls heads, so how many do is binomial (Thompson
    1936); at least `level` of such intervals hold the true median. None of too few values: at 95 %
    it takes six.
    """
    rank = _rank(len(ordered), level)
    return (ordered[rank - 1], ordered[-rank]) if rank else None


@lru_cache(maxsize=1024)
def _rank(n: int, level: float) -> int:
    """The greatest k such that fewer than k of n heads are at most half of what `level` leaves; or 0.

    In whole numbers, because half to the power of n is soon no float.
    """
    bound = Fraction(1 - level) / 2 * 2**n
    heads, ways, tail = 0, 1, 1
    while tail <= bound:
        ways = ways * (n - heads) // (heads + 1)
        heads += 1
        tail += ways
    return heads
