"""A before/after table as it is written, before anybody knows whether for a terminal or for Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from harness.analysis.statistics.change import Change, Verdict
from harness.present import quantities

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
        change=quantities.NOISE if is_noise else quantities.change(change.share),
        change_interval=quantities.uncertainty(change.uncertainty),
        p=quantities.p(change.adjusted_p),
    )


def common(numbers: Iterable[int]) -> int | None:
    """The number that all are, if they are one."""
    different = set(numbers)
    return different.pop() if len(different) == 1 else None
