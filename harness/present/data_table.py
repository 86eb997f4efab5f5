"""A table of numbers, as text and in full precision, in whatever form it is shown."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from harness.present import quantities


@dataclass(frozen=True)
class Quantity:
    """A number as text and in full precision; None if it is missing, which sorts last."""

    text: str
    value: float | None

    @classmethod
    def of(cls, value: float | None, text_of: Callable[[float], str]) -> Self:
        """Return a number in words; an empty text if it is missing."""
        return cls("" if value is None else text_of(value), value)


@dataclass(frozen=True)
class DataTable:
    """Headings, and rows with as many cells."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str | Quantity, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, str | Quantity]]) -> Self:
        """Return the table of rows, one or more, that have the same headings."""
        rows = list(rows)
        return cls(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))


def relative_change(before: float | None, after: float | None) -> Quantity:
    """Return the change relative to `before`; a missing quantity if there is none."""
    if before is None or after is None or before == 0:
        return Quantity("", None)
    return Quantity.of(after / before - 1, quantities.change)
