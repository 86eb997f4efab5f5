"""A before/after table as it is written, before anybody knows whether for a terminal or for Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from harness.present import quantities
from harness.statistics.change import Change, Verdict

NEEDS = "need >= "
"""How the sentence begins that stands for a change."""


class Fields(NamedTuple):
    """A cell in words; what is empty is not said."""

    median: str
    interval: str = ""
    change: str = ""
    change_interval: str = ""
    p: str = ""
    n: str = ""


HEADINGS = Fields("median", "±", "change", "±", "p", "n")


class Noted(NamedTuple):
    """A name with what its reader must know."""

    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A cell with what its reader must know."""

    fields: Fields
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A name, and an entry for each column."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """Names down, configurations across; the first column is the baseline.

    `heading` stands above the names, `warnings` above all, `caption` below. Where every cell has the
    same number of measurements, `with_n` is false and the caption tells it.
    """

    heading: str
    columns: tuple[Noted, ...]
    lines: tuple[Line, ...]
    with_n: bool
    warnings: tuple[str, ...]
    caption: str


def fields(value: str, uncertainty: float | None, change: Change | None, n: int) -> Fields:
    """Of a measured cell."""
    written = Fields(value, quantities.uncertainty(uncertainty), n=str(n))
    if change is None:
        return written
    if change.verdict is Verdict.TOO_FEW:
        return written._replace(change=f"{NEEDS}{change.trials_needed} trials")
    is_noise = change.verdict is Verdict.NOISE
    return written._replace(
        change=quantities.NOISE if is_noise else quantities.change(change.relative_change),
        change_interval=quantities.uncertainty(change.uncertainty),
        p=quantities.p(change.adjusted_p),
    )


def common(numbers: Iterable[int]) -> int | None:
    """The number that all are, if they are one."""
    different = set(numbers)
    return different.pop() if len(different) == 1 else None


# MERGED from harness.present.footnotes: "Notes numbered in the order in which a table's reader meets them."
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Gives each note a number; the same note keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, notes: Iterable[str]) -> str:
        """The mark that stands where the notes belong: `¹`, `²,³`, or nothing."""
        return ",".join(superscript(number) for number in self.numbers(notes))

    def numbers(self, notes: Iterable[str]) -> tuple[int, ...]:
        """The same where the mark is more than text."""
        return tuple(self._numbers.setdefault(note, len(self._numbers) + 1) for note in notes)

    @property
    def texts(self) -> tuple[str, ...]:
        """The notes, the first being number 1."""
        return tuple(self._numbers)


def superscript(number: int) -> str:
    """`12` as `¹²`."""
    return str(number).translate(_SUPERSCRIPT)
