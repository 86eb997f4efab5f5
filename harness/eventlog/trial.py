"""The task metrics and the stages of one trial, from its events.

Only running stages take memory, and the times of the first MAX_TIMED_TASKS tasks.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
from harness.eventlog.tasks import TaskSums
from harness.model.profile import MAX_TIMED_TASKS, TaskSpan
from harness.model.task_metrics import TaskMetrics
from harness.model.timeline import Stage


@dataclass(frozen=True)
class TrialLog:
    """A trial's event log; the times of stages and tasks are since the trial's start.

    `spans` has all tasks but the killed ones. It ends after MAX_TIMED_TASKS + 1, which are too many to be
    recorded.
    """

    metrics: TaskMetrics
    stages: tuple[Stage, ...]
    spans: tuple[TaskSpan, ...]


class Slots:
    """How many tasks can run in parallel, while executors come and go.

    `cores` has the cores of each executor at the start, by its id; a task occupies `task_cpus`.
    """

    def __init__(self, cores: Mapping[str, int] | None = None, task_cpus: float = 1) -> None:
        self._cores = dict(cores or {})
        self._task_cpus = task_cpus
        self._changes = [(0, self.now)]

    @property
    def now(self) -> int:
        """The slots of the present executors."""
        return sum(int(cores / self._task_cpus) for cores in self._cores.values())

    def follow(self, event: ExecutorAdded | ExecutorRemoved | TaskCpus) -> None:
        """Apply a change; events come in the order of their times."""
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
        """Return the average slots between two times; None if there were none."""
        if start_ms >= end_ms:
            return self.now or None
        available = sum(
            slots * max(0, min(until_ms, end_ms) - max(since_ms, start_ms))
            for (since_ms, slots), (until_ms, _) in pairwise([*self._changes, (end_ms, 0)])
        )
        return available / (end_ms - start_ms) or None


class _Jobs:
    """The jobs that run, and the time from the first job's start to the last one's end."""

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
    """Aggregates a trial's events one by one, in the order of the log."""

    def __init__(self, slots: Slots, start_ms: float = 0) -> None:
        self.unreadable_lines = 0
        self.stages = Stages(start_ms)
        self.spans: list[TaskSpan] = []
        self._submitted_ms: dict[int, int] = {}
        self._start_ms = start_ms
        self._slots = slots
        self._jobs = _Jobs()
        self._running_tasks: dict[StageKey, int] = {}
        self._sums = TaskSums()

    def add(self, event: Event) -> None:
        """Add an event; jobs and stages that started before the first event are not the trial's."""
        match event:
            case ExecutorAdded() | ExecutorRemoved() | TaskCpus():
                self._slots.follow(event)
            case JobStarted() | JobEnded():
                self._jobs.follow(event)
            case StageStarted():
                self._running_tasks[event.key] = 0
                if event.at_ms is not None:
                    self._submitted_ms.setdefault(
                        event.key.stage, self._since_start_ms(event.at_ms)
                    )
                self.stages.started(event)
            case StageEnded():
                self.stages.ended(event)
            case TaskStarted():
                if event.key in self._running_tasks:
                    self._running_tasks[event.key] += 1
            case TaskEnded():
                if event.key in self._running_tasks:
                    self._add_task(event)

    def _add_task(self, task: TaskEnded) -> None:
        self._running_tasks[task.key] -= 1
        self._sums.add(task)
        self.stages.add(task)
        if not task.killed and len(self.spans) <= MAX_TIMED_TASKS:
            launched_ms = self._since_start_ms(task.launched_ms)
            self.spans.append(
                TaskSpan(
                    task.key.stage,
                    task.task,
                    min(launched_ms, self._submitted_ms.get(task.key.stage, launched_ms)),
                    launched_ms,
                    task.duration_ms,
                    task.fetching_ms,
                )
            )

    def _since_start_ms(self, at_ms: int) -> int:
        return max(0, round(at_ms - self._start_ms))

    def metrics(self) -> TaskMetrics:
        """Return the metrics of all events. No event can be added afterwards."""
        self.stages.all_ended()
        return TaskMetrics(
            time=self._sums.time(python_is_timed=self.stages.python_is_timed),
            slots=self._slots.mean(*self._jobs.span_ms),
            stragglers=self.stages.stragglers,
            incomplete="; ".join(self._missing()) or None,
            **self._sums.others(),
        )

    def _missing(self) -> Iterator[str]:
        tasks = sum(n for n in self._running_tasks.values() if n > 0)
        for count, what in (
            (len(self._jobs.running), "jobs without an end"),
            (tasks, "tasks without an end"),
            (self.unreadable_lines, "lines that cannot be read"),
        ):
            if count:
                yield f"{what}: {count:,}"


def read_log(lines: Iterable[bytes], slots: Slots, start_ms: float = 0) -> TrialLog:
    """Return what an event log has of all tasks and stages.

    `slots` knows the executors that were there before the first line; `start_ms` is the trial's start, in
    milliseconds since 1970. Of a log that is cut off, or has unreadable lines, the rest is used, and
    `incomplete` says what is missing.
    """
    aggregator = TrialAggregator(slots, start_ms)
    for line in lines:
        try:
            event = parse(line)
        except ValueError:
            aggregator.unreadable_lines += 1
            continue
        if event is not None:
            aggregator.add(event)
    return TrialLog(aggregator.metrics(), tuple(aggregator.stages.times), tuple(aggregator.spans))
