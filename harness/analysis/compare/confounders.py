"""Confounders: what differs between two configurations besides what was meant to differ."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.compare.answers import different_answers
from harness.analysis.compare.executions import changed_executions
from harness.analysis.compare.logged import different_dates
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.declared import declares_layout, declares_value
from harness.analysis.observed.environment import (
    ESSENTIAL,
    EXECUTORS,
    LAYOUT,
    FactsByGroup,
    if_missing,
)
from harness.analysis.observed.executors import are_recorded, different_executors
from harness.analysis.observed.interference import different_interference
from harness.analysis.observed.sample import measured_trials
from harness.analysis.observed.streams import streams
from harness.base.words import shorten
from harness.model.cache import CacheState, cache_text, disk_share
from harness.model.run import PROGRAM, Run
from harness.work.options import COMPARED, Affected

MAX_VALUE_LENGTH = 80
"""Characters of a value in a line. Class paths are longer."""

MAX_TEXT_LENGTH = 400
"""Characters of a sentence."""

_REQUESTED_CACHE = next(option.fact for option in COMPARED if option.name == "cache")

Workloads = frozenset[str] | None
"""Names of workloads; None: all workloads."""


@dataclass(frozen=True)
class Confounder:
    """A fact that differs from the baseline; a side whose runs differ has several values in its text.

    `workloads` are those whose times the fact may affect. `text` is a whole sentence about it, and empty
    where the values say enough.
    """

    fact: str
    before: str
    after: str
    workloads: Workloads = None
    text: str = ""

    def may_affect(self, workload: str) -> bool:
        """Whether the fact may explain this workload's change."""
        return self.workloads is None or workload in self.workloads

    def describe(self, baseline: str) -> str:
        """Return a line for the column that is compared with the baseline of this name."""
        if self.text:
            return shorten(self.text, MAX_TEXT_LENGTH)
        before = shorten(self.before, MAX_VALUE_LENGTH)
        after = shorten(self.after, MAX_VALUE_LENGTH)
        return f"{self.fact}: {after} here, {before} in {baseline}"


def confounders(baseline: ConfigurationRuns, other: ConfigurationRuns) -> tuple[Confounder, ...]:
    """Return every recorded fact that differs, unless both sides declare the difference.

    An essential fact that only one side recorded counts as different. The cache of the input, and what
    disturbed the trials of both sides, count if they differ by a margin.
    """
    found = list(_different_facts(baseline, other))
    cache = list(_different_cache(baseline, other))
    if cache:  # what was measured says more than what was asked for
        found = [each for each in found if each.fact != _REQUESTED_CACHE]
    if are_recorded(baseline.runs) and are_recorded(other.runs):
        found = [each for each in found if each.fact != EXECUTORS]
        for by_trials in different_executors(baseline.runs, other.runs):
            found.append(Confounder(EXECUTORS, *by_trials))
    for name, before, after in different_answers(baseline, other):
        found.append(Confounder(answer_fact(name), before, after, frozenset({name})))
    for dates in different_dates(baseline.runs, other.runs):
        found.append(Confounder(*dates))
    for changed in changed_executions(baseline, other):
        found.append(Confounder(*changed))
    for by_others in different_interference(baseline.disturbances, other.disturbances):
        found.append(Confounder(*by_others))
    together = _in_streams([recorded.run for recorded in (*baseline.runs, *other.runs)])
    return tuple(_with_streams(each, together) for each in found + cache)


def answer_fact(query: str) -> str:
    """Return what a confounder calls the answer of a query."""
    return f"answer of {query}"


def _in_streams(runs: Sequence[Run]) -> frozenset[str]:
    """Return the workloads that ran at the same time in several streams, and the name of all together."""
    found = streams(runs)
    return frozenset(found).union(*found.values())


def _with_streams(confounder: Confounder, together: frozenset[str]) -> Confounder:
    """Return a confounder that affects all workloads of streams if it affects one of them."""
    if confounder.workloads and confounder.workloads & together:
        return replace(confounder, workloads=confounder.workloads | together)
    return confounder


def _different_cache(baseline: ConfigurationRuns, other: ConfigurationRuns) -> Iterator[Confounder]:
    """Yield that one side read from disks and the other from memory, if that was measured."""
    before = disk_share(measured_trials(baseline.runs))
    after = disk_share(measured_trials(other.runs))
    if before is None or after is None or CacheState.of(before) is CacheState.of(after):
        return
    readers = [
        trial.workload
        for trial in measured_trials(baseline.runs + other.runs)
        if trial.input_read_by
    ]
    yield Confounder(
        "cache of the input", cache_text(before), cache_text(after), frozenset(readers)
    )


