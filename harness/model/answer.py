"""The answer of a user's query: what shows that it is the same in every trial, and on either side."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable
from dataclasses import dataclass

from harness.base.words import count_of, significant
from harness.model.bounds import Count

TOLERANCES = {64: 1e-9, 32: 1e-6}
"""How far two sums may differ, as a part of the sum of absolute values, by the bits of the numbers.

The sum of n doubles depends on their order, and differs by about the root of n times 1e-16: by 1e-11 for
10^10 rows. A number of 32 bits may be rounded to its neighbour, 6e-8 away.
"""
MAX_WEIGHT = 2.0

VARIES = (
    "its answer is not the same each time: rand(), LIMIT without ORDER BY, or data that changed"
)


@dataclass(frozen=True)
class FloatSum:
    """The finite numbers of a column of floating point, of 32 or 64 `bits`.

    `total` adds each of them times a weight from 1 to MAX_WEIGHT that the rest of its row decides: so numbers
    that change places change it. `magnitude` adds their absolute values. None if a sum is not finite.
    """

    column: str
    bits: int
    total: float | None
    magnitude: float | None

    def is_same(self, other: FloatSum) -> bool:
        """Whether nothing but rounding is different."""
        if self.total is None or other.total is None:
            return self.total == other.total
        magnitude = MAX_WEIGHT * max(self.magnitude or 0.0, other.magnitude or 0.0)
        return abs(self.total - other.total) <= TOLERANCES.get(self.bits, 0.0) * magnitude

    def __str__(self) -> str:
        total = "none" if self.total is None else significant(self.total, 12)
        return f"the weighted sum {total} of {self.column}"


@dataclass(frozen=True)
class RowsDigest:
    """The number of rows in any order, and a digest of all but what is in `sums`."""

    rows: Count
    digest: str
    sums: tuple[FloatSum, ...] = ()

    def difference(self, other: RowsDigest) -> str:
        """Return what is different here, in words; empty if the rows are the same but for rounding."""
        if (self.rows, self.digest, len(self.sums)) != (other.rows, other.digest, len(other.sums)):
            return f"{count_of(self.rows, 'row')} of digest {self.digest}"
        pairs = zip(self.sums, other.sums)
        return ", ".join(str(own) for own, others in pairs if not own.is_same(others))


def distinct(answers: Iterable[RowsDigest]) -> tuple[RowsDigest, ...]:
    """Return the first answer, and each that differs from it."""
    found: list[RowsDigest] = []
    for answer in answers:
        if not found or answer.difference(found[0]):
            found.append(answer)
    return tuple(found)
