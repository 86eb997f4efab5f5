"""Where the tasks of a trial were when they were asked: a tree of their stacks, each with its samples."""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Mapping, NamedTuple, Tuple

from harness.base.items import grouped
from harness.model.bounds import Annotated, Count, Meta, Name, Number

MAX_GROUPS = 256
"""Tasks are put together until there are no more groups than these."""
MAX_BYTES = 256_000
"""About the length of a profile in a results file."""
TOP_FRAMES = 12
"""Frames that a stack keeps which is too rare to be kept whole: what it did, not on whose behalf."""
MAX_TIMED_TASKS = 10_000
"""If a trial has more tasks, their times are not recorded: they would take more than the stacks."""

Interval = Annotated[float, Meta(gt=0, le=1e6)]
Stack = Tuple[str, ...]
"""Names of frames such as `java.lang.Thread.run`, the outermost first."""
Seen = Mapping[Stack, Tuple[int, int]]
"""How often a stack was seen running, and waiting."""


class TaskSpan(NamedTuple):
    """When a task ran, in milliseconds from the trial's start. `task` is Spark's number of it.

    At `submitted_ms` its stage could begin. In the last `fetching_ms` of `lasted_ms` the task had ended, and
    the driver fetched its result.
    """

    stage: int
    task: int
    submitted_ms: int
    launched_ms: int
    lasted_ms: int
    fetching_ms: int = 0


class SeenTask(NamedTuple):
    """Where a task of a stage was seen, and when it ran, if that is known."""

    stage: int
    seen: Seen
    span: TaskSpan | None = None


@dataclass(frozen=True)
class TaskGroup:
    """Tasks of a stage, and where they were seen: how often running and how often waiting at each of `nodes`.

    Samples of one task are not independent, because the task is often where it was before. Groups are.
    `submitted_ms` is as in TaskSpan; so are `launched_ms`, `lasted_ms` and `fetching_ms`, of the tasks whose
    times are known. A group without `nodes` was never seen.
    """

    stage: Count
    tasks: Number
    nodes: tuple[Count, ...]
    running: tuple[Count, ...]
    waiting: tuple[Count, ...]
    submitted_ms: Count = 0
    launched_ms: tuple[Count, ...] = ()
    lasted_ms: tuple[Count, ...] = ()
    fetching_ms: tuple[Count, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.nodes) == len(self.running) == len(self.waiting):
            raise ValueError("a group has one number of samples for each node")
        if not len(self.launched_ms) == len(self.lasted_ms) == len(self.fetching_ms) <= self.tasks:
            raise ValueError("a task whose times are known has three of them")

    @property
    def samples(self) -> int:
        """How many stacks were seen of the group."""
        return sum(self.running) + sum(self.waiting)

    @property
    def spans(self) -> list[TaskSpan]:
        """When the tasks of the group ran. Their numbers are not recorded."""
        times = zip(self.launched_ms, self.lasted_ms, self.fetching_ms)
        return [TaskSpan(self.stage, 0, self.submitted_ms, *of_task) for of_task in times]


@dataclass(frozen=True)
class Profile:
    """The stacks of all tasks of a trial, sampled while it ran.

    - `interval_s`: between two samples of an executor, on average.
    - `executors`: who was asked, as `id on host`; `silent`: why some of them gave no stacks.
    - `frames`, `parents`, `frame_of`: a tree. Node number n, counted from 1, has the frame number
      `frame_of[n - 1]` and is called by node `parents[n - 1]`; 0 is Spark's runner of tasks.
    """

    interval_s: Interval
    executors: tuple[Name, ...]
    frames: tuple[Name, ...]
    parents: tuple[Count, ...]
    frame_of: tuple[Count, ...]
    groups: tuple[TaskGroup, ...]
    silent: Mapping[str, str]

    def __post_init__(self) -> None:
        if len(self.parents) != len(self.frame_of):
            raise ValueError("every node of a tree has a parent and a frame")
        if any(parent > number for number, parent in enumerate(self.parents)):
            raise ValueError("a node comes after the one that calls it")
        if max(self.frame_of, default=-1) >= len(self.frames):
            raise ValueError("a node has a frame that is not there")
        last_nodes = [max(group.nodes, default=0) for group in self.groups]
        if max(last_nodes, default=0) > len(self.parents):
            raise ValueError("a group was seen at a node that is not there")

    @property
    def samples(self) -> int:
        """How many stacks were seen."""
        return sum(group.samples for group in self.groups)

    def stacks(self) -> list[Stack]:
        """Return the stack of each node, the runner of tasks first."""
        found: list[Stack] = [()]
        for parent, frame in zip(self.parents, self.frame_of):
            found.append((*found[parent], self.frames[frame]))
        return found

    @classmethod
    def of(
        cls,
        interval_s: float,
        executors: Sequence[str],
        silent: Mapping[str, str],
        tasks: Iterable[SeenTask],
    ) -> Profile:
        """Return the profile of tasks; small enough for a results file."""
        groups = _groups_of(_few_times(list(tasks)))
        totals = {stack: sum(counts) for stack, counts in _seen_together(groups).items()}
        kept, tree = _small_tree(totals)
        return cls(
            interval_s=interval_s,
            executors=tuple(executors),
            frames=tuple(tree.frames),
            parents=tuple(parent for parent, _ in tree.nodes),
            frame_of=tuple(frame for _, frame in tree.nodes),
            groups=tuple(group.recorded(kept, tree) for group in groups),
            silent=dict(silent),
        )