@dataclass(frozen=True)
class _Side:
    """Runs of a configuration, all of Spark or all of one program, with the facts of each."""

    runs: Sequence[Run]
    facts: Sequence[FactsByGroup]

    def group(self, name: str) -> "_Group":
        """Return the facts of a group, of each run that recorded any."""
        pairs = zip(self.runs, self.facts, strict=True)
        return [(run, facts[name]) for run, facts in pairs if name in facts]

    @property
    def queries(self) -> frozenset[str]:
        """The names of the user's queries."""
        return frozenset().union(*(facts for _, facts in self.group("queries")))

    def data_readers(self, controls: Collection[str]) -> frozenset[str]:
        """Return the workloads that read the dataset: all but controls if a run does not list them."""
        found: set[str] = set()
        for run in self.runs:
            workloads = run.parameters.get("data_workloads")
            found.update(
                set(run.workloads).difference(controls) if workloads is None else workloads
            )
        return frozenset(found)


_Group = Sequence[tuple[Run, Mapping[str, str | None]]]
"""Runs that recorded anything of a group, with its facts; None: unknown."""


def _different_facts(baseline: ConfigurationRuns, other: ConfigurationRuns) -> Iterator[Confounder]:
    """Yield the facts that differ between runs of Spark, and between runs of each program.

    Parts that only one side ran are not compared. If all runs are of one kind, facts may affect all
    workloads.
    """
    before = _by_program(baseline)
    after = _by_program(other)
    kinds = dict.fromkeys([*before, *after])
    if len(kinds) == 1:
        for program in kinds:
            yield from _differences(before[program], after[program])
        return
    for program in kinds:
        if program in before and program in after:
            runs = (*before[program].runs, *after[program].runs)
            workloads = frozenset().union(*(run.workloads for run in runs))
            for found in _differences(before[program], after[program]):
                yield replace(found, workloads=workloads) if found.workloads is None else found


def _by_program(column: ConfigurationRuns) -> dict[str | None, _Side]:
    """Return runs by the name of their program; the key of Spark's runs is None."""
    found: dict[str | None, tuple[list[Run], list[FactsByGroup]]] = {}
    for recorded, facts in zip(column.runs, column.facts, strict=True):
        runs_of_program, facts_of_program = found.setdefault(
            recorded.run.parameters.get(PROGRAM), ([], [])
        )
        runs_of_program.append(recorded.run)
        facts_of_program.append(facts)
    return {program: _Side(*of_program) for program, of_program in found.items()}


def _differences(before: _Side, after: _Side) -> Iterator[Confounder]:
    """Yield the facts that differ, in the order in which they are listed."""
    runs = [*before.runs, *after.runs]
    controls = frozenset().union(*(run.parameters.get("controls") or () for run in runs))
    workloads = frozenset().union(*(run.workloads for run in runs))
    readers_before = before.data_readers(controls)
    readers_after = after.data_readers(controls)
    reading = readers_before | readers_after | before.queries | after.queries
    together = _in_streams(runs)
    affected: dict[Affected, Workloads] = {
        Affected.ALL: None,
        Affected.READING: reading,
        Affected.COMPUTING: workloads - reading - together,
        Affected.IN_STREAMS: together,
        Affected.REPARTITION: frozenset({"repartition"}),
    }
    workloads_of_fact = {option.fact: affected[option.affected] for option in COMPARED}
    for found in _in_group("parameters", before, after):
        yield replace(found, workloads=workloads_of_fact.get(found.fact))
    readers = readers_before & readers_after
    if readers:
        yield from _in_group("dataset", before, after, readers)
        if before.group("client") and after.group("client"):
            yield from _in_group("client", before, after, readers)
    queries = before.queries & after.queries
    if queries:
        for found in _in_group("queries", before, after):
            name = found.fact
            yield replace(found, fact=f"text of {name}", workloads=frozenset({name}))
        yield from _in_group("tables", before, after, queries)
    yield from _in_group("environment", before, after)


def _in_group(
    name: str, before: _Side, after: _Side, workloads: Workloads = None
) -> Iterator[Confounder]:
    """Yield each fact of a group that differs; one for the whole group if only one side recorded it.

    The facts affect these workloads.
    """
    first = before.group(name)
    then = after.group(name)
    if bool(first) != bool(then):
        yield Confounder(name, _is_recorded(first), _is_recorded(then), workloads)
        return
    names: dict[str, None] = {}
    for _, facts in (*first, *then):
        names |= dict.fromkeys(facts)
    for fact in names:
        there = _values(fact, first)
        here = _values(fact, then)
        is_different = here and there and set(here) != set(there)
        if is_different and not _is_declared(fact, [*first, *then]):
            yield Confounder(fact, ", ".join(there), ", ".join(here), workloads)


def _is_recorded(group: _Group) -> str:
    return "recorded" if group else "not recorded"


def _values(fact: str, group: _Group) -> list[str]:
    """Return the distinct values of a fact; unknown values count only if the fact is essential."""
    found: dict[str, None] = {}
    for _, facts in group:
        value = facts.get(fact, if_missing(fact))
        if value is not None:
            found[value] = None
        elif fact in ESSENTIAL:
            found["unknown"] = None
    return list(found)


def _is_declared(fact: str, group: _Group) -> bool:
    if fact == LAYOUT:
        return all(declares_layout(run) for run, _ in group)
    return all(declares_value(run, facts.get(fact) or "") for run, facts in group)
