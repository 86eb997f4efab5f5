"""Builds task metrics in one line, for tests of something else."""

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from harness.model.profile import Profile, SeenTask
from harness.model.run import Phase, Trial
from harness.model.task_metrics import NodeBytes, TaskMetrics, TaskTime, WireBytes
from tests.unit.builders import ok

NOTHING: dict[str, Any] = {
    field.name: None if "None" in str(field.type) else {} if "Mapping" in str(field.type) else 0
    for field in fields(TaskMetrics)
}
"""Every field of task metrics without a value: no number, an empty mapping or 0, by its type."""


def task_time(**parts_s: float | None) -> TaskTime:
    """Return task time; parts that are not given are 0."""
    known: dict[str, Any] = dict.fromkeys((field.name for field in fields(TaskTime)), 0.0)
    return TaskTime(**known | parts_s)


def known_s(time: TaskTime) -> float:
    """Return the sum of all known parts."""
    return math.fsum(part for part in vars(time).values() if part is not None)


def task_metrics(slots: float | None = 2, tasks: int = 10, **more: Any) -> TaskMetrics:
    """Return task metrics. Arguments that end in `_s` are parts of the time, others are fields."""
    parts_s = {name: more.pop(name) for name in tuple(more) if name.endswith("_s")}
    given = {"slots": slots, "tasks": tasks, "time": task_time(**parts_s)}
    return TaskMetrics(**NOTHING | given | more)


def timed(workload: str, wall_s: float, wire: WireBytes | None = None, **more: Any) -> Trial:
    """Return an ok trial with task metrics; `task_metrics` gets the other arguments."""
    return ok(workload, wall_s, tasks=task_metrics(**more), wire=wire)


def profiled(
    workload: str,
    wall_s: float,
    *tasks: SeenTask,
    silent: Mapping[str, str] | None = None,
    phase: Phase = Phase.PROFILE,
    **more: Any,
) -> Trial:
    """Return a profile trial of one executor; `task_metrics` gets the other arguments."""
    metrics = task_metrics(**more or {"cpu_s": 1.0})
    profile = Profile.of(0.1, ["0 on n1"], silent or {}, tasks)
    return ok(workload, wall_s, phase=phase, tasks=metrics, profile=profile)


def received(*counts: int, unread: tuple[str, ...] = ()) -> WireBytes:
    """Return the counters of nodes n1, n2, ... that received these bytes, and sent half as many."""
    nodes = (NodeBytes(f"n{number}", count, count // 2) for number, count in enumerate(counts, 1))
    return WireBytes(tuple(nodes), unread)
