"""How many tasks could run at once, while executors came and went."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from harness.record.spark_events import ExecutorAdded, ExecutorRemoved, TaskCpus


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
