"""A comparison as one JSON object: full precision, units in the names, null for the unknown."""

from __future__ import annotations

import json
from typing import Any

from harness.analysis.comparison import Cell, Column, Comparison
from harness.present.footnotes import Footnotes


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
        "configurations": [_column(column) for column in comparison.columns],
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


def _column(column: Column) -> dict[str, Any]:
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
        "spread_ratio": summary.spread if summary else None,
        "change_ratio": cell.change,
        "times_s": cell.sample.times_s,
        "trials_ok": len(cell.sample.times_s),
        "trials_failed": len(cell.sample.errors),
        "notes": cell.notes,
    }
