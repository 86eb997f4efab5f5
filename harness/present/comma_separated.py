"""A comparison as CSV (RFC 4180): a line for each workload in each configuration.

It is meant for spreadsheets, so text that would be a formula is kept from being one; JSON has the
names as they are.
"""

from __future__ import annotations

import csv
import io

from harness.analysis.comparison import Cell, Column, Comparison
from harness.present.escape import spreadsheet

COLUMNS = (
    "workload",
    "configuration",
    "outcome",
    "median_s",
    "spread_ratio",
    "change_ratio",
    "trials_ok",
    "trials_failed",
    "notes",
)


def render(comparison: Comparison) -> str:
    """Lines that end with CR LF, the header first; what is not known is empty, never 0."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for row in comparison.rows:
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            writer.writerow(_line(row.workload, column, cell))
    return text.getvalue()


def _line(workload: str, column: Column, cell: Cell) -> tuple[object, ...]:
    summary = cell.summary
    return (
        spreadsheet(workload),
        spreadsheet(column.name),
        str(cell.sample.outcome),
        summary.median_s if summary else None,
        summary.spread if summary else None,
        cell.change,
        len(cell.sample.times_s),
        len(cell.sample.errors),
        spreadsheet("; ".join((*cell.notes, *column.notes))),
    )
