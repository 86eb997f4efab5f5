"""What else changed in each execution: its plan, and what its tasks read, wrote and spilled."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median
from typing import NamedTuple

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.environment import NOT_SET, relevant_spark_conf
from harness.analysis.observed.plans import plan_change
from harness.base.words import count_of, join_names, names_by_text, quantity_text
from harness.model.task_metrics import TaskMetrics

MIN_DIFFERENCE = 0.02
"""Of bytes and rows: the same files read again differ by less."""
MIN_SPILLED_BYTES = 10**7


class ChangedExecutions(NamedTuple):
    """What changed in the executions of some workloads: its name, and its values before and after.

    `text` is a whole sentence about it, and empty where name and values say enough.
    """

    fact: str
    before: str
    after: str
    workloads: frozenset[str]
    text: str = ""


def changed_executions(
    baseline: ConfigurationRuns, other: ConfigurationRuns
) -> Iterator[ChangedExecutions]:
    """Yield what changed in the executions of each workload that both sides have."""
    common = [name for name in baseline.samples if name in other.samples]
    across_versions = spark_versions(baseline) != spark_versions(other)
    yield from _changed_plans(baseline, other, common, across_versions=across_versions)
    yield from _changed_properties(baseline, other, common)
    for name in common:
        before = baseline.samples[name].task_metrics
        after = other.samples[name].task_metrics
        for quantity in _QUANTITIES:
            if quantity.differs(before, after, across_versions=across_versions):
                yield ChangedExecutions(
                    f"{quantity.name} of {name}",
                    quantity.text(before),
                    quantity.text(after),
                    frozenset({name}),
                )


def _changed_plans(
    baseline: ConfigurationRuns,
    other: ConfigurationRuns,
    common: Sequence[str],
    *,
    across_versions: bool,
) -> Iterator[ChangedExecutions]:
    changes: dict[str, str] = {}
    known: dict[tuple[str, str], list[str]] = {}
    for name in common:
        before = baseline.samples[name]
        after = other.samples[name]
        if before.runs_s and after.runs_s and bool(before.plans) != bool(after.plans):
            sides = (_is_known(before.plans), _is_known(after.plans))
            known.setdefault(sides, []).append(name)
        change = plan_change(before.plans, after.plans, across_versions=across_versions)
        if change:
            changes[name] = change
    for change, names in names_by_text(changes).items():
        named = join_names(names)
        yield ChangedExecutions(
            f"plan of {named}", "before", change, frozenset(names), f"{named}: {change}"
        )
    for (before_known, after_known), names in known.items():
        yield ChangedExecutions("plans", before_known, after_known, frozenset(names))


def _changed_properties(
    baseline: ConfigurationRuns, other: ConfigurationRuns, common: Sequence[str]
) -> Iterator[ChangedExecutions]:
    """Yield what sessions set for executions, where all executions of both sides know it."""
    changes: dict[tuple[str, str, str], list[str]] = {}
    for name in common:
        before = _settings(baseline.samples[name].properties)
        after = _settings(other.samples[name].properties)
        for key in dict.fromkeys(chain.from_iterable([*before, *after])):
            values = (_values(key, before), _values(key, after))
            if before and after and values[0] != values[1]:
                changes.setdefault((key, *values), []).append(name)
    for (key, then, now), names in changes.items():
        yield ChangedExecutions(f"{key} of {join_names(names)}", then, now, frozenset(names))


def _settings(properties: Sequence[Mapping[str, str] | None]) -> list[Mapping[str, str]]:
    """Return the properties of executions that may affect times; none if one of them is unknown."""
    known = [each for each in properties if each is not None]
    if len(known) < len(properties):
        return []
    return [relevant_spark_conf(each) for each in known]


def _values(key: str, settings: Sequence[Mapping[str, str]]) -> str:
    return ", ".join(sorted({each.get(key, NOT_SET) for each in settings}))


def spark_versions(column: ConfigurationRuns) -> set[object]:
    """Return the versions of Spark of all runs, None where one is unknown."""
    return {recorded.run.environment.get("spark") for recorded in column.runs}


def _is_known(plans: Sequence[object]) -> str:
    return "recorded" if plans else "unknown"


Read = Callable[[TaskMetrics], int | None]


@dataclass(frozen=True)
class _Quantity:
    """Something that the tasks of a trial did: its name, and each way to count it, by its unit.

    It differs if a count does: if no trial of a side has a count like one of the other side, and the medians
    differ by more than `margin` of the larger one, and by `least`. Versions of Spark count the bytes of the
    same rows differently.
    """

    name: str
    counts: Mapping[str, Read]
    margin: float = MIN_DIFFERENCE
    least: int = 0

    def differs(
        self,
        before: Sequence[TaskMetrics],
        after: Sequence[TaskMetrics],
        *,
        across_versions: bool = False,
    ) -> bool:
        """Whether the quantity of the trials before and after differs by more than noise."""
        knows_more = False
        for unit, read in self.counts.items():
            then = _known(read, before)
            now = _known(read, after)
            if not then or not now or (unit == _BYTE and knows_more and across_versions):
                continue
            knows_more = knows_more or any(now)
            is_apart = max(then) < min(now) or max(now) < min(then)
            apart = abs(median(now) - median(then))
            largest = max(median(now), median(then))
            # One file more is another input, however small it is.
            is_large = unit == _FILE or apart > max(self.least, self.margin * largest)
            if is_apart and is_large:
                return True
        return False

    def text(self, trials: Sequence[TaskMetrics]) -> str:
        """Return the medians of trials: `12 files, 1,200 rows, 96.12 MB`, without what is unknown."""
        words = []
        for unit, read in self.counts.items():
            found = _known(read, trials)
            if any(found):
                words.append(_text(median(found), unit))
        return ", ".join(words) or "none"


_FILE = "file"
_BYTE = "B"


def _text(value: float, unit: str) -> str:
    if unit == _BYTE:
        return quantity_text(value, unit)
    return count_of(round(value), unit)


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
            _FILE: lambda tasks: tasks.input_files,
            "row": lambda tasks: tasks.input_rows,
            _BYTE: lambda tasks: tasks.input_bytes,
        },
    ),
    _Quantity(
        "output",
        {"row": lambda tasks: tasks.output_rows, _BYTE: lambda tasks: tasks.output_bytes},
    ),
    _Quantity(
        "bytes spilled to disks",
        {_BYTE: lambda tasks: tasks.disk_spilled_bytes},
        margin=0.1,
        least=MIN_SPILLED_BYTES,
    ),
)
