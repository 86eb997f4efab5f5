"""Confounders: what differs between two configurations besides what was meant to differ."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, starmap

from harness.analysis.compare.answers import different_answers
from harness.analysis.compare.confounder import Confounder, Workloads
from harness.analysis.compare.executions import changed_executions
from harness.analysis.compare.logged import different_dates, different_executions
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns, named_by_runs
from harness.analysis.observed.declared import declares_layout, declares_value
from harness.analysis.observed.environment import (
    ESSENTIAL,
    EXECUTORS,
    LAYOUT,
    FactsByGroup,
    if_missing,
)
from harness.analysis.observed.interference import different_interference
from harness.analysis.observed.sample import measured_trials
from harness.analysis.observed.streams import streams
from harness.base.items import grouped, union, unique
from harness.model.cache import CacheState, cache_text, disk_share, disk_shares
from harness.model.run import PROGRAM, Run, Trial
from harness.work.options import COMPARED, Affected

_CACHE = "cache of the input"
_REQUESTED_CACHE = next(option.fact for option in COMPARED if option.name == "cache")


def confounders(sides: Sides) -> tuple[Confounder, ...]:
    """Return every recorded fact that differs, unless both sides declare the difference.

    An essential fact that only one side recorded counts as different. The cache of the input, and what
    disturbed the trials of both sides, count if they differ by a margin.
    """
    cache = list(_different_cache(sides))
    there = sides.baseline.executors
    here = sides.other.executors
    less_telling: set[str] = set()
    if cache:  # what was measured says more than what was asked for
        less_telling.add(_REQUESTED_CACHE)
    if there and here:
        less_telling.add(EXECUTORS)
    found = [each for each in _different_facts(sides) if each.fact not in less_telling]
    if there and here and set(there) != set(here):
        found.append(Confounder(EXECUTORS, ", ".join(there), ", ".join(here)))
    found += different_answers(sides)
    found += different_dates(sides)
    found += different_executions(sides)
    found += changed_executions(sides)
    disturbed = different_interference(sides.baseline.disturbances, sides.other.disturbances)
    found += starmap(Confounder, disturbed)
    together = _in_streams(sides.descriptions)
    every: list[Confounder] = []
    for each in found + cache:
        affected = each.workloads
        if affected and affected & together:  # what affects one workload of streams affects all
            affected |= together
        every.append(replace(each, workloads=affected))
    return tuple(every)


def _in_streams(runs: Iterable[Run]) -> frozenset[str]:
    """Return the workloads that ran at the same time in several streams, and the name of all together."""
    found = streams(runs)
    return frozenset(chain(found, chain.from_iterable(found.values())))


def _different_cache(sides: Sides) -> Iterator[Confounder]:
    """Yield the workloads that read from disks on one side and from memory on the other, where that is known.

    If they all changed alike, workloads of unknown state are taken to have done so, too.
    """
    there = list(measured_trials(sides.baseline.runs))
    here = list(measured_trials(sides.other.runs))
    by_states = _by_cache_states(there, here)
    for (before, after), names in by_states.items():
        if before is after:
            continue
        then = disk_share(trial for trial in there if trial.workload in names)
        now = disk_share(trial for trial in here if trial.workload in names)
        if then is None or now is None:
            continue
        readers = set(names)
        if len(by_states) == 1:
            readers.update(trial.workload for trial in there + here if trial.input_read_by)
        yield Confounder(_CACHE, cache_text(then), cache_text(now), frozenset(readers))


def _by_cache_states(
    there: Iterable[Trial], here: Iterable[Trial]
) -> dict[tuple[CacheState, CacheState], list[str]]:
    """Return the workloads of known state before and after, by these states."""
    before = disk_shares(there)
    after = disk_shares(here)
    known = [name for name in before if name in after]
    return grouped(known, lambda name: (CacheState.of(before[name]), CacheState.of(after[name])))


_Group = list[tuple[Run, Mapping[str, str | None]]]
"""Runs that recorded anything of a group, with its facts; None: unknown."""


@dataclass(frozen=True)
class _Described:
    """Runs on one side, all of Spark or all of one program, and the facts of each."""

    runs: list[Run] = field(default_factory=list)
    facts: list[FactsByGroup] = field(default_factory=list)

    def group(self, name: str) -> _Group:
        """Return the facts of a group, of each run that recorded any."""
        pairs = zip(self.runs, self.facts, strict=True)
        return [(run, facts[name]) for run, facts in pairs if name in facts]

    @property
    def queries(self) -> frozenset[str]:
        """The names of the user's queries."""
        return frozenset(_names(self.group("queries")))

    def data_readers(self, controls: Collection[str]) -> frozenset[str]:
        """Return the workloads that read the dataset: all but controls if a run does not list them."""
        found: set[str] = set()
        for run in self.runs:
            readers = run.parameters.get("data_workloads")
            if readers is None:
                readers = set(run.workloads).difference(controls)
            found.update(readers)
        return frozenset(found)


