"""How performance grows with the number of nodes, and whether another network lets it grow further.

A workload on N nodes is compared with itself on the fewest nodes that were measured. Its speed-up is the
ratio of the performances; its efficiency is that ratio relative to the ratio of the nodes. If the problem is
fixed, that is strong scaling; if it grows with the nodes, weak scaling (Gustafson 1988).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis.compare.comparison import Cell, overview
from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    caveats,
    find_configuration,
    named_by_runs,
)
from harness.analysis.observed.environment import as_text
from harness.analysis.observed.sample import table_model
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.model.scaling import scaled_name, split_scaled_name
from harness.records.lookup import check_no_run_twice
from harness.statistics.change import Change, Difference, adjusted_changes
from harness.statistics.median import Interval
from harness.statistics.mixed_model import Estimate
from harness.terminal import join_names

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
    """A ratio with its 95 % confidence interval, which is None if a side has a single run."""

    value: float
    interval: Interval | None


@dataclass(frozen=True)
class Point:
    """One workload on a number of nodes.

    `speed_up` and `efficiency` are relative to the fewest nodes; None there, and if the workload has no
    result on either side, or is not a sum over all processes.
    `change` is that of the efficiency against the same number of nodes of the first family; None in that
    family, and where that has none.
    """

    nodes: int
    cell: Cell
    speed_up: Growth | None = None
    efficiency: Growth | None = None
    change: Change | None = None


@dataclass(frozen=True)
class ScaledWorkload:
    """A workload, with its points of each family."""

    workload: str
    points: Mapping[str, tuple[Point, ...]]


@dataclass(frozen=True)
class Scaling:
    """All workloads, and what a reader of each configuration must know, by its name."""

    workloads: tuple[ScaledWorkload, ...]
    notes: Mapping[str, tuple[str, ...]]

    def points(self) -> Iterator[tuple[str, str, Point]]:
        """Yield workload, configuration and point."""
        for scaled in self.workloads:
            for base, points in scaled.points.items():
                yield from ((scaled.workload, base, point) for point in points)


def find_family(name: str, results: Path) -> Family:
    """Return the configurations `NAME-n1`, `NAME-n2`, ... below `results`.

    Raise BadInput if there are fewer than two.
    """
    named = (split_scaled_name(directory.name) for directory in results.glob("*"))
    numbers = sorted(split[1] for split in named if split and split[0] == name)
    if len(numbers) < MIN_POINTS:
        found = join_names([scaled_name(name, number) for number in numbers]) or "none"
        raise BadInput(
            f"{name!r} needs results on two numbers of nodes or more, such as {scaled_name(name, 1)} and "
            f"{scaled_name(name, 4)}; {results} has {found}: measure it with --nodes 1,4"
        )
    return {number: find_configuration(scaled_name(name, number), results) for number in numbers}


def families_of(columns: Sequence[ConfigurationRuns]) -> dict[str, Family]:
    """Return those of the columns that are one configuration on several numbers of nodes."""
    found: dict[str, dict[int, ConfigurationRuns]] = {}
    for column in columns:
        if split := split_scaled_name(column.name):
            found.setdefault(split[0], {})[split[1]] = column
    return {
        name: dict(sorted(family.items()))
        for name, family in found.items()
        if len(family) >= MIN_POINTS
    }


def scaling(families: Mapping[str, Family]) -> Scaling:
    """Compare the numbers of nodes within each family, and the efficiencies with those of the first.

    Raise BadInput if no workload was measured on two numbers of nodes.
    """
    columns = [column for family in families.values() for column in family.values()]
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    table = _Table(families, columns)
    workloads = tuple(
        ScaledWorkload(name, {base: tuple(table.points(base, name)) for base in families})
        for name in dict.fromkeys(name for column in columns for name in column.workloads)
    )
    notes = {
        column.name: (*caveats(column.runs), *_unlike(family, column))
        for family in families.values()
        for column in family.values()
    }
    found = Scaling(workloads, notes)
    if not any(point.efficiency for _, _, point in found.points()):
        raise BadInput("no workload was measured on two numbers of nodes of a configuration")
    return _with_changes(found, table)


def _unlike(family: Family, column: ConfigurationRuns) -> Iterator[str]:
    """Yield how else than by its nodes a column differs from that on the fewest nodes."""
    first = next(iter(family.values()))
    for parameter, text in _SAME_ON_ALL_NODES.items():
        before, after = _values(first, parameter), _values(column, parameter)
        if before and after and before != after:
            here, there = join_names(sorted(after)), join_names(sorted(before))
            yield f"{text}: {here} here, {there} in {first.name}"


def _values(column: ConfigurationRuns, parameter: str) -> set[str]:
    found = (recorded.run.parameters.get(parameter) for recorded in column.runs)
    return {text for value in found if (text := as_text(value)) is not None}


class _Table:
    """The model of all columns, and where each is in it."""

    def __init__(
        self, families: Mapping[str, Family], columns: Sequence[ConfigurationRuns]
    ) -> None:
        names = list(dict.fromkeys(name for column in columns for name in column.workloads))
        self.families = families
        self._columns = columns
        self.model = table_model([column.runs for column in columns], names)
        self._cells = [
            {row.workload: row.cells[0] for row in overview(column).rows} for column in columns
        ]
        keys = [(base, nodes) for base, family in families.items() for nodes in family]
        self._index = {key: index for index, key in enumerate(keys)}

    @property
    def controls(self) -> frozenset[str]:
        """The workloads that are controls in any run."""
        return named_by_runs(self._columns, "controls")

    def points(self, base: str, workload: str) -> Iterator[Point]:
        """Yield the points of a workload that was asked for on this number of nodes."""
        fewest = self._fewest(base, workload)
        for nodes in self.families[base]:
            cell = self._cells[self._index[base, nodes]].get(workload)
            if cell is None:
                continue
            ratio = None
            if fewest is not None and fewest != nodes and cell.summary:
                ratio = self.growth(base, workload, fewest, nodes)
            if ratio is None or fewest is None:
                yield Point(nodes, cell)
                continue
            speed_up = _growth(ratio)
            yield Point(nodes, cell, speed_up, _relative(speed_up, fewest / nodes))

    def growth(self, base: str, workload: str, fewest: int, nodes: int) -> Difference:
        """Return the ratio of the performances on more nodes and on the fewest, and the number of runs."""
        before, after = self._index[base, fewest], self._index[base, nodes]
        ratio = self.model.ratio(before, after, workload)
        size = _size(self.families[base][nodes], workload) / _size(
            self.families[base][fewest], workload
        )
        return Difference(
            Estimate(math.log(size) - ratio.log, ratio.variance, ratio.df),
            self.model.runs_of_either(before, after, workload),
        )

    def change(self, first: str, base: str, workload: str, nodes: int) -> Difference | None:
        """Return the ratio of the efficiencies of two families on this number of nodes; None without both.

        Both are relative to the fewest nodes that both have.
        """
        both = [
            number
            for number in self.families[first]
            if number in self.families[base]
            and self._has(first, number, workload)
            and self._has(base, number, workload)
        ]
        if nodes not in both[1:] or self._is_per_process(workload):
            return None
        before, after = (self.growth(family, workload, both[0], nodes) for family in (first, base))
        return Difference(
            Estimate(
                after.ratio.log - before.ratio.log,
                after.ratio.variance + before.ratio.variance,
                min(after.ratio.df, before.ratio.df),
            ),
            min(after.runs, before.runs),
        )

    def _fewest(self, base: str, workload: str) -> int | None:
        """Return the fewest nodes with a result; None if there is none, or nothing to add up."""
        if self._is_per_process(workload):
            return None
        return next((n for n in self.families[base] if self._has(base, n, workload)), None)

    def _has(self, base: str, nodes: int, workload: str) -> bool:
        return self.model.runs(self._index[base, nodes], workload) > 0

    def _is_per_process(self, workload: str) -> bool:
        return workload in named_by_runs(self._columns, "per_process")


def _with_changes(found: Scaling, table: _Table) -> Scaling:
    """Add the changes of the efficiencies, adjusted for all of them; those of controls apart."""
    first = next(iter(table.families))
    differences = {
        (workload, base, point.nodes): difference
        for workload, base, point in found.points()
        if base != first and (difference := table.change(first, base, workload, point.nodes))
    }
    changes: dict[tuple[str, str, int], Change] = {}
    for of_controls in (False, True):
        keys = [key for key in differences if (key[0] in table.controls) == of_controls]
        adjusted = adjusted_changes([differences[key] for key in keys])
        changes |= zip(keys, adjusted, strict=True)

    def changed(workload: str, base: str, point: Point) -> Point:
        return replace(point, change=changes.get((workload, base, point.nodes)))

    workloads = (
        ScaledWorkload(
            scaled.workload,
            {
                base: tuple(changed(scaled.workload, base, point) for point in points)
                for base, points in scaled.points.items()
            },
        )
        for scaled in found.workloads
    )
    return replace(found, workloads=tuple(workloads))


def _growth(found: Difference) -> Growth:
    interval = found.ratio.interval if found.runs >= MIN_RUNS else None
    return Growth(found.ratio.value, interval)


def _relative(growth: Growth, factor: float) -> Growth:
    ends = growth.interval
    return Growth(growth.value * factor, ends and Interval(ends.low * factor, ends.high * factor))


def _size(column: ConfigurationRuns, workload: str) -> float:
    """Return how much a workload of Spark does, in rows, if it reads data; else 1.

    The times of others are those of one unit of work, or of the same work on all numbers of nodes.
    """
    for recorded in column.runs:
        rows = (recorded.run.dataset or {}).get("rows")
        if rows and workload in recorded.run.parameters.get("data_workloads", ()):
            return float(rows)
    return 1.0
