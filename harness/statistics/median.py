"""The confidence interval of a sample's median, without an assumption on its distribution.

Standard library only.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

LEVEL = 0.95


class Interval(NamedTuple):
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float

    def max_distance(self, value: float) -> float:
        """Return the distance of `value` from the end that is farther away."""
        return max(self.high - value, value - self.low)

    def relative_distance(self, value: float) -> float | None:
        """Return `max_distance` as a fraction of `value`: 0.01 is 1 %. None if it is no finite number."""
        quotient = self.max_distance(value) / value if value else math.inf
        return quotient if math.isfinite(quotient) else None


def median_interval(ordered: Sequence[float], level: float = LEVEL) -> Interval | None:
    """Return the order-statistic confidence interval of the median.

    `ordered` holds the values in ascending order. The ends are the k-th smallest and the k-th
    largest value. How many values fall below the true median follows a binomial distribution
    (Thompson 1936), so k is the largest number for which at least `level` of such intervals contain
    the true median. Return None if there are too few values for any k: at 95 % it takes six.
    """
    k = _rank(len(ordered), level)
    return Interval(ordered[k - 1], ordered[-k]) if k else None


@lru_cache(maxsize=1024)
def _rank(n: int, level: float) -> int:
    """Return the largest k with P(Binomial(n, 1/2) < k) <= (1 - level) / 2; 0 if there is none.

    Both sides are multiplied by 2**n, because 2**-n underflows for large n.
    """
    bound = Fraction(1 - level) / 2 * 2**n
    k, coefficient, tail = 0, 1, 1
    while tail <= bound:
        coefficient = coefficient * (n - k) // (k + 1)
        k += 1
        tail += coefficient
    return k
