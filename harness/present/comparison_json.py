"""Comparisons as JSON, for other programs: full precision, units in the names."""

import json
from collections.abc import Sequence
from typing import Any

from harness.analysis.compare.all_workloads import all_workloads
from harness.analysis.compare.comparison import Cell, Comparison
from harness.analysis.ready.limits import LimitFinding
from harness.model.run import RecordedRun
from harness.present.all_workloads import json_change, together_json
from harness.present.comparison_table import warnings
from harness.present.footnotes import Footnotes
from harness.statistics.change import ControlShift

JSON_SCHEMA_VERSION = 3


def render(comparison: Comparison, limits: Sequence[LimitFinding] = ()) -> str:
    """Return one JSON object, indented, in ASCII; ends with a newline.

    `schema_version` is 3; it increases when a key changes its name or meaning. The first configuration is the
    baseline. `relative_change` is after / before - 1: -0.095 is 9.5 % less time. Where a workload counts its
    work, `time_s` is the time of one unit, and `performance` has the units per second. An unknown value is
    null. `together` is what all workloads gained. `limits` has what is said of the limits that were given.
    `footnotes` lists each note once.
    """
    notes = Footnotes()
    configurations = []
    for column, own, shift in zip(
        comparison.columns, comparison.notes, comparison.control_shifts, strict=True
    ):
        notes.mark(own)
        configurations.append(
            {
                "name": column.name,
                "runs": list(map(_json_run, column.runs)),
                "notes": own,
                "controls": _json_controls(shift),
            }
        )
    workloads = []
    for row in comparison.rows:
        cells = []
        for column, cell in zip(comparison.columns, row.cells, strict=True):
            notes.mark(cell.notes)
            cells.append({"configuration": column.name, **_json_cell(cell)})
        workloads.append({"workload": row.workload, "cells": cells})
    content = {
        "schema_version": JSON_SCHEMA_VERSION,
        "warnings": warnings(comparison),
        "relative_to_controls": comparison.relative_to_controls,
        "configurations": configurations,
        "workloads": workloads,
        "together": list(map(together_json, all_workloads(comparison))),
        "limits": list(map(_json_limit, limits)),
        "footnotes": notes.texts,
    }
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _json_limit(found: LimitFinding) -> dict[str, Any]:
    return {
        "configuration": str(found.subject),
        "limit": found.limit,
        "outcome": found.outcome,
        "workloads": found.workloads,
        "text": str(found),
    }


def _json_run(recorded: RecordedRun) -> dict[str, Any]:
    return {
        "id": recorded.run.id,
        "started_at": recorded.run.started_at,
        "ending": recorded.ending,
        "source": recorded.source,
    }


def _json_cell(cell: Cell) -> dict[str, Any]:
    summary = cell.summary
    return {
        "outcome": cell.sample.outcome,
        "time_s": summary and summary.time_s,
        "time_interval_s": summary and summary.interval_s,
        "performance": _json_performance(cell),
        "change": cell.change and json_change(cell.change),
        "not_compared": cell.left_out,
        "parsing_s": cell.sample.planning.parsing_s,
        "analysis_s": cell.sample.planning.analysis_s,
        "planning_s": cell.sample.planning.planning_s,
        "times_s_by_run": cell.sample.runs_s,
        "runs": len(cell.sample.runs_s),
        "trials_ok": len(cell.sample.times_s),
        "trials_failed": len(cell.sample.errors),
        "notes": cell.notes,
    }


def _json_performance(cell: Cell) -> dict[str, Any] | None:
    """Return what is done in a second, with its change; None if the workload does not count its work."""
    found = cell.performance
    change = cell.shown_change
    if found is None:
        return None
    return {
        "value": found.value,
        "unit": f"{found.unit}/s",
        "interval": found.interval,
        "efficiencies": dict(found.efficiencies),
        "relative_change": change and change.relative_change,
        "relative_change_interval": change and change.interval,
    }


def _json_controls(shift: ControlShift | None) -> dict[str, Any] | None:
    if shift is None:
        return None
    return {
        "workloads": shift.workloads,
        "relative_change": shift.change.relative_change,
        "relative_change_interval": shift.change.interval,
        "p": shift.change.p,
        "moved": shift.moved,
    }
