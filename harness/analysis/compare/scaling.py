"""How performance grows with the number of nodes.

A workload on N nodes is compared with itself on the fewest nodes that were measured. Its speed-up is the
ratio of the performances; its efficiency is that ratio relative to the ratio of the nodes. If the problem is
fixed, that is strong scaling; if it grows with the nodes, weak scaling (Gustafson 1988).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
from harness.base.errors import BadInput
from harness.base.words import join_names
from harness.model.limits import MIN_RUNS
from harness.model.scaling import scaled_name, split_scaled_name
from harness.records.directories import configuration_directory
from harness.records.lookup import check_no_run_twice
from harness.statistics.interval import Interval

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

    `speed_up` is the ratio, `interval` its 95 % confidence interval, which is None if a side has a single
    run; `efficiency` is the speed-up relative to how many times as many nodes there are.
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
    named = (split_scaled_name(directory.name) for directory in results.glob("*"))
    own = configuration_directory(results, name).name
    numbers = sorted(split[1] for split in named if split and split[0] == own)
    if len(numbers) < MIN_POINTS:
        found = join_names([scaled_name(name, number) for number in numbers]) or "none"
        raise BadInput(
            f"{name!r} needs results on two numbers of nodes or more, such as {scaled_name(name, 1)} and "
            f"{scaled_name(name, 4)}; {results} has {found}: measure it with --nodes 1,4"
        )
    return {
        number: find_configuration(scaled_name(name, number), results, samples=False)
        for number in numbers
    }


def scaling(families: Mapping[str, Family]) -> Scaling:
    """Compare the numbers of nodes within each family.

    Raise BadInput if no workload was measured on two numbers of nodes.
    """
    columns = [column for family in families.values() for column in family.values()]
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    names = list(dict.fromkeys(name for column in columns for name in column.workloads))
    per_process = named_by_runs(columns, "per_process")
    points = {base: _points(family, names, per_process) for base, family in families.items()}
    if not any(each.growth for of in points.values() for row in of.values() for each in row):
        raise BadInput("no workload was measured on two numbers of nodes of a configuration")
    return Scaling(
        {name: {base: found[name] for base, found in points.items()} for name in names},
        {
            column.name: (*caveats(column.runs), *_unlike(family, column))
            for family in families.values()
            for column in family.values()
        },
    )


def _points(
    family: Family, names: Sequence[str], per_process: Collection[str]
) -> dict[str, tuple[Point, ...]]:
    """Return the points of each workload, on the numbers of nodes on which it was asked for."""
    numbers, columns = list(family), list(family.values())
    model = table_model([column.runs for column in columns], names)
    cells = [{row.workload: row.cells[0] for row in overview(column).rows} for column in columns]

    def growth(name: str, fewest: int, index: int) -> Growth:
        ratio = model.ratio(index, fewest, name)
        is_repeated = model.runs_of_either(fewest, index, name) >= MIN_RUNS
        efficiency = ratio.value * numbers[fewest] / numbers[index]
        return Growth(ratio.value, ratio.interval if is_repeated else None, efficiency)

    found = {}
    for name in names:
        has_result = [
            name not in per_process and model.runs(n, name) > 0 for n in range(len(cells))
        ]
        fewest = has_result.index(True) if any(has_result) else len(cells)
        found[name] = tuple(
            Point(
                numbers[n],
                cells[n][name],
                growth(name, fewest, n) if has_result[n] and n > fewest else None,
            )
            for n in range(len(cells))
            if name in cells[n]
        )
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
