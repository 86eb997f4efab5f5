"""Which workloads of thousands matter first: what fails now, and what changed by most time in all."""

from collections.abc import Sequence

from harness.analysis.compare.comparison import Cell, Comparison, Row
from harness.analysis.compare.failures import fails_after
from harness.eventlog.application import is_from_event_log

MAX_ROWS = 50
"""A table has at most this number of workloads unless all are asked for."""


def important_rows(comparison: Comparison, most: int | None = None) -> Sequence[Row]:
    """Return the rows of a table in their order, or if they are more than `most`, the first by importance."""
    rows = comparison.rows
    if most is None or len(rows) <= most:
        return rows
    logged = all(map(is_from_event_log, comparison.descriptions))
    return sorted(rows, key=lambda row: _importance(row, logged=logged), reverse=True)[:most]


def _importance(row: Row, *, logged: bool) -> tuple[bool, float]:
    """Return whether a workload fails now, and by how many seconds of a run it changed at most."""
    before, *others = row.cells
    fails = any(fails_after(before.sample, cell.sample) for cell in others)
    changes_s = [0.0]
    for cell in others:
        if cell.change:
            then_s = _seconds_of_run(before, logged=logged)
            now_s = _seconds_of_run(cell, logged=logged)
            changes_s.append(abs(now_s - then_s))
    return fails, max(changes_s)


def _seconds_of_run(cell: Cell, *, logged: bool) -> float:
    """Return what a workload takes in a run: an application may execute it many times."""
    summary = cell.summary
    if summary is None:
        return 0.0
    if logged:
        return summary.time_s * summary.trials / summary.runs
    return summary.time_s
