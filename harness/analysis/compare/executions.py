"""What else changed in each execution: its plan, and what its tasks read, wrote and spilled."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.environment import NOT_SET, relevant_spark_conf
from harness.analysis.observed.plans import plan_change
from harness.base.items import union
from harness.base.words import count_of, join_names, names_by_text, quantity_text
from harness.model.task_metrics import TaskMetrics

MIN_DIFFERENCE = 0.02
"""By how much bytes or rows have to differ: two reads of the same files differ by less."""
MIN_SPILLED_BYTES = 10**7


def changed_executions(sides: Sides) -> Iterator[Confounder]:
    """Yield what changed in the executions of each workload that both sides have."""
    across_versions = sides.baseline.spark_versions != sides.other.spark_versions
    yield from _changed_plans(sides, across_versions=across_versions)
    yield from _changed_properties(sides)
    yield from _changed_quantities(sides, across_versions=across_versions)


def _changed_quantities(sides: Sides, *, across_versions: bool) -> Iterator[Confounder]:
    """Yield what tasks read, wrote or spilled on either side, each with the workloads that have it alike."""
    changes: dict[tuple[str, str, str], list[str]] = {}
    for name, (before, after) in sides.samples.items():
        for quantity in _QUANTITIES:
            counts = quantity.of_both(before.task_metrics, after.task_metrics)
            if quantity.differs(counts, across_versions=across_versions):
                then = _text([(each.unit, each.before) for each in counts])
                now = _text([(each.unit, each.after) for each in counts])
                changes.setdefault((quantity.name, then, now), []).append(name)
    yield from _of_workloads(changes)


def _of_workloads(changes: Mapping[tuple[str, str, str], Sequence[str]]) -> Iterator[Confounder]:
    """Yield each thing that differs. The keys are what it is, and its values before and after."""
    for (what, then, now), names in changes.items():
        yield Confounder(f"{what} of {join_names(names)}", then, now, frozenset(names))


def _changed_plans(sides: Sides, *, across_versions: bool) -> Iterator[Confounder]:
    """Yield what changed in plans, and workloads whose plans only one side knows."""
    changes: dict[str, str] = {}
    known: dict[tuple[str, str], list[str]] = {}
    for name, (before, after) in sides.samples.items():
        if before.runs_s and after.runs_s and bool(before.plans) != bool(after.plans):
            of_both = (_is_known(before.plans), _is_known(after.plans))
            known.setdefault(of_both, []).append(name)
        change = plan_change(before.plans, after.plans, across_versions=across_versions)
        if change:
            changes[name] = change
    for change, names in names_by_text(changes).items():
        named = join_names(names)
        yield Confounder(
            f"plan of {named}", "before", change, frozenset(names), f"{named}: {change}"
        )
    for (before_known, after_known), names in known.items():
        yield Confounder("plans", before_known, after_known, frozenset(names))


def _changed_properties(sides: Sides) -> Iterator[Confounder]:
    """Yield what sessions set for executions, where all executions of both sides know it."""
    changes: dict[tuple[str, str, str], list[str]] = {}
    for name, (old, new) in sides.samples.items():
        before = _relevant_properties(old.properties)
        after = _relevant_properties(new.properties)
        if not before or not after:
            continue
        for key in union(before + after):
            then = _values(key, before)
            now = _values(key, after)
            if then != now:
                changes.setdefault((key, then, now), []).append(name)
    yield from _of_workloads(changes)


def _relevant_properties(
    of_executions: Sequence[Mapping[str, str] | None],
) -> list[Mapping[str, str]]:
    """Return, for each execution, the properties that may affect times.

    Return an empty list if the properties of one execution are unknown.
    """
    found: list[Mapping[str, str]] = []
    for each in of_executions:
        if each is None:
            return []
        found.append(relevant_spark_conf(each))
    return found


def _values(key: str, of_executions: Sequence[Mapping[str, str]]) -> str:
    return ", ".join(sorted({each.get(key, NOT_SET) for each in of_executions}))


def _is_known(plans: Sequence[object]) -> str:
    return "recorded" if plans else "unknown"


Read = Callable[[TaskMetrics], int | None]


class _Counts(NamedTuple):
    """What the trials of either side count in a unit."""

    unit: str
    before: Sequence[int]
    after: Sequence[int]


@dataclass(frozen=True)
class _Quantity:
    """Something that tasks of a trial did: its name, and for each unit the ways to count it, the best first.

    It differs if no trial of a side has a count like one of the other side, and the medians differ by more
    than `margin` of the larger one, and by `least`. Versions of Spark count the bytes of the same rows
    differently.
    """

    name: str
    ways: Mapping[str, Sequence[Read]]
    margin: float = MIN_DIFFERENCE
    least: int = 0

    def of_both(self, before: Sequence[TaskMetrics], after: Sequence[TaskMetrics]) -> list[_Counts]:
        """Return the counts in each unit, by the best way that all trials of both sides know."""
        found: list[_Counts] = []
        for unit, ways in self.ways.items():
            for read in ways:
                then = _known(read, before)
                now = _known(read, after)
                if then and now:
                    found.append(_Counts(unit, then, now))
                    break
        return found

    def differs(self, counts: Sequence[_Counts], *, across_versions: bool = False) -> bool:
        """Whether the quantity of the trials before and after differs by more than noise."""
        knows_more = False
        for each in counts:
            if each.unit == _BYTE and knows_more and across_versions:
                continue
            knows_more = knows_more or any(each.after)
            then = median(each.before)
            now = median(each.after)
            # One file more is another input, however small it is.
            least = 0 if each.unit == _FILE else max(self.least, self.margin * max(then, now))
            are_apart = max(each.before) < min(each.after) or max(each.after) < min(each.before)
            if are_apart and abs(now - then) > least:
                return True
        return False


_FILE = "file"
_BYTE = "B"


def _text(counts: Sequence[tuple[str, Sequence[int]]]) -> str:
    """Return the medians of trials: `12 files, 1,200 rows, 96.12 MB`."""
    words = []
    for unit, found in counts:
        if not any(found):
            continue
        value = median(found)
        if unit == _BYTE:
            words.append(quantity_text(value, unit))
        else:
            words.append(count_of(round(value), unit))
    return ", ".join(words) or "none"


def _known(read: Read, trials: Sequence[TaskMetrics]) -> list[int]:
    """Return the counts of trials; none if one does not know its count."""
    found: list[int] = []
    for each in trials:
        count = read(each)
        if count is None:
            return []
        found.append(count)
    return found


_QUANTITIES = (
    _Quantity(
        "input",
        {
            _FILE: [lambda tasks: tasks.input_files],
            "row": [lambda tasks: tasks.input_rows],
            # What tasks count lacks the vectored reads of Parquet.
            _BYTE: [lambda tasks: tasks.input_file_bytes, lambda tasks: tasks.input_bytes],
        },
    ),
    _Quantity(
        "output",
        {"row": [lambda tasks: tasks.output_rows], _BYTE: [lambda tasks: tasks.output_bytes]},
    ),
    _Quantity(
        "bytes spilled to disks",
        {_BYTE: [lambda tasks: tasks.disk_spilled_bytes]},
        margin=0.1,
        least=MIN_SPILLED_BYTES,
    ),
)
