"""The stages of a trial: when each ran, and what its tasks did."""

from __future__ import annotations  # for Python 3.8

from array import array
from collections.abc import Callable, Mapping
from statistics import median

from harness.eventlog.events import StageEnded, StageKey, StageStarted, TaskCounters, TaskEnded
from harness.model.task_metrics import Stragglers
from harness.model.timeline import Stage

_WORK: Mapping[str, Callable[[TaskCounters], int]] = {
    "reads data": lambda counters: counters.input_bytes,
    "reads shuffle": lambda counters: counters.shuffle_local_bytes + counters.shuffle_remote_bytes,
    "writes data": lambda counters: counters.output_bytes,
    "writes shuffle": lambda counters: counters.shuffle_written_bytes,
}
"""The work of a stage, by what counts its bytes."""
_NO_WORK = "computes"


class Stages:
    """All stages of a trial. Several may run at the same time.

    `times` has the stages that ended, in seconds since `start_ms`, if their times are in the log.
    `largest_scan_bytes` is the input of the stage that read most of all. `python_is_timed` is false if a
    stage that ran Python has no metric of its time. `stragglers` are the stragglers of the stage whose
    longest task exceeds the median by most.
    """

    def __init__(self, start_ms: float = 0) -> None:
        self.times: list[Stage] = []
        self.largest_scan_bytes = 0
        self.python_is_timed = True
        self.stragglers: Stragglers | None = None
        self._start_ms = start_ms
        self._running: dict[StageKey, _RunningStage] = {}

    def started(self, event: StageStarted) -> None:
        """Expect a stage's tasks."""
        self._running[event.key] = _RunningStage(event)

    def add(self, task: TaskEnded) -> None:
        """Add a task, unless its stage has ended, as with a speculative copy that lost."""
        if task.key in self._running:
            self._running[task.key].add(task)

    def ended(self, event: StageEnded) -> None:
        """End a stage."""
        stage = self._running.pop(event.key, None)
        if stage is None:
            return
        time = stage.time(event.at_ms, self._start_ms)
        if time is not None:
            self.times.append(time)
        self.largest_scan_bytes = max(self.largest_scan_bytes, stage.input_bytes)
        self.python_is_timed &= stage.python_is_timed or not stage.runs_python
        self.stragglers = max(self.stragglers, stage.stragglers(), key=_lag_s)

    def all_ended(self) -> None:
        """End the stages whose end is not in the log."""
        for key in tuple(self._running):
            self.ended(StageEnded(key, None))


class _RunningStage:
    """A stage and its tasks. The array has the duration of each successful task."""

    def __init__(self, event: StageStarted) -> None:
        self.runs_python = event.runs_python
        self.python_is_timed = False
        self.input_bytes = 0
        self._since_ms = event.at_ms
        self._work: set[str] = set()
        self._successful_ms = array("q")

    def add(self, task: TaskEnded) -> None:
        if not (task.failed or task.killed):
            self._successful_ms.append(task.duration_ms)
        counters = task.counters
        if counters is None:
            return
        self.input_bytes += counters.input_bytes
        self.python_is_timed |= counters.python_ns is not None
        for work, read in _WORK.items():
            if read(counters):
                self._work.add(work)

    def time(self, end_ms: int | None, start_ms: float) -> Stage | None:
        """Return when the stage ran, in seconds since `start_ms`; None if that is unknown."""
        if self._since_ms is None or end_ms is None:
            return None
        began_ms = max(0.0, self._since_ms - start_ms)
        ended_ms = max(began_ms, end_ms - start_ms)
        work = ", ".join(work for work in _WORK if work in self._work) or _NO_WORK
        return Stage(work, round(began_ms / 1e3, 3), round(ended_ms / 1e3, 3))

    def stragglers(self) -> Stragglers | None:
        tasks_ms = self._successful_ms
        if not tasks_ms:
            return None
        return Stragglers(max(tasks_ms) / 1e3, median(tasks_ms) / 1e3)


def _lag_s(stragglers: Stragglers | None) -> float:
    if stragglers is None:
        return -1
    return stragglers.longest_s - stragglers.median_s
