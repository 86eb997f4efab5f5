"""The task metrics and the stages of one trial, from its events.

Only running stages take memory, and the times of the first MAX_TIMED_TASKS tasks.
"""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.eventlog.events import (
    Event,
    JobEnded,
    JobStarted,
    Reader,
    StageKey,
    StageStarted,
    TaskEnded,
    TaskStarted,
    as_number,
    parse,
)
from harness.eventlog.executed_plans import (
    DRIVER_COUNTED,
    EXECUTION_ENDED,
    EXECUTION_STARTED,
    PLAN_CHANGED,
    ExecutedPlans,
    NumberedPlans,
)
from harness.eventlog.row_counts import RowCounter, RowCounts
from harness.eventlog.stages import Stages
from harness.eventlog.tasks import TaskSums
from harness.model.plan import Plan
from harness.model.profile import MAX_TIMED_TASKS, TaskSpan
from harness.model.task_metrics import TaskMetrics
from harness.model.timeline import Stage


@dataclass(frozen=True)
class TrialLog:
    """A trial's event log. The times of stages and tasks are since the trial's start.

    `spans` has all tasks but the killed ones. It ends after MAX_TIMED_TASKS + 1, which are too many to be
    recorded. `plans` has the plans of its executions, by their descriptions. `rows` has the rows that Spark
    counted in each execution, in the order of their start, and `executed_s` how long each took.
    """

    metrics: TaskMetrics
    stages: tuple[Stage, ...]
    spans: tuple[TaskSpan, ...]
    plans: Mapping[str, Plan] = field(default_factory=dict)
    rows: Mapping[str, Sequence[RowCounts]] = field(default_factory=dict)
    executed_s: Mapping[str, Sequence[float]] = field(default_factory=dict)


class TrialAggregator:
    """Aggregates a trial's events one by one, in the order of the log."""

    def __init__(self, slots: float | None, start_ms: float = 0) -> None:
        self.unreadable_lines = 0
        self.stages = Stages(start_ms)
        self.spans: list[TaskSpan] = []
        self._submitted_ms: dict[int, int] = {}
        self._start_ms = start_ms
        self._slots = slots
        self._running_jobs: set[int] = set()
        self._running_tasks: dict[StageKey, int] = {}
        self._sums = TaskSums()

    def add(self, event: Event) -> None:
        """Add an event; jobs and stages that started before the first event are not the trial's."""
        # Most events are events of tasks.
        if isinstance(event, TaskEnded):
            if event.key in self._running_tasks:
                self._add_task(event)
        elif isinstance(event, TaskStarted):
            if event.key in self._running_tasks:
                self._running_tasks[event.key] += 1
        elif isinstance(event, JobStarted):
            self._running_jobs.add(event.job)
        elif isinstance(event, JobEnded):
            self._running_jobs.discard(event.job)
        elif isinstance(event, StageStarted):
            self._running_tasks[event.key] = 0
            if event.at_ms is not None:
                submitted_ms = self._since_start_ms(event.at_ms)
                self._submitted_ms.setdefault(event.key.stage, submitted_ms)
            self.stages.started(event)
        else:
            self.stages.ended(event)

    def _add_task(self, task: TaskEnded) -> None:
        self._running_tasks[task.key] -= 1
        self._sums.add(task)
        self.stages.add(task)
        if task.killed or len(self.spans) > MAX_TIMED_TASKS:
            return
        stage = task.key.stage
        launched_ms = self._since_start_ms(task.launched_ms)
        submitted_ms = min(launched_ms, self._submitted_ms.get(stage, launched_ms))
        self.spans.append(
            TaskSpan(
                stage, task.task, submitted_ms, launched_ms, task.duration_ms, task.fetching_ms
            )
        )

    def _since_start_ms(self, at_ms: int) -> int:
        return max(0, round(at_ms - self._start_ms))

    def metrics(self) -> TaskMetrics:
        """Return the metrics of all events. No event can be added afterwards."""
        self.stages.all_ended()
        return TaskMetrics(
            time=self._sums.time(python_is_timed=self.stages.python_is_timed),
            slots=self._slots,
            stragglers=self.stages.stragglers,
            largest_scan_bytes=self.stages.largest_scan_bytes,
            incomplete="; ".join(self._missing()) or None,
            **self._sums.others(),
        )

    def _missing(self) -> Iterator[str]:
        missing = {
            "jobs without an end": len(self._running_jobs),
            "tasks without an end": sum(n for n in self._running_tasks.values() if n > 0),
            "lines that cannot be read": self.unreadable_lines,
        }
        for what, count in missing.items():
            if count:
                yield f"{what}: {count:,}"


def read_log(lines: Iterable[bytes], slots: float | None, start_ms: float = 0) -> TrialLog:
    """Return what an event log has of all tasks and stages.

    `slots` is how many tasks can run in parallel. `start_ms` is the trial's start, in milliseconds since
    1970. If a log is cut off, or has unreadable lines, the rest is used, and `incomplete` says what is
    missing.
    """
    aggregator = TrialAggregator(slots, start_ms)
    executions = _Executions()
    for line in lines:
        try:
            event = parse(line, executions.readers)
        except ValueError:
            aggregator.unreadable_lines += 1
            continue
        if event is not None:
            aggregator.add(event)
    metrics = aggregator.metrics().with_files(executions.files())
    stages = tuple(aggregator.stages.times)
    spans = tuple(aggregator.spans)
    rows = executions.rows.counts()
    return TrialLog(metrics, stages, spans, executions.plans(), rows, executions.executed_s)


class _Executions:
    """The executions of SQL of a trial: those with the same description have one plan."""

    def __init__(self) -> None:
        self._described: dict[str, ExecutedPlans] = {}
        self._numbered = NumberedPlans()
        self._running: dict[int, tuple[str, int]] = {}
        self.rows = RowCounter()
        self.executed_s: dict[str, list[float]] = {}
        self.readers: Mapping[bytes, Reader] = {
            b"SparkListenerTaskEnd": self.rows.task_ended,
            EXECUTION_STARTED: self._started,
            PLAN_CHANGED: self._planned,
            DRIVER_COUNTED: self._counted,
            EXECUTION_ENDED: self._ended,
        }

    def plans(self) -> dict[str, Plan]:
        found: dict[str, Plan] = {}
        for description, executed in self._described.items():
            plan = executed.plan()
            if plan is not None:
                found[description] = plan
        return found

    def files(self) -> Counter[str]:
        found: Counter[str] = Counter()
        for executed in self._described.values():
            found.update(executed.files())
        return found

    def _started(self, event: Any) -> None:
        description = str(event.get("description") or "")
        self._numbered.started(event, self._described.setdefault(description, ExecutedPlans()))
        self.rows.started(event, description)
        self._running[as_number(event["executionId"])] = (description, as_number(event["time"]))

    def _planned(self, event: Any) -> None:
        self._numbered.planned(event)
        self.rows.executed.planned(event)

    def _counted(self, event: Any) -> None:
        self._numbered.counted(event)
        self.rows.executed.counted(event)

    def _ended(self, event: Any) -> None:
        running = self._running.pop(as_number(event["executionId"]), None)
        if running is not None:
            description, started_ms = running
            took_ms = max(0, as_number(event["time"]) - started_ms)
            self.executed_s.setdefault(description, []).append(took_ms / 1e3)
