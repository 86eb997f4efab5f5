"""The tasks of a trial: the parts of their time, and sums over all of them."""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from harness.eventlog.events import NS_PER_MS, TaskCounters, TaskEnded
from harness.model.task_metrics import TaskTime

PARTS = tuple(field.name[: -len("_s")] for field in fields(TaskTime))
_SUMMED = (
    "input_rows",
    "output_bytes",
    "output_rows",
    "shuffle_local_bytes",
    "shuffle_remote_bytes",
    "shuffle_written_bytes",
    "disk_spilled_bytes",
)


@lru_cache(1)  # a task counts for its execution, and then for the whole application
def divide_time(task: TaskEnded) -> Mapping[str, int]:
    """Return the nanoseconds of each part of a task's time; together they last from launch to finish.

    Counters that overlap claim their time in the order that TaskTime documents. A task that lost its
    counters with its executor has one part, the unattributed time.
    """
    whole_ns = task.duration_ms * NS_PER_MS
    counters = task.counters
    if counters is None:
        return {"unattributed": whole_ns}
    parts_ns = _granted(
        whole_ns,
        "scheduler_delay",
        run=counters.run_ns,
        deserialization=counters.deserialization_ns,
        result=counters.result_ns,
    )
    of_run_ns = _granted(
        parts_ns.pop("run"),
        "unattributed",
        fetch_wait=counters.fetch_wait_ns,
        cpu=counters.cpu_ns,
        shuffle_write=counters.shuffle_write_ns,
        python_worker=counters.python_ns or 0,
    )
    parts_ns.update(of_run_ns)
    return parts_ns


class TaskSums:
    """Sums over all attempts of tasks, whether they succeeded or not."""

    def __init__(self) -> None:
        self._parts_ns = dict.fromkeys(PARTS, 0)
        self._counts: Counter[str] = Counter(tasks=0, failed_tasks=0, speculative_tasks=0)
        self._counts.update(dict.fromkeys(_SUMMED, 0))
        self._input_bytes_by_locality: Counter[str] = Counter()
        self._run_ns = 0
        self._gc_ns = 0

    def add(self, task: TaskEnded) -> None:
        """Add an attempt of a task."""
        for part, part_ns in divide_time(task).items():
            self._parts_ns[part] += part_ns
        self._counts["tasks"] += 1
        self._counts["failed_tasks"] += task.failed
        self._counts["speculative_tasks"] += task.speculative
        if task.counters is not None:
            self._add_counters(task.counters, task.locality)

    def _add_counters(self, counters: TaskCounters, locality: str) -> None:
        for name in _SUMMED:
            self._counts[name] += getattr(counters, name)
        if counters.input_bytes:
            self._input_bytes_by_locality[locality] += counters.input_bytes
        self._run_ns += counters.run_ns
        # Every task that a pause stops is charged with it, so only the fraction of run time is true.
        self._gc_ns += min(counters.gc_ns, counters.run_ns)

    def time(self, *, python_is_timed: bool) -> TaskTime:
        """Return the parts in seconds; without a time of its own, Python's time is unattributed."""
        seconds: dict[str, Any] = {f"{part}_s": self._parts_ns[part] / 1e9 for part in PARTS}
        if not python_is_timed:
            unattributed_ns = self._parts_ns["unattributed"] + self._parts_ns["python_worker"]
            seconds["python_worker_s"] = None
            seconds["unattributed_s"] = unattributed_ns / 1e9
        return TaskTime(**seconds)

    def others(self) -> dict[str, Any]:
        """Return the fields of TaskMetrics that are sums, counts or fractions of all tasks."""
        return {
            **self._counts,
            "gc_share": self._gc_ns / self._run_ns if self._run_ns else None,
            "input_bytes_by_locality": dict(sorted(self._input_bytes_by_locality.items())),
        }


def _granted(whole_ns: int, rest: str, **claimed_ns: int) -> dict[str, int]:
    """Give each claim min(claimed, remaining), in order. The remainder goes to `rest`."""
    granted_ns = {}
    for name, claim_ns in claimed_ns.items():
        granted_ns[name] = min(claim_ns, whole_ns)
        whole_ns -= granted_ns[name]
    granted_ns[rest] = whole_ns
    return granted_ns
