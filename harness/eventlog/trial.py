"""The events of one trial, summed up; only the tasks of a stage that runs take memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from harness.eventlog.events import (
    Event,
    ExecutorAdded,
    ExecutorRemoved,
    JobEnded,
    JobStarted,
    StageEnded,
    StageKey,
    StageStarted,
    TaskCpus,
    TaskEnded,
    TaskStarted,
    parse,
)
from harness.eventlog.stages import Stages
from harness.eventlog.tasks import TaskSums, divided
from harness.model.task_metrics import TaskMetrics


def task_metrics(lines: Iterable[bytes], slots: Slots) -> TaskMetrics:
    """What the lines of an event log say of all tasks in it.

    `slots` knows the executors that were there before the first line. A log that was cut off, or has
    lines that cannot be read, is used as far as it goes, and the metrics say so.
    """
    fold = TrialAggregator(slots)
    for line in lines:
        try:
            event = parse(line)
        except ValueError:
            fold.unreadable_lines += 1
            continue
        if event is not None:
            fold.add(event)
    return fold.metrics()


class _Jobs:
    """Which jobs run, and from when to when any did."""

    def __init__(self) -> None:
        self.running: set[int] = set()
        self.span_ms = (0, 0)

    def follow(self, event: JobStarted | JobEnded) -> None:
        if isinstance(event, JobStarted):
            self.running.add(event.job)
        elif event.job in self.running:
            self.running.discard(event.job)
        else:
            return
        start_ms, end_ms = self.span_ms if any(self.span_ms) else (event.at_ms, event.at_ms)
        self.span_ms = min(start_ms, event.at_ms), max(end_ms, event.at_ms)


class TrialAggregator:
    """Takes a trial's events one by one, in the order of the log."""

    def __init__(self, slots: Slots) -> None:
        self.unreadable_lines = 0
        self._slots = slots
        self._jobs = _Jobs()
        self._stages = Stages()
        self._running: dict[StageKey, int] = {}
        self._sums = TaskSums()

    def add(self, event: Event) -> None:
        """Count an event in; jobs and stages that began before the first event are another's."""
        match event:
            case ExecutorAdded() | ExecutorRemoved() | TaskCpus():
                self._slots.follow(event)
            case JobStarted() | JobEnded():
                self._jobs.follow(event)
            case StageStarted():
                self._running[event.key] = 0
                self._stages.started(event)
            case StageEnded():
                self._stages.ended(event.key, self._slots.now)
            case TaskStarted():
                if event.key in self._running:
                    self._running[event.key] += 1
            case TaskEnded():
                if event.key in self._running:
                    self._end(event)

    def _end(self, task: TaskEnded) -> None:
        self._running[task.key] -= 1
        parts_ns = dict(divided(task))
        self._sums.add(task, parts_ns)
        self._stages.add(task, parts_ns)

    def metrics(self) -> TaskMetrics:
        """What the events come to. No event can follow."""
        self._stages.all_ended(self._slots.now)
        return TaskMetrics(
            time=self._sums.time(python_is_timed=self._stages.python_is_timed),
            slots=self._slots.mean(*self._jobs.span_ms),
            stragglers=self._stages.stragglers,
            simulation=self._stages.simulation,
            incomplete="; ".join(self._lacking()) or None,
            **self._sums.others(),
        )

    def _lacking(self) -> Iterator[str]:
        tasks = sum(n for n in self._running.values() if n > 0)
        for count, what in (
            (len(self._jobs.running), "jobs without an end"),
            (tasks, "tasks without an end"),
            (self.unreadable_lines, "lines that cannot be read"),
        ):
            if count:
                yield f"{what}: {count:,}"


# MERGED from harness.record.slots: 'How many tasks could run at once, while executors came and went.'
class Slots:
    """The cores of the executors that are there, over what a task occupies."""

    def __init__(self, cores: Mapping[str, int] | None = None, task_cpus: float = 1) -> None:
        self._cores = dict(cores or {})
        self._task_cpus = task_cpus
        self._changes = [(0, self.now)]

    @property
    def now(self) -> int:
        """Slots of the executors that are there now."""
        return sum(int(cores / self._task_cpus) for cores in self._cores.values())

    def follow(self, event: ExecutorAdded | ExecutorRemoved | TaskCpus) -> None:
        """Something changed; events come in the order of their times."""
        match event:
            case ExecutorAdded():
                self._cores[event.executor] = event.cores
                self._changes.append((event.at_ms, self.now))
            case ExecutorRemoved():
                self._cores.pop(event.executor, None)
                self._changes.append((event.at_ms, self.now))
            case TaskCpus():
                self._task_cpus = event.cpus
                self._changes[-1] = (self._changes[-1][0], self.now)

    def mean(self, start_ms: int, end_ms: int) -> float | None:
        """Slots between two times, on average; None if there was none."""
        if start_ms >= end_ms:
            return self.now or None
        available = sum(
            slots * max(0, min(until_ms, end_ms) - max(since_ms, start_ms))
            for (since_ms, slots), (until_ms, _) in pairwise([*self._changes, (end_ms, 0)])
        )
        return available / (end_ms - start_ms) or None
