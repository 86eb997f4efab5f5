"""Confounders: what differs between two configurations besides what was meant to differ."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from harness.analysis.compare.answers import different_answers
from harness.analysis.compare.logged import different_logs
from harness.analysis.observed.declared import declares_layout, declares_value
from harness.analysis.observed.environment import (
    ESSENTIAL,
    LAYOUT,
    as_text,
    client_facts,
    compared_facts,
    content,
    dataset_facts,
    if_missing,
    parameter_facts,
    query_facts,
    table_facts,
)
from harness.analysis.observed.interference import different_interference
from harness.analysis.observed.sample import measured_trials
from harness.base.words import shorten
from harness.model.cache import CacheState, cache_text, disk_share
from harness.model.run import PROGRAM, Facts, RecordedRun, Run
from harness.work.options import COMPARED, Affected

MAX_VALUE_LENGTH = 80
"""Characters of a value in a line; class paths are longer."""

_REQUESTED_CACHE = next(option.fact for option in COMPARED if option.name == "cache")

Workloads = frozenset[str] | None
"""Names of workloads; None: all workloads."""


@dataclass(frozen=True)
class Confounder:
    """A fact that differs from the baseline; a side whose runs differ has several values in its text.

    `workloads` are those whose times the fact may affect.
    """

    fact: str
    before: str
    after: str
    workloads: Workloads = None

    def may_affect(self, workload: str) -> bool:
        """Whether the fact may explain this workload's change."""
        return self.workloads is None or workload in self.workloads

    def describe(self, baseline: str) -> str:
        """Return a line for the column that is compared with the baseline of this name."""
        before, after = (shorten(text, MAX_VALUE_LENGTH) for text in (self.before, self.after))
        return f"{self.fact}: {after} here, {before} in {baseline}"


