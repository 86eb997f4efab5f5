"""The tasks of a trial: the parts of their time, sums over all of them, and the schedule of their stages.

A stage keeps five numbers per task, and only while it runs.
"""

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from heapq import heapreplace
from statistics import median
from typing import Any

from harness.eventlog.events import NS_PER_MS, StageKey, StageStarted, TaskCounters, TaskEnded
from harness.model.task_metrics import ScheduleSimulation, Stragglers, TaskTime

PARTS = tuple(field.name.removesuffix("_s") for field in fields(TaskTime))
_SUMMED = (
    "output_bytes",
    "shuffle_local_bytes",
    "shuffle_remote_bytes",
    "shuffle_written_bytes",
    "memory_spilled_bytes",
    "disk_spilled_bytes",
)


def divide_time(task: TaskEnded) -> dict[str, int]:
    """Return the nanoseconds of each part of a task's time; together they last from launch to finish.

    Counters that overlap claim their time in the order that TaskTime documents. A task that lost its
    counters with its executor has one part, the unattributed time.
    """
    whole_ns, counters = task.duration_ms * NS_PER_MS, task.counters
    if counters is None:
        return {"unattributed": whole_ns}
    around_run_ns = _granted(
        whole_ns,
        "scheduler_delay",
        run=counters.run_ns,
        deserialization=counters.deserialization_ns,
        result=counters.result_ns,
    )
    of_run_ns = _granted(
        around_run_ns.pop("run"),
        "unattributed",
        fetch_wait=counters.fetch_wait_ns,
        cpu=counters.cpu_ns,
        shuffle_write=counters.shuffle_write_ns,
        python_worker=counters.python_ns or 0,
    )
    return around_run_ns | of_run_ns


class TaskSums:
    """Sums over all attempts of tasks, whether they succeeded or not."""

    def __init__(self) -> None:
        self._parts_ns: Counter[str] = Counter()
        self._counts = Counter[str](tasks=0, failed_tasks=0, killed_tasks=0, speculative_tasks=0)
        self._counts.update(dict.fromkeys(_SUMMED, 0))
        self._tasks_by_locality: Counter[str] = Counter()
        self._input_bytes_by_locality: Counter[str] = Counter()
        self._peak_bytes = 0
        self._run_ns = 0
        self._gc_ns = 0

    def add(self, task: TaskEnded, parts_ns: Mapping[str, int]) -> None:
        """Add an attempt of a task, and the parts of its time."""
        self._parts_ns.update(parts_ns)
        self._counts["tasks"] += 1
        self._counts["failed_tasks"] += task.failed
        self._counts["killed_tasks"] += task.killed
        self._counts["speculative_tasks"] += task.speculative
        self._tasks_by_locality[task.locality] += 1
        if task.counters is not None:
            self._add_counters(task.counters, task.locality)

    def _add_counters(self, counters: TaskCounters, locality: str) -> None:
        for name in _SUMMED:
            self._counts[name] += getattr(counters, name)
        if counters.input_bytes:
            self._input_bytes_by_locality[locality] += counters.input_bytes
        self._peak_bytes = max(self._peak_bytes, counters.peak_execution_memory_bytes)
        self._run_ns += counters.run_ns
        # Every task that a pause stops is charged with it, so only the fraction of run time is true.
        self._gc_ns += min(counters.gc_ns, counters.run_ns)

    def time(self, *, python_is_timed: bool) -> TaskTime:
        """Return the parts in seconds; without a time of its own, Python's time is unattributed."""
        seconds: dict[str, Any] = {f"{part}_s": self._parts_ns[part] / 1e9 for part in PARTS}
        if not python_is_timed:
            unattributed_ns = self._parts_ns["unattributed"] + self._parts_ns["python_worker"]
            seconds |= {"python_worker_s": None, "unattributed_s": unattributed_ns / 1e9}
        return TaskTime(**seconds)

    def others(self) -> dict[str, Any]:
        """Return the fields of TaskMetrics that are sums, counts, fractions or peaks of all tasks."""
        return {
            **self._counts,
            "gc_share": self._gc_ns / self._run_ns if self._run_ns else None,
            "tasks_by_locality": dict(sorted(self._tasks_by_locality.items())),
            "input_bytes_by_locality": dict(sorted(self._input_bytes_by_locality.items())),
            "peak_execution_memory_bytes": self._peak_bytes,
        }


