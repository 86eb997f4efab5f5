"""The before/after table for HTML: the words of every other table, plus the values to sort it by."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis.compare.comparison import Cell, Comparison
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.table import Entry, Footnotes
from harness.statistics.change import Change, Verdict


class Tone(StrEnum):
    """The colour class of a text: less time, more time, neither, or something that casts doubt."""

    GAIN = "gain"
    LOSS = "loss"
    LEVEL = "level"
    ALARM = "alarm"


@dataclass(frozen=True)
class TableCell:
    """A cell: its text, a small addition to it, and the numbers of its footnotes.

    `sort_by` is in full precision; None if there is no number, which sorts last.
    """

    text: str
    addition: str = ""
    sort_by: float | None = None
    notes: tuple[int, ...] = ()
    tone: Tone | None = None


@dataclass(frozen=True)
class TableRow:
    """A workload: the baseline's time, then time and change of every other configuration."""

    workload: str
    is_control: bool
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class SortableTable:
    """The whole table. `heads` are the configurations; `notes` are the footnotes, the first is number 1.

    `value` is the heading of the values: `time`, `performance`, or both.
    """

    value: str
    heads: tuple[TableCell, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    caption: str


def sortable_table(comparison: Comparison) -> SortableTable:
    """Return the table with exactly the numbers that `clusterlift compare` prints."""
    table = comparison_table(comparison)
    notes = Footnotes()
    heads = tuple(TableCell(name, notes=notes.numbers(about)) for name, about in table.columns)
    rows = tuple(
        TableRow(
            row.workload,
            row.workload in comparison.common_controls,
            tuple(_cells(row.cells, line.entries, notes)),
        )
        for row, line in zip(comparison.rows, table.lines, strict=True)
    )
    return SortableTable(
        table.headings.value, heads, rows, notes.texts, table.warnings, table.caption
    )


def _cells(
    cells: Sequence[Cell], entries: Sequence[Entry], notes: Footnotes
) -> Iterator[TableCell]:
    for index, (cell, entry) in enumerate(zip(cells, entries, strict=True)):
        fields = entry.fields
        n = f"n={fields.n}" if fields.n else ""
        yield TableCell(
            fields.value,
            addition=f"{fields.interval} {n}".strip(),
            sort_by=cell.summary.time_s if cell.summary else None,
            notes=notes.numbers(entry.notes),
        )
        if index > 0:
            yield TableCell(
                fields.marked_change,
                addition=f"{fields.change_interval} {quantities.p_statement(fields.p)}".strip(),
                sort_by=_sort_by(cell.change),
                tone=_tone(cell.change),
            )


def _sort_by(change: Change | None) -> float | None:
    """A single run supports no statement about the change, and so no order either."""
    return None if change is None or change.verdict is Verdict.TOO_FEW else change.relative_change


def _tone(change: Change | None) -> Tone | None:
    if change is None or change.verdict is not Verdict.CHANGED:
        return None
    return Tone.GAIN if change.relative_change < 0 else Tone.LOSS