def confounders(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> tuple[Confounder, ...]:
    """Return every recorded fact that differs, unless both sides declare the difference.

    What disturbed the trials of both sides counts if it differs by a margin, and so does the cache of input.

    An essential fact that only one side recorded counts as different.
    """
    before, after = _runs(baseline), _runs(other)
    facts = [found for side in _by_program(before, after) for found in _differences(*side)]
    cache = list(_different_cache(baseline, other))
    if cache:  # what was measured says more than what was asked for
        facts = [each for each in facts if each.fact != _REQUESTED_CACHE]
    answers = (
        Confounder(f"answer of {name}", before, after, frozenset({name}))
        for name, before, after in different_answers(baseline, other)
    )
    disturbed = (Confounder(*each) for each in different_interference(baseline, other))
    logged = (Confounder(*each) for each in different_logs(baseline, other))
    found = (*facts, *answers, *logged, *disturbed, *cache)
    together = _in_streams([*before, *after])
    return tuple(
        replace(each, workloads=each.workloads | together)
        if each.workloads and each.workloads & together
        else each
        for each in found
    )


def _in_streams(runs: Sequence[Run]) -> frozenset[str]:
    """Return what ran at the same time in several streams: what affects one of these affects all."""
    own = [(run.parameters.get("in_streams") or (), run.workloads[:1]) for run in runs]
    return frozenset(name for parts, whole in own if parts for name in (*whole, *parts))


def _different_cache(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> Iterator[Confounder]:
    """Yield that one side read from disks and the other from memory, if that was measured."""
    trials = [list(measured_trials(side)) for side in (baseline, other)]
    before, after = map(disk_share, trials)
    if before is None or after is None or CacheState.of(before) is CacheState.of(after):
        return
    readers = frozenset(each.workload for side in trials for each in side if each.input_read_by)
    yield Confounder("cache of the input", cache_text(before), cache_text(after), readers)


def different_data(baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]) -> str | None:
    """Describe the data of each side if both are known and differ; else return None."""
    before, after = (
        list(dict.fromkeys(filter(None, map(content, _runs(runs))))) for runs in (baseline, other)
    )
    if not before or not after or set(before) == set(after):
        return None
    return f"{', '.join(before)} and {', '.join(after)}"


def _by_program(
    before: Sequence[Run], after: Sequence[Run]
) -> Iterator[tuple[Sequence[Run], Sequence[Run], Workloads]]:
    """Yield the runs of either side of Spark, and of each program, with their workloads.

    What only one side ran is not compared. If all runs are of one kind, facts may affect all workloads.
    """
    kinds = list(dict.fromkeys(run.parameters.get(PROGRAM) for run in (*before, *after)))
    for kind in kinds:
        first, then = (
            [run for run in side if run.parameters.get(PROGRAM) == kind] for side in (before, after)
        )
        if len(kinds) == 1:
            yield first, then, None
        elif first and then:
            yield first, then, frozenset(name for run in (*first, *then) for name in run.workloads)


def _differences(
    before: Sequence[Run], after: Sequence[Run], workloads: Workloads
) -> Iterator[Confounder]:
    for found in _different_facts(before, after):
        yield replace(found, workloads=workloads) if found.workloads is None else found


def _runs(recorded_runs: Sequence[RecordedRun]) -> list[Run]:
    return [recorded.run for recorded in recorded_runs]


def _different_facts(before: Sequence[Run], after: Sequence[Run]) -> Iterator[Confounder]:
    """Yield the facts that differ, in the order in which they are listed."""
    runs = [*before, *after]
    names = {name for run in runs for name in run.workloads}
    controls = {name for run in runs for name in run.parameters.get("controls") or ()}
    readers = _data_readers(before, controls), _data_readers(after, controls)
    together = _in_streams(runs)
    reading = frozenset().union(*readers, *map(query_facts, runs))
    affected: dict[Affected, Workloads] = {
        Affected.ALL: None,
        Affected.READING: reading,
        Affected.COMPUTING: frozenset(names - reading - together),
        Affected.IN_STREAMS: together,
        Affected.REPARTITION: frozenset({"repartition"}),
    }
    workloads_of_fact = {option.fact: affected[option.affected] for option in COMPARED}
    for found in _of_group("parameters", parameter_facts, before, after):
        yield replace(found, workloads=workloads_of_fact.get(found.fact))
    if readers_on_both_sides := readers[0] & readers[1]:
        of_data = list(_of_group("dataset", dataset_facts, before, after))
        if all(any(map(client_facts, side)) for side in (before, after)):
            of_data += _of_group("client", client_facts, before, after)
        yield from (replace(found, workloads=readers_on_both_sides) for found in of_data)
    yield from _different_queries(before, after)
    yield from _of_group("environment", compared_facts, before, after)


def _different_queries(before: Sequence[Run], after: Sequence[Run]) -> Iterator[Confounder]:
    """Yield what differs in the texts of queries that both sides ran, and in the tables that they read."""
    first, then = (
        frozenset(chain.from_iterable(map(query_facts, side))) for side in (before, after)
    )
    if not first & then:
        return
    for found in _of_group("queries", query_facts, before, after):
        yield replace(found, fact=f"text of {found.fact}", workloads=frozenset({found.fact}))
    for found in _of_group("tables", table_facts, before, after):
        yield replace(found, workloads=first & then)


def _data_readers(runs: Sequence[Run], controls: Collection[str]) -> frozenset[str]:
    """Return the workloads that read the dataset; a run that does not list them: all but controls."""
    return frozenset(
        name
        for run in runs
        for name in run.parameters.get("data_workloads", set(run.workloads).difference(controls))
    )


Observed = Sequence[tuple[Run, Mapping[str, str | None]]]
"""Runs of one side that recorded anything of a group, with values by fact; None: unknown."""


def _of_group(
    name: str, read: Callable[[Run], Facts], before: Sequence[Run], after: Sequence[Run]
) -> Iterator[Confounder]:
    """Yield each of the facts that differs; one for the whole group if only one side recorded it."""
    first, then = _observed(read, before), _observed(read, after)
    if first and then:
        for fact in dict.fromkeys(name for _, facts in (*first, *then) for name in facts):
            there, here = _values(fact, first), _values(fact, then)
            is_different = here and there and set(here) != set(there)
            if is_different and not _is_declared(fact, [*first, *then]):
                yield Confounder(fact, ", ".join(there), ", ".join(here))
    elif first or then:
        old, new = ("recorded" if side else "not recorded" for side in (first, then))
        yield Confounder(name, old, new)


def _observed(read: Callable[[Run], Facts], runs: Sequence[Run]) -> Observed:
    return [
        (run, {name: as_text(value) for name, value in facts.items()})
        for run in runs
        if (facts := read(run))
    ]


def _values(fact: str, side: Observed) -> list[str]:
    """Return the distinct values of a fact; unknown values count only if the fact is essential."""
    values = dict.fromkeys(facts.get(fact, if_missing(fact)) for _, facts in side)
    return [
        "unknown" if value is None else value
        for value in values
        if value is not None or fact in ESSENTIAL
    ]


def _is_declared(fact: str, observed: Observed) -> bool:
    if fact == LAYOUT:
        return all(declares_layout(run) for run, _ in observed)
    return all(declares_value(run, facts.get(fact) or "") for run, facts in observed)
