"""A comparison as one JSON object: full precision, units in the names, null for the unknown."""

from __future__ import annotations

import json
from typing import Any

from harness.analysis.comparison import Cell, Comparison
from harness.analysis.configuration import ConfigurationRuns
from harness.present.comparison_table import warnings
from harness.present.table import Footnotes
from harness.statistics.change import Change, ControlShift
from harness.statistics.rank_test import Interval


def render(comparison: Comparison) -> str:
    """The object, indented, in ASCII, ending with a newline.

    The first configuration is the baseline. `footnotes` lists every note once.
    """
    notes = Footnotes()
    for column in comparison.columns:
        notes.mark(column.notes)
    for row in comparison.rows:
        for cell in row.cells:
            notes.mark(cell.notes)
    whole = {
        "warnings": warnings(comparison),
        "relative_to_controls": comparison.relative_to_controls,
        "configurations": [
            {**_column(column), "controls": _controls(shift)}
            for column, shift in zip(comparison.columns, comparison.control_shifts, strict=True)
        ],
        "workloads": [
            {
                "workload": row.workload,
                "cells": [
                    {"configuration": column.name, **_cell(cell)}
                    for column, cell in zip(comparison.columns, row.cells, strict=True)
                ],
            }
            for row in comparison.rows
        ],
        "footnotes": notes.texts,
    }
    return json.dumps(whole, indent=2, allow_nan=False) + "\n"


def _column(column: ConfigurationRuns) -> dict[str, Any]:
    return {
        "name": column.name,
        "runs": [
            {
                "id": recorded.run.id,
                "started_at": recorded.run.started_at,
                "ending": recorded.ending,
                "source": recorded.source,
            }
            for recorded in column.runs
        ],
        "notes": column.notes,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    summary = cell.summary
    return {
        "outcome": cell.sample.outcome,
        "median_s": summary.median_s if summary else None,
        "median_interval_s": _interval(summary.interval_s if summary else None),
        "change": _change(cell.change) if cell.change else None,
        "times_s": cell.sample.times_s,
        "trials_ok": len(cell.sample.times_s),
        "trials_failed": len(cell.sample.errors),
        "notes": cell.notes,
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "verdict": change.verdict,
        "ratio": change.relative_change,
        "interval_ratio": _interval(change.interval),
        "p": change.p,
        "adjusted_p": change.adjusted_p,
        "trials_needed": change.trials_needed,
    }


def _controls(shift: ControlShift | None) -> dict[str, Any] | None:
    if shift is None:
        return None
    return {
        "workloads": shift.workloads,
        "ratio": shift.ratio - 1,
        "interval_ratio": _interval(shift.interval, less=1),
        "p": shift.p,
        "moved": shift.moved,
    }


def _interval(interval: Interval | None, less: float = 0) -> list[float] | None:
    return [interval.low - less, interval.high - less] if interval else None
