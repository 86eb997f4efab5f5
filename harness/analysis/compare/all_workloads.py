"""What all workloads together gained: in sum, on average, and in queries per hour."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.analysis.observed.configuration import named_by_runs
from harness.analysis.observed.streams import streams
from harness.base.clock import HOUR
from harness.eventlog.application import application_of
from harness.model.limits import MIN_RUNS
from harness.model.run import Run
from harness.statistics.change import Change, joint_change

MIN_WORKLOADS = 2
"""The change of a single workload stands in its own row."""


@dataclass(frozen=True)
class Throughput:
    """How many queries all streams together answer in an hour."""

    before: float
    after: float
    change: Change


@dataclass(frozen=True)
class AllWorkloads:
    """How a configuration changed in all workloads that count, each of them once.

    - `configuration`: the name of the column that is compared with the baseline.
    - `workloads`: the compared ones, without controls and workloads that count work in a unit.
    - `not_counted`: how many others are compared.
    - `before_s`, `after_s`: the sums of their times, in seconds.
    - `of_sum`, `of_mean`: the change of that sum, and the geometric mean of the changes.
    - `beyond_controls`: whether these are relative to the changes of the controls.
    - `throughput`: None without streams.
    """

    configuration: str
    workloads: tuple[str, ...]
    not_counted: int
    before_s: float
    after_s: float
    of_sum: Change
    of_mean: Change
    beyond_controls: bool = False
    throughput: Throughput | None = None


def all_workloads(comparison: Comparison) -> list[AllWorkloads]:
    """Return the changes of all workloads, for each column with several workloads that count."""
    found: list[AllWorkloads] = []
    for index in range(1, len(comparison.columns)):
        names, not_counted = _counted(comparison, index)
        if len(names) >= MIN_WORKLOADS:
            found.append(_together(comparison, index, names, not_counted))
    return found


def _together(
    comparison: Comparison, index: int, names: Sequence[str], not_counted: int
) -> AllWorkloads:
    """Return how these workloads changed together in the column with this index."""
    model = comparison.model
    controls: Sequence[str] = ()
    shift = comparison.control_shifts[index]
    if comparison.relative_to_controls and shift:
        controls = shift.workloads
    return AllWorkloads(
        configuration=comparison.columns[index].name,
        workloads=tuple(names),
        not_counted=not_counted,
        before_s=math.fsum(model.time(0, name).value for name in names),
        after_s=math.fsum(model.time(index, name).value for name in names),
        of_sum=joint_change(model, index, names, controls, of_sums=True),
        of_mean=joint_change(model, index, names, controls, of_sums=False),
        beyond_controls=bool(controls),
        throughput=_throughput(comparison, index),
    )


def _counted(comparison: Comparison, index: int) -> tuple[list[str], int]:
    """Return the workloads that count together in a column, and how many others are compared there.

    Workloads with a single run on a side tell no interval: they count only if all have one.
    """
    sides = comparison.sides[index - 1]
    containing = _containing(sides.descriptions)
    compared: list[str] = []
    for row in comparison.rows:
        cell = row.cells[index]
        if cell.change and not cell.sample.unit and row.workload not in comparison.controls:
            compared.append(row.workload)
    names = [name for name in compared if name not in containing] or compared
    model = comparison.model
    repeated = [name for name in names if model.runs_of_either(0, index, name) >= MIN_RUNS]
    counted = repeated or names
    return counted, len(names) - len(counted)


def _containing(runs: Sequence[Run]) -> set[str]:
    """Return the workloads whose time contains the time of others: applications, and streams together."""
    found = set(streams(runs))
    for run in runs:
        application = application_of(run)
        if application:
            found.add(application)
    return found


def times_within(comparison: Comparison, index: int) -> frozenset[str]:
    """Return the workloads of a column whose time is within that of another, which is compared there.

    Those are the executions of an application, and the workloads of streams. What they gain is in what the
    whole gains.
    """
    compared = {row.workload for row in comparison.rows if row.cells[index].change}
    runs = comparison.sides[index - 1].descriptions
    found = set(named_by_runs(runs, "in_streams"))
    for run in runs:
        application = application_of(run)
        if application in compared:
            found.update(name for name in run.workloads if name != application)
    return frozenset(found)


def _throughput(comparison: Comparison, index: int) -> Throughput | None:
    """Return the queries per hour if both sides had the same streams; None else."""
    sides = comparison.sides[index - 1]
    queries = _queries_of_all_streams(sides.descriptions)
    of_baseline = _containing(sides.baseline.descriptions)
    names_of_all_streams = of_baseline & _containing(sides.other.descriptions)
    if not queries or len(names_of_all_streams) != 1:
        return None
    for row in comparison.rows:
        cell = row.cells[index]
        before = row.cells[0].summary
        if row.workload in names_of_all_streams and before and cell.summary and cell.change:
            return Throughput(
                queries * HOUR / before.time_s,
                queries * HOUR / cell.summary.time_s,
                cell.change.of_performance,
            )
    return None


def _queries_of_all_streams(runs: Sequence[Run]) -> int:
    """Return how many queries all streams have together; 0 without streams, or if runs differ."""
    found: set[int] = set()
    for run in runs:
        names = run.parameters.get("in_streams") or ()
        found.add(len(names) * int(run.parameters.get("streams") or 0))
    if len(found) > 1:
        return 0
    return found.pop()
