"""Event logs that clusters keep, and the trials that are told in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from harness.analysis.attribution.compressed import chunks
from harness.analysis.column import Column
from harness.errors import BadInput
from harness.metrics import TaskMetrics
from harness.model import RecordedRun, Trial
from harness.record.slots import Slots
from harness.record.spark_events import (
    Event,
    ExecutorAdded,
    ExecutorRemoved,
    JobEnded,
    JobStarted,
    TaskCpus,
    parse,
)
from harness.record.task_fold import TaskFold

ROLLED = "eventlog_v2_"
_PART = re.compile(r"events_(\d+)_")
_COMPACTED = ".compact"


def with_event_logs(column: Column, directory: Path) -> Column:
    """The column with metrics for the trials that have none, from their application's event log.

    `directory` is that of `spark.eventLog.dir`, or a copy. Raises BadInput where a log lacks or
    cannot be read.
    """
    return replace(column, runs=tuple(_with_event_log(one, directory) for one in column.runs))


def _with_event_log(recorded: RecordedRun, directory: Path) -> RecordedRun:
    groups = {trial.job_group for trial in recorded.trials if _lacks_metrics(trial)}
    if not groups:
        return recorded
    application = recorded.run.environment.get("application")
    files = event_log_files(directory, str(application))
    if not files:
        raise BadInput(
            f"--event-logs: {directory} holds no event log of application {application}, "
            f"run {recorded.run.id}"
        )
    found = metrics_by_group(lines(files), groups)
    return replace(recorded, trials=tuple(_told(trial, found) for trial in recorded.trials))


def _lacks_metrics(trial: Trial) -> bool:
    return trial.tasks is None and trial.wall_s is not None and trial.job_group is not None


def _told(trial: Trial, found: Mapping[str | None, TaskMetrics]) -> Trial:
    if not _lacks_metrics(trial):
        return trial
    return replace(trial, tasks=found.get(trial.job_group))


def event_log_files(directory: Path, application: str) -> list[Path]:
    """The files of an application's log in their order, rolled or single; none if there is no log.

    Names are Spark's: `<application>[_<attempt>][.<codec>][.inprogress]`, and of a rolled log the
    directory `eventlog_v2_<application>[_<attempt>]`; of several attempts it is the last.
    """
    own = re.compile(rf"({ROLLED})?{re.escape(application)}(_(\d+))?(\.\w+)*")
    try:
        logs = [(one, match) for one in directory.iterdir() if (match := own.fullmatch(one.name))]
        if not logs:
            return []
        last, _ = max(logs, key=lambda log: int(log[1][3] or 0))
        return _parts(last) if last.is_dir() else [last]
    except OSError as error:
        raise BadInput(f"--event-logs: cannot read {directory}: {error.strerror}") from error


def _parts(rolled: Path) -> list[Path]:
    """By their number; one that is compacted stands for all up to it, of which it keeps a little."""
    numbered = {
        (int(match[1]), file.name.endswith(_COMPACTED)): file
        for file in rolled.iterdir()
        if (match := _PART.match(file.name))
    }
    first = max((number for number in numbered if number[1]), default=(0, False))
    return [numbered[number] for number in sorted(numbered) if number >= first]


def lines(files: Sequence[Path]) -> Iterator[bytes]:
    """The lines of files, with their ends; a last one without is what a file that was cut off has."""
    for file in files:
        rest = b""
        for chunk in chunks(file):
            *whole, rest = (rest + chunk).split(b"\n")
            for line in whole:
                yield line + b"\n"
        if rest:
            yield rest


def metrics_by_group(
    log: Iterable[bytes], groups: Iterable[str | None]
) -> Mapping[str | None, TaskMetrics]:
    """What tasks did in each of these job groups, as far as it is in the log.

    A trial's jobs have its group, also those that broadcasts start in threads of their own. A line
    that cannot be read may be of any of them, so every one is told of it.
    """
    slots = Slots()
    folds = {group: TaskFold(slots) for group in groups}
    split = _Split(slots, folds)
    unreadable = 0
    for line in log:
        try:
            event = parse(line)
        except ValueError:
            unreadable += 1
            continue
        if event is not None:
            split.add(event)
    for fold in folds.values():
        fold.unreadable_lines = unreadable
    return {group: folds[group].metrics() for group in split.seen}


class _Split:
    """Passes each event on to the trial that it is of."""

    def __init__(self, slots: Slots, folds: Mapping[str | None, TaskFold]) -> None:
        self.seen: set[str | None] = set()
        self._slots = slots
        self._folds = folds
        self._jobs: dict[int, TaskFold] = {}
        self._stages: dict[int, TaskFold] = {}

    def add(self, event: Event) -> None:
        match event:
            case ExecutorAdded() | ExecutorRemoved() | TaskCpus():
                self._slots.follow(event)
                fold = None
            case JobStarted():
                fold = self._started(event)
            case JobEnded():
                fold = self._jobs.get(event.job)
            case _:
                fold = self._stages.get(event.key.stage)
        if fold is not None:
            fold.add(event)

    def _started(self, job: JobStarted) -> TaskFold | None:
        if job.group not in self._folds:
            return None
        self.seen.add(job.group)
        fold = self._folds[job.group]
        self._jobs[job.job] = fold
        self._stages |= dict.fromkeys(job.stages, fold)
        return fold
