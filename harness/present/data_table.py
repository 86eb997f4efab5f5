"""A table of numbers, as text and in full precision, in whatever form it is shown."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Quantity:
    """A number as text and in full precision; None if it is missing, which sorts last."""

    text: str
    value: float | None


@dataclass(frozen=True)
class DataTable:
    """Headings, and rows with as many cells."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str | Quantity, ...], ...]
