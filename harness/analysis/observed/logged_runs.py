"""The runs that event logs describe, with names that configurations have in common."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from harness.analysis.observed.matched_names import Matched, NamesOfRun, in_several, matched
from harness.base.words import join_names
from harness.eventlog.application import Application
from harness.eventlog.names import Described
from harness.model.run import RecordedRun, Status
from harness.records.event_logs import Logs, read_logs
from harness.records.log_choice import EVERYTHING, Choice


@dataclass(frozen=True)
class LoggedRuns:
    """The runs of a configuration; `notes` are lines that a reader must know.

    `alone` are the names of workloads that no other configuration has; these are no longer in the runs.
    """

    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoggedSide:
    """A configuration: a name, and the event logs at a place that are chosen.

    `differing` is what a user says differs each time in names.
    """

    name: str
    place: str
    choice: Choice = EVERYTHING
    differing: re.Pattern[str] | None = None


def logged_runs(sides: Sequence[LoggedSide]) -> list[LoggedRuns]:
    """Return the runs whose event logs each side denotes. Raise BadInput like `read_logs`."""
    logs = [read_logs(side.place, side.choice, side.differing) for side in sides]
    of_logs = [[each.application for each in one.applications] for one in logs]
    about = [[{each.name: each.about} for each in own] for own in of_logs]
    applications = matched(about)
    prefixes = _prefixes(
        chain.from_iterable(of_logs), applications, matched(_without_tables(about))
    )
    taken = {applications.common_name(each.name) for each in chain.from_iterable(of_logs)}
    described = [[_executions(each, prefixes) for each in own] for own in of_logs]
    executions = matched(described, taken)
    columns = [
        _recorded(side.name, one, applications, prefixes, executions)
        for side, one in zip(sides, logs, strict=True)
    ]
    return _without_those_alone(columns)


def _without_tables(columns: Sequence[Sequence[NamesOfRun]]) -> list[list[NamesOfRun]]:
    """Return the names as if the plans told no tables."""
    return [
        [{name: Described(each.steps) for name, each in run.items()} for run in runs]
        for runs in columns
    ]


def _prefixes(
    every: Iterable[Application], applications: Matched, by_name: Matched
) -> dict[str, str]:
    """Return the beginning of the names of each application's executions.

    It is empty if all applications have one name. Applications that are matched `by_name` alone may have
    executions in common, though as a whole they do other work.
    """
    shown: dict[str, str] = {}
    for each in every:
        shown[each.name] = applications.common.get(each.name) or by_name.common_name(each.name)
    if len(set(shown.values())) == 1:
        return dict.fromkeys(shown, "")
    return {name: f"{common}: " for name, common in shown.items()}


def _executions(application: Application, prefixes: dict[str, str]) -> NamesOfRun:
    """Return the executions of an application, by their names with its prefix."""
    prefix = prefixes[application.name]
    found: dict[str, Described] = {}
    for name, described in application.described.items():
        steps = [step._replace(text=prefix + step.text) for step in described.steps]
        found[prefix + name] = Described(tuple(steps), described.tables)
    return found


def _recorded(
    name: str, logs: Logs, applications: Matched, prefixes: dict[str, str], executions: Matched
) -> LoggedRuns:
    runs: list[RecordedRun] = []
    for one in logs.applications:
        application = one.application
        shown = {application.name: applications.common_name(application.name)}
        for own in application.described:
            shown[own] = executions.common_name(prefixes[application.name] + own)
        runs.append(application.recorded(name, logs.whole_path(one.source), shown))
    return LoggedRuns(tuple(runs), (*logs.notes, *applications.lines(), *executions.lines()))


def _without_those_alone(columns: Sequence[LoggedRuns]) -> list[LoggedRuns]:
    """Leave out the workloads that one configuration alone has, unless one failed, and name them in a note.

    A configuration that has nothing in common with another stays as it is.
    """
    common = in_several([_workloads(column) for column in columns])
    reduced: list[LoggedRuns] = []
    for column in columns:
        is_comparable = not common.isdisjoint(_workloads(column))
        reduced.append(_reduced(column, common) if is_comparable else column)
    return reduced


def _workloads(column: LoggedRuns) -> list[str]:
    workloads = chain.from_iterable(recorded.run.workloads for recorded in column.runs)
    return list(dict.fromkeys(workloads))


def _reduced(column: LoggedRuns, common: Collection[str]) -> LoggedRuns:
    failed: set[str] = set()
    for recorded in column.runs:
        failed.update(t.workload for t in recorded.trials if t.status is Status.FAILED)
    alone = [name for name in _workloads(column) if name not in common and name not in failed]
    if not alone:
        return column
    runs: list[RecordedRun] = []
    for recorded in column.runs:
        reduced = _without(recorded, set(alone))
        if reduced.run.workloads:
            runs.append(reduced)
    note = f"not matched, on this side alone, and so not compared: {join_names(alone)}"
    return LoggedRuns(tuple(runs), (*column.notes, note), tuple(alone))


def _without(recorded: RecordedRun, names: Collection[str]) -> RecordedRun:
    kept = tuple(name for name in recorded.run.workloads if name not in names)
    trials = tuple(trial for trial in recorded.trials if trial.workload not in names)
    return replace(recorded, run=replace(recorded.run, workloads=kept), trials=trials)