class _Tree:
    """Stacks that share their lower frames."""

    def __init__(self, stacks: Iterable[Stack]) -> None:
        self.frames: dict[str, int] = {}
        self.nodes: dict[tuple[int, int], int] = {}
        for stack in stacks:
            self.add(stack)

    def add(self, stack: Stack) -> int:
        """Add what is missing of a stack, and return the number of the node at which it ends."""
        node = 0
        for name in stack:
            frame = self.frames.setdefault(name, len(self.frames))
            node = self.nodes.setdefault((node, frame), len(self.nodes) + 1)
        return node

    @property
    def size(self) -> int:
        """About the bytes that the tree takes as JSON."""
        return sum(len(name) + 4 for name in self.frames) + 12 * len(self.nodes)


def _small_tree(totals: Mapping[Stack, int]) -> tuple[dict[Stack, Stack], _Tree]:
    """Return how each stack is kept, and the tree of the kept stacks, small enough for a results file.

    Stacks that were seen rarely keep their innermost frames alone.
    """
    least = 1
    top = TOP_FRAMES
    while True:
        kept = {stack: stack if n >= least else stack[-top:] for stack, n in totals.items()}
        tree = _Tree(kept.values())
        if tree.size <= MAX_BYTES or top == 1:
            return kept, tree
        if least < max(totals.values()):
            least *= 2
        else:
            top = 1


class _Group(NamedTuple):
    """Tasks of a stage, and where they were seen together."""

    stage: int
    tasks: Sequence[SeenTask]
    seen: Mapping[Stack, tuple[int, int]]

    def recorded(self, kept: Mapping[Stack, Stack], tree: _Tree) -> TaskGroup:
        """Return the group as a results file has it.

        Its samples are counted at the nodes of `tree` where its stacks end, each stack as `kept` has it.
        """
        running_at: Counter[int] = Counter()
        waiting_at: Counter[int] = Counter()
        for stack, (running, waiting) in self.seen.items():
            node = tree.add(kept[stack])
            running_at[node] += running
            waiting_at[node] += waiting
        nodes = sorted(running_at)
        spans = [task.span for task in self.tasks if task.span]
        return TaskGroup(
            stage=self.stage,
            tasks=len(self.tasks),
            nodes=tuple(nodes),
            running=tuple(running_at[node] for node in nodes),
            waiting=tuple(waiting_at[node] for node in nodes),
            submitted_ms=min((span.submitted_ms for span in spans), default=0),
            launched_ms=tuple(span.launched_ms for span in spans),
            lasted_ms=tuple(span.lasted_ms for span in spans),
            fetching_ms=tuple(span.fetching_ms for span in spans),
        )


def _few_times(tasks: list[SeenTask]) -> list[SeenTask]:
    """Return the tasks, or if too many have times, those that were seen, without times."""
    if sum(task.span is not None for task in tasks) <= MAX_TIMED_TASKS:
        return tasks
    return [SeenTask(task.stage, task.seen) for task in tasks if task.seen]


def _groups_of(tasks: Sequence[SeenTask]) -> list[_Group]:
    """Return the tasks of each stage in groups of equally many."""
    by_stage = grouped(tasks, attrgetter("stage"))
    found: list[_Group] = []
    for stage, members in sorted(by_stage.items()):
        share = len(members) * MAX_GROUPS // max(len(tasks), MAX_GROUPS)
        wanted = max(1, min(len(members), share))
        for number in range(wanted):
            together = members[number::wanted]
            found.append(_Group(stage, together, _seen_together(together)))
    return found


def _seen_together(seen: Iterable[SeenTask | _Group]) -> dict[Stack, tuple[int, int]]:
    """Return how often tasks, or groups of them, were seen running and waiting at each stack."""
    total: dict[Stack, tuple[int, int]] = {}
    for each in seen:
        for stack, (running, waiting) in each.seen.items():
            before = total.get(stack, (0, 0))
            total[stack] = (before[0] + running, before[1] + waiting)
    return total
