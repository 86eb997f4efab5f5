"""The stages of a trial: how far stragglers lag, and how long their tasks take on the slots.

A stage keeps five numbers a task, and those only until it is over.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from heapq import heapreplace
from statistics import median

from harness.eventlog.events import StageKey, StageStarted, TaskEnded
from harness.model.task_metrics import ScheduleSimulation, Stragglers


class _Stage:
    """The tasks of a stage, each array with an item a task, and the last with one a success."""

    def __init__(self, *, runs_python: bool) -> None:
        self.runs_python = runs_python
        self.python_is_timed = False
        self._launched_ms = array("q")
        self._whole_ns = array("q")
        self._unblocked_ns = array("q")
        self._attributed_ns = array("q")
        self._successful_ms = array("q")

    def add(self, task: TaskEnded, parts_ns: Mapping[str, int]) -> None:
        whole_ns = sum(parts_ns.values())
        unblocked_ns = whole_ns - parts_ns.get("fetch_wait", 0)
        self._launched_ms.append(task.launched_ms)
        self._whole_ns.append(whole_ns)
        self._unblocked_ns.append(unblocked_ns)
        self._attributed_ns.append(unblocked_ns - parts_ns["unattributed"])
        if not (task.failed or task.killed):
            self._successful_ms.append(task.duration_ms)
        if task.spent is not None and task.spent.python_ns is not None:
            self.python_is_timed = True

    def stragglers(self) -> Stragglers | None:
        tasks_ms = self._successful_ms
        return Stragglers(max(tasks_ms) / 1e3, median(tasks_ms) / 1e3) if tasks_ms else None

    def replays_ns(self, slots: int) -> list[int]:
        """How long it takes on so many slots: as it was, unblocked, and what is attributed alone."""
        tasks = len(self._launched_ms)
        order = sorted(range(tasks), key=self._launched_ms.__getitem__)
        return [
            scheduled_ns([lengths_ns[task] for task in order], slots)
            for lengths_ns in (self._whole_ns, self._unblocked_ns, self._attributed_ns)
        ]


def scheduled_ns(lengths_ns: Sequence[int], slots: int) -> int:
    """When the last of some tasks ends if each, in their order, starts on the slot that is free first."""
    free_at_ns = [0] * min(slots, len(lengths_ns))
    for length_ns in lengths_ns:
        heapreplace(free_at_ns, free_at_ns[0] + length_ns)
    return max(free_at_ns, default=0)


class Stages:
    """Every stage of a trial, one after the other or several at once."""

    def __init__(self) -> None:
        self.python_is_timed = True
        self.stragglers: Stragglers | None = None
        self._running: dict[StageKey, _Stage] = {}
        self._replays_ns: Sequence[int] | None = (0, 0, 0)

    def started(self, event: StageStarted) -> None:
        """A stage's tasks will come."""
        self._running[event.key] = _Stage(runs_python=event.runs_python)

    def add(self, task: TaskEnded, parts_ns: Mapping[str, int]) -> None:
        """A task ended; one whose stage is over, such as a copy that lost, has no say."""
        if task.key in self._running:
            self._running[task.key].add(task, parts_ns)

    def ended(self, key: StageKey, slots: int) -> None:
        """A stage is over, which could run so many tasks at once."""
        stage = self._running.pop(key, None)
        if stage is None:
            return
        self.python_is_timed &= stage.python_is_timed or not stage.runs_python
        self.stragglers = max(self.stragglers, stage.stragglers(), key=_lag_s)
        if slots and self._replays_ns is not None:
            both = zip(self._replays_ns, stage.replays_ns(slots), strict=True)
            self._replays_ns = [before + more for before, more in both]
        else:
            self._replays_ns = None

    def all_ended(self, slots: int) -> None:
        """The trial is over, and with it the stages whose end is not in the log."""
        for key in tuple(self._running):
            self.ended(key, slots)

    @property
    def simulation(self) -> ScheduleSimulation | None:
        """Of the stages that are over; None if one had no slot that is known of."""
        if self._replays_ns is None:
            return None
        return ScheduleSimulation(*(replayed_ns / 1e9 for replayed_ns in self._replays_ns))


def _lag_s(stragglers: Stragglers | None) -> float:
    return -1 if stragglers is None else stragglers.longest_s - stragglers.median_s
