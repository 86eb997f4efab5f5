"""The before/after table as HTML has it: the words of every other table, and what to sort them by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.analysis.comparison import Cell, Comparison
from harness.present.comparison_table import comparison_table
from harness.present.report.chart import Tone
from harness.present.table import Entry, Footnotes
from harness.statistics.change import Change, Verdict


@dataclass(frozen=True)
class Td:
    """A cell; `beside` stands small beside its text, `notes` are the numbers of its footnotes.

    `sort_by` is in full precision, None where there is no number: those are sorted last.
    """

    text: str
    beside: str = ""
    sort_by: float | None = None
    notes: tuple[int, ...] = ()
    tone: Tone | None = None


@dataclass(frozen=True)
class Tr:
    """A workload: of the baseline its median, of every other configuration median and change."""

    workload: str
    is_control: bool
    cells: tuple[Td, ...]


@dataclass(frozen=True)
class Th:
    """A configuration."""

    name: str
    notes: tuple[int, ...]


@dataclass(frozen=True)
class SortableTable:
    """`notes` are the footnotes, the first being number 1."""

    heads: tuple[Th, ...]
    rows: tuple[Tr, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    caption: str


def sortable_table(comparison: Comparison) -> SortableTable:
    """Every number of `clusterlift compare`, and no other."""
    table = comparison_table(comparison)
    notes = Footnotes()
    heads = tuple(Th(column.name, notes.numbers(column.notes)) for column in table.columns)
    rows = tuple(
        Tr(
            row.workload,
            row.workload in comparison.common_controls,
            tuple(_cells(row.cells, line.entries, notes, with_n=table.with_n)),
        )
        for row, line in zip(comparison.rows, table.lines, strict=True)
    )
    return SortableTable(heads, rows, notes.texts, table.warnings, table.caption)


def _cells(
    cells: Sequence[Cell], entries: Sequence[Entry], notes: Footnotes, *, with_n: bool
) -> Iterator[Td]:
    for index, (cell, entry) in enumerate(zip(cells, entries, strict=True)):
        fields = entry.fields
        n = f"n={fields.n}" if with_n and fields.n else ""
        yield Td(
            fields.median,
            beside=f"{fields.interval} {n}".strip(),
            sort_by=cell.summary.median_s if cell.summary else None,
            notes=notes.numbers(entry.notes),
        )
        if index > 0:
            p = f"p={fields.p}".replace("=<", "<") if fields.p else ""
            yield Td(
                fields.change,
                beside=f"{fields.change_interval} {p}".strip(),
                sort_by=_sort_by(cell.change),
                tone=_tone(cell.change),
            )


def _sort_by(change: Change | None) -> float | None:
    """Nothing is told of too few trials, in no order either."""
    return None if change is None or change.verdict is Verdict.TOO_FEW else change.relative_change


def _tone(change: Change | None) -> Tone | None:
    if change is None or change.verdict is not Verdict.CHANGED:
        return None
    return Tone.GAIN if change.relative_change < 0 else Tone.LOSS
