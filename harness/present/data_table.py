"""A table of numbers, as text and in full precision, in whatever form it is shown."""

from dataclasses import dataclass

from harness.present import quantities


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


def relative_change(before: float | None, after: float | None) -> Quantity:
    """Return the change relative to `before`; a missing quantity if there is none."""
    if before is None or after is None or before == 0:
        return Quantity("", None)
    change = after / before - 1
    return Quantity(quantities.change(change), change)
