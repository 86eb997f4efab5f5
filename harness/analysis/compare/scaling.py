"""How performance grows with the number of nodes.

A workload on N nodes is compared with itself on the fewest nodes that were measured. Its speed-up is the
ratio of the performances. Its efficiency is that ratio relative to the ratio of the nodes. If the problem is
fixed, that is strong scaling; if it grows with the nodes, weak scaling (Gustafson 1988).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.analysis.compare.comparison import Cell, Row, overview
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    find_configuration,
    named_by_runs,
)
from harness.analysis.observed.environment import as_text
from harness.base.errors import BadInput
from harness.base.words import join_names
from harness.model.limits import MIN_RUNS
from harness.model.run import RecordedRun
from harness.model.scaling import scaled_name, split_scaled_name
from harness.records.directories import configuration_directory
from harness.records.lookup import check_no_run_twice
from harness.statistics.interval import Interval
from harness.statistics.run_model import RunModel

MIN_POINTS = 2

_SAME_ON_ALL_NODES = {
    "processes_per_host": "processes on each host",
    "growing": "the problem grows with the hosts",
    "options": "the program's options",
    "network": "network",
}
"""Parameters of a run that do not depend on the number of nodes, and what they are called."""

Family = Mapping[int, ConfigurationRuns]
"""A configuration by the numbers of nodes on which it was measured, in ascending order."""


@dataclass(frozen=True)
class Growth:
    """How performance grew from the fewest nodes.

    - `speed_up`: the ratio of the performances; `interval`: its 95 % confidence interval, None if a side has
      a single run.
    - `efficiency`: the speed-up divided by the factor by which the number of nodes grew.
    """

    speed_up: float
    interval: Interval | None
    efficiency: float


@dataclass(frozen=True)
class Point:
    """One workload on a number of nodes.

    `growth` is None on the fewest nodes, and if the workload has no result on either side, or is not a sum
    over all processes.
    """

    nodes: int
    cell: Cell
    growth: Growth | None = None


@dataclass(frozen=True)
class Scaling:
    """The points of each workload by configuration, and what a reader of each column must know."""

    workloads: Mapping[str, Mapping[str, tuple[Point, ...]]]
    notes: Mapping[str, tuple[str, ...]]


def find_family(name: str, results: Path) -> Family:
    """Return the configurations `NAME-n1`, `NAME-n2`, ... below `results`.

    Raise BadInput if there are fewer than two.
    """
    own = configuration_directory(results, name).name
    numbers: list[int] = []
    for directory in results.glob("*"):
        split = split_scaled_name(directory.name)
        if split and split[0] == own:
            numbers.append(split[1])
    if len(numbers) < MIN_POINTS:
        found = join_names([scaled_name(name, number) for number in numbers]) or "none"
        raise BadInput(
            f"{name!r} needs results on two numbers of nodes or more, such as {scaled_name(name, 1)} and "
            f"{scaled_name(name, 4)}; {results} has {found}: measure it with --nodes 1,4"
        )
    return {
        number: find_configuration(scaled_name(name, number), results, samples=False)
        for number in sorted(numbers)
    }


def scaling(families: Mapping[str, Family]) -> Scaling:
    """Compare the numbers of nodes within each family.

    Raise BadInput if no workload was measured on two numbers of nodes.
    """
    runs: list[RecordedRun] = []
    for family in families.values():
        for column in family.values():
            runs += column.runs
    check_no_run_twice(runs)
    per_process = named_by_runs((recorded.run for recorded in runs), "per_process")
    workloads: dict[str, dict[str, tuple[Point, ...]]] = {}
    notes: dict[str, tuple[str, ...]] = {}
    has_growth = False
    for base, family in families.items():
        table = overview(*family.values())
        for row in table.rows:
            points = _points(row, table.model, family, per_process)
            has_growth = has_growth or any(point.growth for point in points)
            workloads.setdefault(row.workload, {})[base] = points
        for column in family.values():
            notes[column.name] = caveats(column.runs) + tuple(_unlike(family, column))
    if not has_growth:
        raise BadInput("no workload was measured on two numbers of nodes of a configuration")
    return Scaling(workloads, notes)


def _points(
    row: Row, model: RunModel, family: Family, per_process: Collection[str]
) -> tuple[Point, ...]:
    """Return the points of a workload, on the numbers of nodes on which it was asked for."""
    name = row.workload
    numbers = list(family)
    fewest: int | None = None
    points: list[Point] = []
    for index, nodes in enumerate(numbers):
        if name not in family[nodes].workloads:
            continue
        growth = None
        if row.cells[index].summary and name not in per_process:
            if fewest is None:
                fewest = index
            else:
                growth = _growth(name, model, fewest, index, numbers[fewest] / nodes)
        points.append(Point(nodes, row.cells[index], growth))
    return tuple(points)


def _growth(name: str, model: RunModel, fewest: int, index: int, relative_nodes: float) -> Growth:
    """Return the growth from the fewest nodes. `relative_nodes` is their part of the nodes at `index`."""
    ratio = model.ratio(index, fewest, name)
    is_repeated = model.runs_of_either(fewest, index, name) >= MIN_RUNS
    interval = ratio.interval if is_repeated else None
    return Growth(ratio.value, interval, ratio.value * relative_nodes)


def _unlike(family: Family, column: ConfigurationRuns) -> Iterator[str]:
    """Yield how else than by its nodes a column differs from the first one that recorded the parameter."""
    for parameter, text in _SAME_ON_ALL_NODES.items():
        here = _values(column, parameter)
        known = [each for each in family.values() if _values(each, parameter)]
        if not here or not known:
            continue
        there = _values(known[0], parameter)
        if here != there:
            yield f"{text}: {join_names(here)} here, {join_names(there)} in {known[0].name}"


def _values(column: ConfigurationRuns, parameter: str) -> list[str]:
    """Return the known values of a parameter in the runs of a column, sorted."""
    values = {as_text(run.parameters.get(parameter)) for run in column.descriptions}
    return sorted(filter(None, values))
