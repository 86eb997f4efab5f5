"""A before/after table and its footnotes, in words but in no output format yet."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.present import quantities
from harness.statistics.change import Change, Verdict


class Fields(NamedTuple):
    """The words of a cell; an empty field is not shown. `mark` says that the change proves nothing."""

    value: str
    interval: str = ""
    change: str = ""
    mark: str = ""
    change_interval: str = ""
    p: str = ""
    n: str = ""

    @property
    def marked_change(self) -> str:
        """The change with its mark: `-9.5%`, `-9.5% ~`."""
        return f"{self.change} {self.mark}".strip()


HEADINGS = Fields("value", "±", "change", "", "±", "p", "n")


class Heading(NamedTuple):
    """A column's name with its notes."""

    name: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A cell with its notes."""

    fields: Fields
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A name with its notes, and an entry for each column."""

    name: str
    entries: tuple[Entry, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table with a line for each workload or host and a column for each configuration.

    The first column is the baseline. `heading` stands above the names, and `headings` stand above the
    fields; `warnings` precede the table, and `caption` follows it. If every cell has the same number of
    runs and measurements, the caption states it, and no entry does.
    """

    heading: str
    headings: Fields
    columns: tuple[Heading, ...]
    lines: tuple[Line, ...]
    warnings: tuple[str, ...]
    caption: str


_MARKS = {Verdict.NOISE: quantities.NOISE, Verdict.TOO_FEW: quantities.UNTESTED}


class Counts(NamedTuple):
    """How many runs a cell has, and how many measurements in all of them."""

    runs: int
    measurements: int

    def __str__(self) -> str:
        return f"{self.measurements} in {self.runs}"


def fields(
    value: str,
    uncertainty: float | None,
    change: Change | None,
    n: object = "",
    *,
    needs_interval: bool = False,
) -> Fields:
    """Return the words of a measured cell.

    `needs_interval` says that other cells of the table have an interval, so that one without says why.
    """
    interval = quantities.uncertainty(uncertainty)
    if needs_interval and not interval:
        interval = quantities.TOO_FEW_RUNS
    measured = Fields(value, interval, n=str(n))
    if change is None:
        return measured
    return measured._replace(
        change=quantities.change(change.relative_change),
        mark=_MARKS.get(change.verdict, ""),
        change_interval=quantities.uncertainty_of_change(
            change.uncertainty, change.relative_change
        ),
        p="" if change.adjusted_p is None else quantities.p_text(change.adjusted_p),
    )


def too_few_sentence(lines: Iterable[Line]) -> Iterator[str]:
    """Yield what `too few runs` means in a cell of these lines, and what to do, if any cell says so."""
    entries = [entry.fields for line in lines for entry in line.entries]
    shown = {text for entry in entries for text in (entry.interval, entry.change_interval)}
    if quantities.TOO_FEW_RUNS in shown:
        yield (
            f"{quantities.TOO_FEW_RUNS}: a single run, or an interval of ±100 % or more; measure more runs."
        )


FEW = "few"
"""What a table for which `too few runs` is too wide says instead."""


def abbreviated(table: Table) -> Table:
    """Return the table with FEW in the place of `too few runs`, and a caption that says so."""

    def entry(given: Entry) -> Entry:
        words = [FEW if text == quantities.TOO_FEW_RUNS else text for text in given.fields]
        return replace(given, fields=Fields(*words))

    lines = tuple(replace(line, entries=tuple(map(entry, line.entries))) for line in table.lines)
    caption = table.caption.replace(
        f"{quantities.TOO_FEW_RUNS}:", f"{FEW}: {quantities.TOO_FEW_RUNS},"
    )
    return replace(table, lines=lines, caption=caption)


def change_text(words: Fields, unit: str | None) -> str:
    """Return `-9.5% ±1%`, `+0.5% ~ ±3%`, `-9.5% ?`; of a performance, `+13.4% flop/s ±3%`."""
    of_performance = f" {unit}/s" if unit else ""
    return f"{words.marked_change}{of_performance} {words.change_interval}".strip()


def common(counts: Iterable[Counts]) -> Counts | None:
    """Return the common numbers, or None if they differ, cannot be equal in all runs, or are missing."""
    different = set(counts)
    if len(different) != 1:
        return None
    [same] = different
    return None if same.measurements % same.runs else same


_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Numbers notes in the order of their first use; equal notes share a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, notes: Iterable[str]) -> str:
        """Return the marks that refer to these notes: `¹`, `²,³`, or an empty text."""
        return ",".join(superscript(number) for number in self.numbers(notes))

    def numbers(self, notes: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of these notes, rising, for formats that write marks in their own way."""
        return tuple(sorted(self._numbers.setdefault(n, len(self._numbers) + 1) for n in notes))

    @property
    def texts(self) -> tuple[str, ...]:
        """All notes; the first has number 1."""
        return tuple(self._numbers)


def superscript(number: int) -> str:
    """Return 12 as `¹²`."""
    return str(number).translate(_SUPERSCRIPTS)
