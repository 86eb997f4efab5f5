"""A comparison of workloads as a table."""

from __future__ import annotations

from harness.analysis.comparison import Cell, Comparison
from harness.present import quantities
from harness.present.caption import caption, warnings
from harness.present.table import Entry, Fields, Line, Noted, Table, common, fields


def comparison_table(comparison: Comparison) -> Table:
    """Workloads down, configurations across."""
    summaries = [cell.summary for row in comparison.rows for cell in row.cells if cell.summary]
    n = common(summary.n for summary in summaries)
    return Table(
        heading="workload",
        columns=tuple(Noted(column.name, column.notes) for column in comparison.columns),
        lines=tuple(Line(row.workload, tuple(map(_entry, row.cells))) for row in comparison.rows),
        with_n=n is None,
        warnings=warnings(comparison),
        caption=caption(
            n,
            "trial",
            comparison.changes,
            has_intervals=any(summary.interval_s for summary in summaries),
            relative_to_controls=comparison.relative_to_controls,
        ),
    )


def _entry(cell: Cell) -> Entry:
    summary = cell.summary
    if summary is None:
        return Entry(Fields(str(cell.sample.outcome)), cell.notes)
    median = quantities.time(summary.median_s)
    return Entry(fields(median, summary.uncertainty, cell.change, summary.n), cell.notes)
