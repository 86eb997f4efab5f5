"""What the changes between two configurations are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from harness.analysis.attribution import (
    PARTS,
    PYTHON,
    Attribution,
    Parts,
    attributed,
    without_python,
)
from harness.analysis.column import ConfigurationRuns
from harness.analysis.comparison import Cell, Comparison, Row
from harness.model.errors import BadInput


@dataclass(frozen=True)
class ExplainedRow:
    """The change of one workload's median, divided.

    `cells` are those of the comparison, before and after; `change_s` is the difference of their
    medians, None where a side has none. `before` and `after` are None where it is not known of any
    trial where its time went. `parts_s` has the difference of each part's medians, and is empty unless
    both are known. `rest_s` is what is then left of the change: medians do not add up as times do,
    and a trial without metrics is in the change alone.
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
    """The workloads of two configurations, each change divided."""

    before: ConfigurationRuns
    after: ConfigurationRuns
    rows: tuple[ExplainedRow, ...]


def explain(comparison: Comparison) -> Explanation:
    """Divide the changes between the two configurations of a comparison.

    Raises BadInput where of no workload it is known, before and after, where its time went.
    """
    before, after = comparison.columns
    rows = tuple(_explained(row, before, after) for row in comparison.rows)
    if not any(row.parts_s for row in rows):
        raise BadInput(
            f"of no workload it is known where its time went, in {before.name!r} and in {after.name!r}: "
            "no trial has task metrics on both sides; run the benchmark again with this clusterlift"
        )
    return Explanation(before, after, rows)


def _explained(row: Row, before: ConfigurationRuns, after: ConfigurationRuns) -> ExplainedRow:
    cells = row.cells[0], row.cells[1]
    sides = attributed(before.runs, row.workload), attributed(after.runs, row.workload)
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
    then_s, now_s = before.parts_s, after.parts_s
    if not (PYTHON in then_s and PYTHON in now_s):
        then_s, now_s = without_python(then_s), without_python(now_s)
    return {name: now_s[name] - then_s[name] for name in PARTS if name in now_s}
