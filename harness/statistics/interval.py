"""An interval, and how far its ends are from a value inside it."""

import math
from typing import NamedTuple

LEVEL = 0.95
"""The probability with which intervals contain the true value, unless another is asked for."""


class Interval(NamedTuple):
    """The numbers from `low` to `high`, both included."""

    low: float
    high: float

    def max_distance(self, value: float) -> float:
        """Return the distance of `value` from the end that is farther away."""
        return max(self.high - value, value - self.low)

    def relative_distance(self, value: float) -> float | None:
        """Return `max_distance` as a fraction of `value`: 0.01 is 1 %. None if it is no finite number."""
        if not value:
            return None
        quotient = self.max_distance(value) / value
        return quotient if math.isfinite(quotient) else None
