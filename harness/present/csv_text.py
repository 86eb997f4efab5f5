"""A comparison as CSV (RFC 4180): a line for each workload in each configuration.

It is meant for spreadsheets, so text that would be a formula is kept from being one; JSON has the
names as they are.
"""

from __future__ import annotations

import csv
import io

from harness.analysis.comparison import Cell, Comparison
from harness.analysis.configuration import ConfigurationRuns
from harness.statistics.change import Change
from harness.statistics.rank_test import Interval
from harness.terminal import visible

COLUMNS = (
    "workload",
    "configuration",
    "outcome",
    "median_s",
    "median_low_s",
    "median_high_s",
    "verdict",
    "change_ratio",
    "change_low_ratio",
    "change_high_ratio",
    "adjusted_p",
    "trials_needed",
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


def _line(workload: str, column: ConfigurationRuns, cell: Cell) -> tuple[object, ...]:
    summary = cell.summary
    return (
        spreadsheet(workload),
        spreadsheet(column.name),
        str(cell.sample.outcome),
        summary.median_s if summary else None,
        *_ends(summary.interval_s if summary else None),
        *_change(cell.change),
        len(cell.sample.times_s),
        len(cell.sample.errors),
        spreadsheet("; ".join((*cell.notes, *column.notes))),
    )


def _change(change: Change | None) -> tuple[object, ...]:
    if change is None:
        return (None,) * 6
    ends = _ends(change.interval)
    return (
        str(change.verdict),
        change.relative_change,
        *ends,
        change.adjusted_p,
        change.trials_needed,
    )


def _ends(interval: Interval | None) -> tuple[float | None, float | None]:
    return (interval.low, interval.high) if interval else (None, None)


_FORMULA_STARTS = ("=", "+", "-", "@")


def spreadsheet(text: str) -> str:
    """Text that a spreadsheet does not take for a formula: an apostrophe goes before a `=`."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA_STARTS) else shown
