"""The answer of a user's query: what shows that it is the same in every trial, and on either side."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import product, starmap

from harness.base.words import count_of, join_names, significant
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
class ColumnDigest:
    """The values of one column, whichever rows they are in.

    `digest` is of all but the finite numbers of floating point, which `sum` adds without weights; None if the
    column has none. `is_sorted` says that the ORDER BY before the answer's LIMIT sorts by the column.
    """

    column: str
    digest: str
    sum: FloatSum | None = None
    is_sorted: bool = False

    def is_same(self, other: ColumnDigest) -> bool:
        """Whether nothing but rounding is different."""
        if self.digest != other.digest or bool(self.sum) != bool(other.sum):
            return False
        return self.sum is None or other.sum is None or self.sum.is_same(other.sum)

    def __str__(self) -> str:
        return self.column


@dataclass(frozen=True)
class RowsDigest:
    """The number of rows in any order, and a digest of all but what is in `sums`.

    The digest is empty if the rows were only counted.

    - `columns`: the values of each column by itself; empty in older results.
    - `limit`: the number of rows that the query keeps of sorted rows; None if it keeps all, or if it sorts by
      what is no column of the answer.
    - `chance`: what in the text of the query may give another answer on the same data. None: unknown.
    """

    rows: Count
    digest: str
    sums: tuple[FloatSum, ...] = ()
    columns: tuple[ColumnDigest, ...] = ()
    limit: Count | None = None
    chance: tuple[str, ...] | None = None

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, in their order."""
        return [each.column for each in self.columns]

    def difference(self, other: RowsDigest) -> str:
        """Return what is different here, in words; empty if the rows are the same but for rounding."""
        if self.rows == other.rows and not (self.digest and other.digest):
            return ""
        if not self.digest:
            return count_of(self.rows, "row")
        if (self.rows, self.digest, len(self.sums)) != (other.rows, other.digest, len(other.sums)):
            return f"{count_of(self.rows, 'row')} of digest {self.digest}"
        pairs = zip(self.sums, other.sums)
        return ", ".join(str(own) for own, others in pairs if not own.is_same(others))

    def differing_columns(self, other: RowsDigest) -> Sequence[ColumnDigest]:
        """Return the columns with other values there; none if that is unknown, as in older results."""
        if self.column_names != other.column_names:
            return ()
        pairs = zip(self.columns, other.columns)
        return [own for own, others in pairs if not own.is_same(others)]


class Likeness(Enum):
    """How the answers of a query on two sides are alike."""

    SAME = "the same"
    TIES = "the same but for rows that tie at a limit"
    VARYING = "not the same each time"
    DIFFERENT = "different"


def likeness(before: Sequence[RowsDigest], after: Sequence[RowsDigest]) -> Likeness:
    """Return how the answers of two sides are alike. A side has several answers if its answer varies."""
    found = set(starmap(_of_pair, product(before, after)))
    if found <= {Likeness.SAME}:
        return Likeness.SAME
    if found <= {Likeness.SAME, Likeness.TIES}:
        return Likeness.TIES
    if len(before) == len(after) == 1:
        return Likeness.DIFFERENT
    # What varies on one side for no reason in its text varies because the data do.
    is_explained = any(each.chance is None or each.chance for each in (*before, *after))
    if is_explained or Likeness.SAME in found:
        return Likeness.VARYING
    return Likeness.DIFFERENT


def _of_pair(one: RowsDigest, other: RowsDigest) -> Likeness:
    if not one.difference(other):
        return Likeness.SAME
    if one.limit is None or not one.rows == other.rows == one.limit == other.limit:
        return Likeness.DIFFERENT
    if not one.columns or one.column_names != other.column_names:
        return Likeness.DIFFERENT
    # The first rows of a sort have these values in the columns that it sorts by, whichever of the rows that
    # tie at the limit are among them.
    if any(each.is_sorted for each in one.differing_columns(other)):
        return Likeness.DIFFERENT
    return Likeness.TIES


def at_ties(one: RowsDigest, other: RowsDigest) -> str:
    """Return in words what differs between two answers that are alike but for ties."""
    differing = one.differing_columns(other)
    which = join_names(differing) if differing else "how their values belong together"
    return (
        f"other rows of those that tie at LIMIT {one.limit} (they differ in {which}; the number of rows and "
        "the columns of ORDER BY are the same)"
    )


def why_different(one: RowsDigest, other: RowsDigest) -> str:
    """Return what may have given two different answers, in words."""
    words: list[str] = []
    differing = one.differing_columns(other)
    if differing and one.rows == other.rows:
        words.append(f"they differ in {join_names(differing)}")
    if one.chance is None or other.chance is None:
        words.append("the tables or the text changed, or the answer varies")
    elif one.chance or other.chance:
        both = dict.fromkeys((*one.chance, *other.chance))
        words.append(
            f"the tables or the text changed, or the answer varies by {join_names(list(both))}"
        )
    else:
        words.append("nothing in the text leaves it to chance: the tables or the text changed")
    return "; ".join(words)


def distinct(answers: Iterable[RowsDigest]) -> tuple[RowsDigest, ...]:
    """Return the first answer, and each that differs from it. One that was only counted is no first one."""
    found: list[RowsDigest] = []
    for answer in sorted(answers, key=lambda answer: not answer.digest):
        if not found or answer.difference(found[0]):
            found.append(answer)
    return tuple(found)
