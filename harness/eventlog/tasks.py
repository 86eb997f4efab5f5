"""How the time of one task is divided: parts that do not overlap and make up the whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from harness.eventlog.events import NS_PER_MS, TaskCounters, TaskEnded
from harness.model.task_metrics import TaskTime

PARTS = tuple(field.name.removesuffix("_s") for field in fields(TaskTime))

WriteLock = tuple[str, int]
"""One of the PARTS, or their whole, and the nanoseconds that its metric counted."""


def divided(task: TaskEnded) -> Iterator[WriteLock]:
    """Each part with its nanoseconds; together they are what passed from launch to finish.

    The order of the claims is the order of TaskTime's precedence. Of a task whose metrics were lost
    with its executor nothing can be told but how long it took.
    """
    whole_ns, spent = task.duration_ms * NS_PER_MS, task.spent
    if spent is None:
        yield "unattributed", whole_ns
        return
    run, *others = _granted(
        whole_ns,
        ("run", spent.run_ns),
        ("deserialization", spent.deserialization_ns),
        ("result", spent.result_ns),
        rest="scheduler_delay",
    )
    yield from others
    yield from _granted(
        run[1],
        ("fetch_wait", spent.fetch_wait_ns),
        ("cpu", spent.cpu_ns),
        ("shuffle_write", spent.shuffle_write_ns),
        ("python_worker", spent.python_ns or 0),
        rest="unattributed",
    )


def _granted(whole_ns: int, *claims: WriteLock, rest: str) -> Iterator[WriteLock]:
    """To each claim, in their order, what it asks for, as far as the earlier ones left it."""
    left_ns = whole_ns
    for name, claimed_ns in claims:
        granted_ns = min(claimed_ns, left_ns)
        left_ns -= granted_ns
        yield name, granted_ns
    yield rest, left_ns


# MERGED from harness.record.task_sums: 'What all tasks of a trial come to together.'
_SUMMED = (
    "output_bytes",
    "shuffle_local_bytes",
    "shuffle_remote_bytes",
    "shuffle_written_bytes",
    "memory_spilled_bytes",
    "disk_spilled_bytes",
)


class TaskSums:
    """Sums over tasks, whether they ended well or not."""

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
        """One more attempt of a task, and how its time is divided."""
        for part, ns in parts_ns.items():
            self._parts_ns[part] += ns
        self._counts["tasks"] += 1
        self._counts["failed_tasks"] += task.failed
        self._counts["killed_tasks"] += task.killed
        self._counts["speculative_tasks"] += task.speculative
        self._tasks_by_locality[task.locality] += 1
        if task.spent is not None:
            self._add_spent(task.spent, task.locality)

    def _add_spent(self, spent: TaskCounters, locality: str) -> None:
        for name in _SUMMED:
            self._counts[name] += getattr(spent, name)
        if spent.input_bytes:
            self._input_bytes_by_locality[locality] += spent.input_bytes
        self._peak_bytes = max(self._peak_bytes, spent.peak_execution_memory_bytes)
        self._run_ns += spent.run_ns
        # A pause is charged to every task that it stops, so only its share of their time is true.
        self._gc_ns += min(spent.gc_ns, spent.run_ns)

    def time(self, *, python_is_timed: bool) -> TaskTime:
        """The parts, in seconds."""
        seconds = {f"{part}_s": self._parts_ns[part] / 1e9 for part in PARTS}
        if python_is_timed:
            return TaskTime(**seconds)
        unattributed_ns = self._parts_ns["unattributed"] + self._parts_ns["python_worker"]
        untimed: dict[str, Any] = {
            "python_worker_s": None,
            "unattributed_s": unattributed_ns / 1e9,
        }
        return TaskTime(**seconds | untimed)

    def others(self) -> dict[str, Any]:
        """The fields of TaskMetrics that are sums, counts and shares of all tasks."""
        return {
            **self._counts,
            "gc_share": self._gc_ns / self._run_ns if self._run_ns else None,
            "tasks_by_locality": dict(sorted(self._tasks_by_locality.items())),
            "input_bytes_by_locality": dict(sorted(self._input_bytes_by_locality.items())),
            "peak_execution_memory_bytes": self._peak_bytes,
        }
