"""When the stages of a trial ran, and what their tasks did."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from harness.eventlog.events import StageEnded, StageKey, StageStarted, TaskCounters, TaskEnded
from harness.model.timeline import Stage

_WORK: Mapping[str, Callable[[TaskCounters], int]] = {
    "reads data": lambda counters: counters.input_bytes,
    "reads shuffle": lambda counters: counters.shuffle_local_bytes + counters.shuffle_remote_bytes,
    "writes data": lambda counters: counters.output_bytes,
    "writes shuffle": lambda counters: counters.shuffle_written_bytes,
}
"""What a stage does if a task of it has counted such bytes."""
_NO_WORK = "computes"


@dataclass
class _Running:
    since_ms: int
    work: set[str] = field(default_factory=set)


class StageTimes:
    """The stages of a log that have ended, in seconds since `start_ms`; without times there is none."""

    def __init__(self, start_ms: float = 0) -> None:
        self.stages: list[Stage] = []
        self._start_ms = start_ms
        self._running: dict[StageKey, _Running] = {}

    def started(self, event: StageStarted) -> None:
        """Expect a stage's tasks and its end."""
        if event.at_ms is not None:
            self._running[event.key] = _Running(event.at_ms)

    def add(self, task: TaskEnded) -> None:
        """Add what a task of a stage did."""
        running = self._running.get(task.key)
        if running is not None and task.counters is not None:
            counters = task.counters
            running.work.update(work for work, read in _WORK.items() if read(counters))

    def ended(self, event: StageEnded) -> None:
        """End a stage."""
        running = self._running.pop(event.key, None)
        if running is None or event.at_ms is None:
            return
        start_ms, end_ms = (
            max(0.0, at_ms - self._start_ms) for at_ms in (running.since_ms, event.at_ms)
        )
        work = ", ".join(work for work in _WORK if work in running.work) or _NO_WORK
        self.stages.append(
            Stage(work, round(start_ms / 1e3, 3), round(max(start_ms, end_ms) / 1e3, 3))
        )
