"""Trials as tables of times need them: reading passes over what only explanations of a time need.

That is most of a line: what was sampled while the trial ran, what each link carried, and in which parts its
tasks spent their time.
"""

from dataclasses import dataclass
from typing import ClassVar

from harness.model.run import Trial
from harness.model.task_metrics import TaskMetrics, WireBytes


@dataclass(frozen=True)
class _Wire(WireBytes):
    nodes: ClassVar[tuple[()]] = ()  # type: ignore[misc]


@dataclass(frozen=True)
class _Tasks(TaskMetrics):
    time: ClassVar[None] = None  # type: ignore[misc]
    stragglers: ClassVar[None] = None  # type: ignore[misc]


@dataclass(frozen=True)
class TableTrial(Trial):
    """A trial without timeline, profile, the counts of links, and the times of tasks."""

    tasks: _Tasks | None = None
    wire: _Wire | None = None
    timeline: ClassVar[None] = None  # type: ignore[misc]
    profile: ClassVar[None] = None  # type: ignore[misc]
