"""How performance grows with the number of nodes, and whether another network lets it grow further.

A workload on N nodes is compared with itself on the fewest nodes that were measured. Its speed-up is the
ratio of the performances; its efficiency is that ratio relative to the ratio of the nodes. If the problem is
fixed, that is strong scaling; if it grows with the nodes, weak scaling (Gustafson 1988).
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
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
from harness.records.directories import configuration_directory
from harness.records.lookup import check_no_run_twice
from harness.statistics.change import Change, Difference, adjusted_changes
from harness.statistics.interval import Interval
from harness.words import join_names

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
    efficiency: float | None = None
    change: Change | None = None


@dataclass(frozen=True)
class ScaledWorkload:
    """A workload, with its points of each family."""

    workload: str
    points: Mapping[str, tuple[Point, ...]]


@dataclass(frozen=True)
class Scaling:
    """All workloads, and what a reader of each configuration must know, by its name.

    The changes of `controls` are adjusted for each other alone.
    """

    workloads: tuple[ScaledWorkload, ...]
    notes: Mapping[str, tuple[str, ...]]
    controls: frozenset[str] = frozenset()

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
    own = configuration_directory(results, name).name
    numbers = sorted(split[1] for split in named if split and split[0] == own)
    if len(numbers) < MIN_POINTS:
        found = join_names([scaled_name(name, number) for number in numbers]) or "none"
        raise BadInput(
            f"{name!r} needs results on two numbers of nodes or more, such as {scaled_name(name, 1)} and "
            f"{scaled_name(name, 4)}; {results} has {found}: measure it with --nodes 1,4"
        )
    return {number: find_configuration(scaled_name(name, number), results) for number in numbers}


def scaling_of(columns: Sequence[ConfigurationRuns]) -> Scaling | None:
    """Return the scaling of the columns that are one configuration on several numbers of nodes.

    Their runs declare the number that is in the name. None if there are none, or if nothing has a result on
    two of them.
    """
    families = _families(columns)
    with suppress(BadInput):
        return scaling(families) if families else None
    return None


def _families(columns: Sequence[ConfigurationRuns]) -> dict[str, Family]:
    found: dict[str, dict[int, ConfigurationRuns]] = {}
    for column in columns:
        split = split_scaled_name(column.name)
        declared = {recorded.run.facts.get("nodes") for recorded in column.runs}
        if split and declared == {str(split[1])}:
            found.setdefault(split[0], {})[split[1]] = column
    return {
        name: dict(sorted(family.items()))
        for name, family in found.items()
        if len(family) >= MIN_POINTS
    }


def scaling(families: Mapping[str, Family]) -> Scaling:
    """Compare the numbers of nodes within each family, and the efficiencies with the first family's.

    Raise BadInput if no workload was measured on two numbers of nodes.
    """
    columns = [column for family in families.values() for column in family.values()]
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    names = list(dict.fromkeys(name for column in columns for name in column.workloads))
    controls, per_process = (named_by_runs(columns, each) for each in ("controls", "per_process"))
    table = _Table(families, names)
    summed = [name for name in names if name not in per_process]
    changes = {
        **table.changes([name for name in summed if name not in controls]),
        **table.changes([name for name in summed if name in controls]),
    }
    workloads = tuple(
        ScaledWorkload(
            name,
            {base: tuple(table.points(base, name, changes, name in summed)) for base in families},
        )
        for name in names
    )
    notes = {
        column.name: (*caveats(column.runs), *_unlike(family, column))
        for family in families.values()
        for column in family.values()
    }
    found = Scaling(workloads, notes, controls)
    if not any(point.efficiency for _, _, point in found.points()):
        raise BadInput("no workload was measured on two numbers of nodes of a configuration")
    return found


def _unlike(family: Family, column: ConfigurationRuns) -> Iterator[str]:
    """Yield how else than by its nodes a column differs from that on the fewest nodes."""
    first = next(iter(family.values()))
    for parameter, text in _SAME_ON_ALL_NODES.items():
        before, after = (
            {as_text(recorded.run.parameters.get(parameter)) for recorded in side.runs} - {None}
            for side in (first, column)
        )
        if before and after and before != after:
            here, there = (join_names(sorted(map(str, values))) for values in (after, before))
            yield f"{text}: {here} here, {there} in {first.name}"


class _Table:
    """The model of all columns, and where each is in it."""

    def __init__(self, families: Mapping[str, Family], workloads: Sequence[str]) -> None:
        self._families = families
        columns = {
            (base, nodes): column
            for base, family in families.items()
            for nodes, column in family.items()
        }
        self._index = {key: index for index, key in enumerate(columns)}
        self._model = table_model([column.runs for column in columns.values()], workloads)
        self._cells = {
            key: {row.workload: row.cells[0] for row in overview(column).rows}
            for key, column in columns.items()
        }

    def points(
        self,
        base: str,
        workload: str,
        changes: Mapping[tuple[str, str, int], Change],
        is_summed: bool,  # noqa: FBT001  passed on
    ) -> Iterator[Point]:
        """Yield the points of a workload that was asked for on this number of nodes."""
        measured = self._measured(base, workload) if is_summed else []
        for nodes in self._families[base]:
            cell = self._cells[base, nodes].get(workload)
            if cell is None:
                continue
            change = changes.get((workload, base, nodes))
            if nodes in measured[1:]:
                found = self._growth(base, workload, measured[0], nodes)
                interval = found.ratio.interval if found.runs >= MIN_RUNS else None
                speed_up = Growth(found.ratio.value, interval)
                yield Point(nodes, cell, speed_up, speed_up.value * measured[0] / nodes, change)
            else:
                yield Point(nodes, cell, change=change)

    def changes(self, workloads: Sequence[str]) -> dict[tuple[str, str, int], Change]:
        """Return the changes of the efficiencies, adjusted for all of these workloads.

        Both efficiencies are relative to the fewest nodes that both families have.
        """
        first, *others = self._families
        found: dict[tuple[str, str, int], Difference] = {}
        for workload in workloads:
            for base in others:
                fewest, *more = [
                    nodes
                    for nodes in self._measured(first, workload)
                    if nodes in self._measured(base, workload)
                ] or [0]
                for nodes in more:
                    before, after = (
                        self._growth(family, workload, fewest, nodes) for family in (first, base)
                    )
                    ratio, runs = after.ratio - before.ratio, min(after.runs, before.runs)
                    found[workload, base, nodes] = Difference(ratio, runs)
        return dict(zip(found, adjusted_changes(list(found.values())), strict=True))

    def _measured(self, base: str, workload: str) -> list[int]:
        """Return the numbers of nodes on which the workload has a result."""
        return [n for n in self._families[base] if self._model.runs(self._index[base, n], workload)]

    def _growth(self, base: str, workload: str, fewest: int, nodes: int) -> Difference:
        """Return the ratio of the performances on more nodes and on the fewest, and the number of runs."""
        before, after = self._index[base, fewest], self._index[base, nodes]
        ratio = self._model.ratio(after, before, workload)
        return Difference(ratio, self._model.runs_of_either(before, after, workload))
