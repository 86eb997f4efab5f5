"""The runs that event logs describe, with names that configurations have in common."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis.observed.matched_names import Matched, NamesOfRun, in_several, matched
from harness.base.words import join_names
from harness.eventlog.application import Application, Described
from harness.eventlog.passing_words import Step
from harness.model.run import RecordedRun, Status
from harness.records.event_logs import Logs, read_logs


@dataclass(frozen=True)
class LoggedRuns:
    """The runs of a configuration; `notes` are lines that a reader must know.

    `alone` are the names of workloads that no other configuration has; these are no longer in the runs.
    """

    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()


def logged_runs(paths: Sequence[Path]) -> list[LoggedRuns]:
    """Return the runs whose event logs each path denotes. Raise BadInput like `read_logs`."""
    logs = list(map(read_logs, paths))
    applications = _matched_applications(logs)
    prefixes = _prefixes(logs, applications)
    executions = matched(
        [[_executions(each, prefixes) for each in _applications(one)] for one in logs]
    )
    columns = [_recorded(one, applications, prefixes, executions) for one in logs]
    return _without_those_alone(columns)


def _applications(logs: Logs) -> list[Application]:
    return [each.application for each in logs.applications]


def _matched_applications(logs: Sequence[Logs]) -> Matched:
    return matched([[{each.name: each.about} for each in _applications(one)] for one in logs])


def _prefixes(logs: Sequence[Logs], applications: Matched) -> dict[str, str]:
    """Return what begins the names of each application's executions: nothing if all have one name."""
    names = {each.name for one in logs for each in _applications(one)}
    shown = {name: applications.common.get(name, name) for name in names}
    is_alone = len(set(shown.values())) == 1
    return {name: "" if is_alone else f"{common}: " for name, common in shown.items()}


def _executions(application: Application, prefixes: dict[str, str]) -> NamesOfRun:
    prefix = prefixes[application.name]
    return {
        prefix + name: Described(
            tuple(Step(prefix + step.text, step.kinds) for step in described.steps),
            described.tables,
        )
        for name, described in application.described.items()
    }


def _recorded(
    logs: Logs, applications: Matched, prefixes: dict[str, str], executions: Matched
) -> LoggedRuns:
    runs: list[RecordedRun] = []
    for one in logs.applications:
        application = one.application
        shown = {application.name: applications.common.get(application.name, application.name)}
        for name in application.described:
            full = prefixes[application.name] + name
            shown[name] = executions.common.get(full, full)
        runs.append(application.recorded(str(logs.path), str(one.source), shown))
    return LoggedRuns(tuple(runs), (*logs.notes, *applications.lines(), *executions.lines()))


def _without_those_alone(columns: Sequence[LoggedRuns]) -> list[LoggedRuns]:
    """Leave out the workloads that one configuration alone has, unless one failed, and name them in a note.

    A configuration that has nothing in common with another stays as it is.
    """
    names = [_workloads(column) for column in columns]
    common = in_several(names)
    return [
        _reduced(column, common) if common.intersection(own) else column
        for column, own in zip(columns, names, strict=True)
    ]


def _workloads(column: LoggedRuns) -> set[str]:
    return {name for recorded in column.runs for name in recorded.run.workloads}


def _reduced(column: LoggedRuns, common: Collection[str]) -> LoggedRuns:
    failed = {
        trial.workload
        for recorded in column.runs
        for trial in recorded.trials
        if trial.status is Status.FAILED
    }
    alone = [
        name
        for name in dict.fromkeys(name for each in column.runs for name in each.run.workloads)
        if name not in common and name not in failed
    ]
    if not alone:
        return column
    runs = [_without(recorded, set(alone)) for recorded in column.runs]
    note = f"not matched, on this side alone, and so not compared: {join_names(alone)}"
    return LoggedRuns(
        tuple(each for each in runs if each.run.workloads), (*column.notes, note), tuple(alone)
    )


def _without(recorded: RecordedRun, names: Collection[str]) -> RecordedRun:
    kept = tuple(name for name in recorded.run.workloads if name not in names)
    trials = tuple(trial for trial in recorded.trials if trial.workload not in names)
    return replace(recorded, run=replace(recorded.run, workloads=kept), trials=trials)