def _different_facts(sides: Sides) -> Iterator[Confounder]:
    """Yield the facts that differ between runs of Spark, and between runs of each program.

    Parts that only one side ran are not compared. If all runs are of one kind, facts may affect all
    workloads.
    """
    before = _by_program(sides.baseline)
    after = _by_program(sides.other)
    programs = union([before, after])
    for program in programs:
        if program not in before or program not in after:
            continue
        workloads = _workloads(before[program].runs + after[program].runs)
        for found in _differences(before[program], after[program]):
            if len(programs) > 1 and found.workloads is None:
                yield replace(found, workloads=workloads)
            else:
                yield found


def _by_program(column: ConfigurationRuns) -> dict[str | None, _Described]:
    """Return runs by the name of their program. The key of Spark's runs is None."""
    found: dict[str | None, _Described] = {}
    for run, facts in zip(column.descriptions, column.facts, strict=True):
        own = found.setdefault(run.parameters.get(PROGRAM), _Described())
        own.runs.append(run)
        own.facts.append(facts)
    return found


def _workloads(runs: Iterable[Run]) -> frozenset[str]:
    return frozenset(chain.from_iterable(run.workloads for run in runs))


def _names(group: _Group) -> list[str]:
    """Return the names of all facts of a group."""
    return union(facts for _, facts in group)


def _differences(before: _Described, after: _Described) -> Iterator[Confounder]:
    """Yield the facts that differ, in the order in which they are listed."""
    runs = before.runs + after.runs
    controls = named_by_runs(runs, "controls")
    readers_before = before.data_readers(controls)
    readers_after = after.data_readers(controls)
    reading = readers_before | readers_after | before.queries | after.queries
    together = _in_streams(runs)
    affected: dict[Affected, Workloads] = {
        Affected.ALL: None,
        Affected.READING: reading,
        Affected.COMPUTING: _workloads(runs) - reading - together,
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
    name: str, before: _Described, after: _Described, workloads: Workloads = None
) -> Iterator[Confounder]:
    """Yield each fact of a group that differs; one for the whole group if only one side recorded it.

    The facts affect these workloads.
    """
    first = before.group(name)
    then = after.group(name)
    if bool(first) != bool(then):
        yield Confounder(name, _is_recorded(first), _is_recorded(then), workloads)
        return
    both = first + then
    for fact in _names(both):
        there = _values(fact, first)
        here = _values(fact, then)
        is_different = here and there and set(here) != set(there)
        if is_different and not _is_declared(fact, both):
            yield Confounder(fact, ", ".join(there), ", ".join(here), workloads)


def _is_recorded(group: _Group) -> str:
    return "recorded" if group else "not recorded"


def _values(fact: str, group: _Group) -> list[str]:
    """Return the distinct values of a fact; unknown values count only if the fact is essential."""
    found: list[str] = []
    for _, facts in group:
        value = facts.get(fact, if_missing(fact))
        if value is not None:
            found.append(value)
        elif fact in ESSENTIAL:
            found.append("unknown")
    return unique(found)


def _is_declared(fact: str, group: _Group) -> bool:
    if fact == LAYOUT:
        return all(declares_layout(run) for run, _ in group)
    return all(declares_value(run, facts.get(fact) or "") for run, facts in group)
