"""The runs that event logs describe, with names that configurations have in common."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.matched_names import Matched, NamesOfRun, in_several, matched
from harness.base.words import join_names
from harness.eventlog.application import Application, application_of
from harness.eventlog.names import Described
from harness.model.run import RecordedRun, Status
from harness.records.event_logs import Logs, read_logs
from harness.records.log_choice import EVERYTHING, Choice


@dataclass(frozen=True)
class LoggedSide:
    """A configuration: a name, and the event logs at a place that are chosen.

    `differing` is what a user says differs each time in names.
    """

    name: str
    place: str
    choice: Choice = EVERYTHING
    differing: re.Pattern[str] | None = None


def logged_runs(sides: Sequence[LoggedSide]) -> list[ConfigurationRuns]:
    """Return the configurations whose event logs the sides denote. Raise BadInput like `read_logs`."""
    logs = [read_logs(side.place, side.choice, side.differing) for side in sides]
    about = list(_names(logs, _application_itself))
    applications = matched(about)
    names = list(chain.from_iterable(chain.from_iterable(about)))
    prefixes = _prefixes(names, applications, matched(_without_tables(about)))
    taken = set(map(applications.common_name, names))
    executions = matched(list(_names(logs, partial(_executions, prefixes))), taken)
    columns: list[ConfigurationRuns] = []
    for side, own in zip(sides, logs, strict=True):
        columns.append(_recorded(side.name, own, applications, prefixes, executions))
    return _without_those_alone(columns)


def _names(
    logs: Sequence[Logs], of_application: Callable[[Application], NamesOfRun]
) -> Iterator[list[NamesOfRun]]:
    """Yield for each side the names that a function returns of its applications."""
    for own in logs:
        yield [of_application(each.application) for each in own.applications]


def _application_itself(application: Application) -> NamesOfRun:
    return {application.name: application.about}


def _without_tables(sides: Sequence[Sequence[NamesOfRun]]) -> list[list[NamesOfRun]]:
    """Return the names of applications as if the plans told no tables."""
    found: list[list[NamesOfRun]] = []
    for applications in sides:
        own: list[NamesOfRun] = []
        for about in applications:
            [(name, described)] = about.items()
            own.append({name: Described(described.steps)})
        found.append(own)
    return found


def _prefixes(names: Iterable[str], applications: Matched, by_name: Matched) -> dict[str, str]:
    """Return the beginning of the names of each application's executions.

    It is empty if all applications have one name. Applications that are matched `by_name` alone may have
    executions in common, though as a whole they do other work.
    """
    prefixes: dict[str, str] = {}
    for name in names:
        common = applications.common.get(name) or by_name.common_name(name)
        prefixes[name] = f"{common}: "
    if len(set(prefixes.values())) == 1:
        return dict.fromkeys(prefixes, "")
    return prefixes


def _executions(prefixes: Mapping[str, str], application: Application) -> NamesOfRun:
    """Return the executions of an application, by their names with its prefix."""
    prefix = prefixes[application.name]
    found: dict[str, Described] = {}
    for name, described in application.described.items():
        steps = [step._replace(text=prefix + step.text) for step in described.steps]
        found[prefix + name] = Described(tuple(steps), described.tables)
    return found


def _recorded(
    name: str, logs: Logs, applications: Matched, prefixes: dict[str, str], executions: Matched
) -> ConfigurationRuns:
    """Return the runs of one side, with the common names of their workloads."""
    runs: list[RecordedRun] = []
    for one in logs.applications:
        application = one.application
        shown = {application.name: applications.common_name(application.name)}
        for own in application.described:
            shown[own] = executions.common_name(prefixes[application.name] + own)
        runs.append(application.recorded(name, logs.whole_path(one.source), shown))
    notes = [*logs.notes, *applications.lines(), *executions.lines()]
    return ConfigurationRuns(name, tuple(runs), tuple(notes))


def _without_those_alone(columns: Sequence[ConfigurationRuns]) -> list[ConfigurationRuns]:
    """Leave out the workloads that one configuration alone has, unless one failed, and name them in a note.

    A configuration that has nothing in common with another stays as it is.
    """
    common = in_several(column.workloads for column in columns)
    reduced: list[ConfigurationRuns] = []
    for column in columns:
        is_comparable = not common.isdisjoint(column.workloads)
        reduced.append(_reduced(column, common) if is_comparable else column)
    return reduced


def _reduced(column: ConfigurationRuns, common: Iterable[str]) -> ConfigurationRuns:
    """Return a side without the workloads that are not common and did not fail."""
    kept = set(common)
    for recorded in column.runs:
        for trial in recorded.trials:
            if trial.status is Status.FAILED:
                kept.add(trial.workload)
    alone = [name for name in column.workloads if name not in kept]
    if not alone:
        return column
    runs: list[RecordedRun] = []
    for recorded in column.runs:
        reduced = _without(recorded, set(alone))
        if reduced.run.workloads:
            runs.append(reduced)
    note = f"not matched, on this side alone, and so not compared: {join_names(alone)}"
    applications: dict[str, str] = {}
    for recorded in column.runs:
        application = application_of(recorded.run) or ""
        applications.update(dict.fromkeys(recorded.run.workloads, application))
    of_alone = {name: applications[name] for name in alone}
    return replace(column, runs=tuple(runs), notes=(*column.notes, note), alone=of_alone)


def _without(recorded: RecordedRun, names: Collection[str]) -> RecordedRun:
    kept = tuple(name for name in recorded.run.workloads if name not in names)
    trials = tuple(trial for trial in recorded.trials if trial.workload not in names)
    return replace(recorded, run=replace(recorded.run, workloads=kept), trials=trials)
