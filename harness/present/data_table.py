"""A table of texts, in whatever form it is shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class DataTable:
    """Headings, and rows with as many cells."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, str]]) -> Self:
        """Return the table of rows, one or more, that have the same headings."""
        rows = list(rows)
        return cls(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))
