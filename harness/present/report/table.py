"""The before/after table for HTML, in the words of every other table."""

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
    """A cell: its text, a small addition to it, and the numbers of its footnotes."""

    text: str
    addition: str = ""
    notes: tuple[int, ...] = ()
    tone: Tone | None = None


@dataclass(frozen=True)
class TableRow:
    """A workload: the baseline's time, then time and change of every other configuration."""

    workload: str
    is_control: bool
    cells: tuple[TableCell, ...]


@dataclass(frozen=True)
class HtmlTable:
    """The whole table. `heads` are the configurations; `notes` are the footnotes, the first is number 1.

    `value` is the heading of the values: `time`, `performance`, or both.
    """

    value: str
    heads: tuple[TableCell, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    caption: str


def html_table(comparison: Comparison) -> HtmlTable:
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
    return HtmlTable(table.headings.value, heads, rows, notes.texts, table.warnings, table.caption)


def _cells(
    cells: Sequence[Cell], entries: Sequence[Entry], notes: Footnotes
) -> Iterator[TableCell]:
    for index, (cell, entry) in enumerate(zip(cells, entries, strict=True)):
        fields = entry.fields
        n = f"n={fields.n}" if fields.n else ""
        yield TableCell(
            fields.value,
            addition=f"{fields.interval} {n}".strip(),
            notes=notes.numbers(entry.notes),
        )
        if index > 0:
            yield TableCell(
                fields.marked_change,
                addition=f"{fields.change_interval} {quantities.p_statement(fields.p)}".strip(),
                tone=_tone(cell.change),
            )


def _tone(change: Change | None) -> Tone | None:
    if change is None or change.verdict is not Verdict.CHANGED:
        return None
    return Tone.GAIN if change.relative_change < 0 else Tone.LOSS
