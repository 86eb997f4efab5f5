"""Explanation of changes: the change of each workload's median divided into the parts of wall time."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.analysis.attribution import (
    PARTS,
    PYTHON,
    Attribution,
    Parts,
    attribute,
    without_python,
)
from harness.analysis.comparison import Cell, Comparison, Row
from harness.analysis.configuration import ConfigurationRuns
from harness.model.errors import BadInput


@dataclass(frozen=True)
class ExplainedRow:
    """The change of one workload's median, divided into parts.

    `cells` are those of the comparison, before and after. `change_s` is the difference of their
    medians in seconds, None if a side has no median. `before` and `after` are None if no trial of that
    side has task metrics. `parts_s` is the difference of the medians of each part, and empty unless
    both attributions are known. `rest_s` is the remainder of the change: medians do not add up as
    times do, and trials without task metrics contribute to the change alone.
    """

    workload: str
    cells: tuple[Cell, Cell]
    change_s: float | None
    before: Attribution | None
    after: Attribution | None
    parts_s: Parts
    rest_s: float | None


@dataclass(frozen=True)
class Explanation:
    """The explained changes of all workloads between two configurations."""

    before: ConfigurationRuns
    after: ConfigurationRuns
    rows: tuple[ExplainedRow, ...]


def explain(comparison: Comparison) -> Explanation:
    """Explain the changes of a comparison of two configurations.

    Raises BadInput if no workload has task metrics in both configurations.
    """
    before, after = comparison.columns
    rows = tuple(_explained(row, before, after) for row in comparison.rows)
    if not any(row.parts_s for row in rows):
        raise BadInput(
            f"no workload has task metrics in both {before.name!r} and {after.name!r}, so nothing "
            "explains the changes; run the benchmark again with this version of clusterlift"
        )
    return Explanation(before, after, rows)


def _explained(row: Row, before: ConfigurationRuns, after: ConfigurationRuns) -> ExplainedRow:
    cells = row.cells[0], row.cells[1]
    sides = attribute(before.runs, row.workload), attribute(after.runs, row.workload)
    change_s = _change_s(*cells)
    parts_s = _differences(*sides)
    rest_s = change_s - math.fsum(parts_s.values()) if parts_s and change_s is not None else None
    return ExplainedRow(row.workload, cells, change_s, *sides, parts_s, rest_s)


def _change_s(before: Cell, after: Cell) -> float | None:
    if before.summary is None or after.summary is None:
        return None
    return after.summary.median_s - before.summary.median_s


def _differences(before: Attribution | None, after: Attribution | None) -> Parts:
    if before is None or after is None:
        return {}
    before_s, after_s = before.parts_s, after.parts_s
    if not (PYTHON in before_s and PYTHON in after_s):
        before_s, after_s = without_python(before_s), without_python(after_s)
    return {name: after_s[name] - before_s[name] for name in PARTS if name in after_s}