class Stages:
    """All stages of a trial, of which several may run at the same time.

    `python_is_timed` is false if a stage that ran Python has no metric of its time. `stragglers` are
    those of the stage whose longest task exceeds the median by most.
    """

    def __init__(self) -> None:
        self.python_is_timed = True
        self.stragglers: Stragglers | None = None
        self._running: dict[StageKey, _Stage] = {}
        self._simulated_ns: Sequence[int] | None = (0, 0, 0)

    def started(self, event: StageStarted) -> None:
        """Expect a stage's tasks."""
        self._running[event.key] = _Stage(runs_python=event.runs_python)

    def add(self, task: TaskEnded, parts_ns: Mapping[str, int]) -> None:
        """Add a task, unless its stage has ended, as with a speculative copy that lost."""
        if task.key in self._running:
            self._running[task.key].add(task, parts_ns)

    def ended(self, key: StageKey, slots: int) -> None:
        """End a stage that could run as many tasks in parallel as there are slots."""
        stage = self._running.pop(key, None)
        if stage is None:
            return
        self.python_is_timed &= stage.python_is_timed or not stage.runs_python
        self.stragglers = max(self.stragglers, stage.stragglers(), key=_lag_s)
        if slots and self._simulated_ns is not None:
            pairs = zip(self._simulated_ns, stage.simulated_ns(slots), strict=True)
            self._simulated_ns = [total + added for total, added in pairs]
        else:
            self._simulated_ns = None

    def all_ended(self, slots: int) -> None:
        """End the stages whose end is not in the log."""
        for key in tuple(self._running):
            self.ended(key, slots)

    @property
    def simulation(self) -> ScheduleSimulation | None:
        """The stages that have ended, one after the other; None if the slots of one are unknown."""
        if self._simulated_ns is None:
            return None
        return ScheduleSimulation(*(total_ns / 1e9 for total_ns in self._simulated_ns))


def scheduled_ns(lengths_ns: Sequence[int], slots: int) -> int:
    """Return when the last task ends if each, in order, starts on the slot that is free first."""
    free_at_ns = [0] * min(slots, len(lengths_ns))
    for length_ns in lengths_ns:
        heapreplace(free_at_ns, free_at_ns[0] + length_ns)
    return max(free_at_ns, default=0)


class _Stage:
    """The tasks of a stage; each array has an item per task, the last one per successful task."""

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
        if task.counters is not None and task.counters.python_ns is not None:
            self.python_is_timed = True

    def stragglers(self) -> Stragglers | None:
        tasks_ms = self._successful_ms
        return Stragglers(max(tasks_ms) / 1e3, median(tasks_ms) / 1e3) if tasks_ms else None

    def simulated_ns(self, slots: int) -> list[int]:
        """Return how long the stage takes on these slots: as it was, unblocked, attributed alone."""
        tasks = len(self._launched_ms)
        order = sorted(range(tasks), key=self._launched_ms.__getitem__)
        return [
            scheduled_ns([lengths_ns[task] for task in order], slots)
            for lengths_ns in (self._whole_ns, self._unblocked_ns, self._attributed_ns)
        ]


def _granted(whole_ns: int, rest: str, **claimed_ns: int) -> dict[str, int]:
    """Give each claim min(claimed, remaining), in order; the remainder goes to `rest`."""
    granted_ns = {}
    for name, claim_ns in claimed_ns.items():
        granted_ns[name] = min(claim_ns, whole_ns)
        whole_ns -= granted_ns[name]
    granted_ns[rest] = whole_ns
    return granted_ns


def _lag_s(stragglers: Stragglers | None) -> float:
    return -1 if stragglers is None else stragglers.longest_s - stragglers.median_s
