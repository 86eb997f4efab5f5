"""Where the tasks of a trial were when they were asked: a tree of their stacks, each with its samples."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, NamedTuple, Self, TypeVar

from harness.model.bounds import Count, Meta, Name, Number

MAX_GROUPS = 256
"""Tasks are put together until there are no more groups than these."""
MAX_BYTES = 256_000
"""About the length of a profile in a results file."""
TOP_FRAMES = 12
"""Frames that a stack keeps which is too rare to be kept whole: what it did, not on whose behalf."""
MAX_TIMED_TASKS = 10_000
"""If a trial has more tasks, their times are not recorded: they would take more than the stacks."""

Key = TypeVar("Key")
Interval = Annotated[float, Meta(gt=0, le=1e6)]
Stack = tuple[str, ...]
"""Names of frames such as `java.lang.Thread.run`, the outermost first."""
Seen = Mapping[Stack, tuple[int, int]]
"""How often a stack was seen running, and waiting."""


class TaskSpan(NamedTuple):
    """When a task ran, in milliseconds from the trial's start; `task` is Spark's number of it.

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
            raise ValueError("a group has as many nodes as numbers of samples")
        if not len(self.launched_ms) == len(self.lasted_ms) == len(self.fetching_ms) <= self.tasks:
            raise ValueError("a task whose times are known has three of them")

    @property
    def samples(self) -> int:
        """How many stacks were seen of the group."""
        return sum(self.running) + sum(self.waiting)

    @property
    def spans(self) -> list[TaskSpan]:
        """When the tasks of the group ran; their numbers are not recorded."""
        times = zip(self.launched_ms, self.lasted_ms, self.fetching_ms, strict=True)
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
        if any(frame >= len(self.frames) for frame in self.frame_of):
            raise ValueError("a node has a frame that is not there")
        if any(node > len(self.parents) for group in self.groups for node in group.nodes):
            raise ValueError("a group was seen at a node that is not there")

    @property
    def samples(self) -> int:
        """How many stacks were seen."""
        return sum(group.samples for group in self.groups)

    def stacks(self) -> list[Stack]:
        """Return the stack of each node, the runner of tasks first."""
        found: list[Stack] = [()]
        for parent, frame in zip(self.parents, self.frame_of, strict=True):
            found.append((*found[parent], self.frames[frame]))
        return found

    @classmethod
    def of(
        cls,
        interval_s: float,
        executors: Sequence[str],
        silent: Mapping[str, str],
        tasks: Iterable[SeenTask],
    ) -> Self:
        """Return the profile of tasks; small enough for a results file."""
        groups = _grouped(_few_times(list(tasks)))
        totals = Counter[Stack]()
        for _, _, seen in groups:
            totals.update({stack: sum(counts) for stack, counts in seen.items()})
        least, top = 1, TOP_FRAMES
        while True:
            kept = {
                stack: stack if count >= least else stack[-top:] for stack, count in totals.items()
            }
            tree = _Tree(kept.values())
            if tree.size <= MAX_BYTES or top == 1:
                break
            least, top = (least * 2, top) if least < max(totals.values()) else (least, 1)
        return cls(
            interval_s=interval_s,
            executors=tuple(executors),
            frames=tuple(tree.frames),
            parents=tuple(parent for parent, _ in tree.nodes),
            frame_of=tuple(frame for _, frame in tree.nodes),
            groups=tuple(
                _task_group(stage, members, seen, kept, tree) for stage, members, seen in groups
            ),
            silent=dict(silent),
        )


class _Tree:
    """Stacks that share their lower frames."""

    def __init__(self, stacks: Iterable[Stack]) -> None:
        self.frames: dict[str, int] = {}
        self.nodes: dict[tuple[int, int], int] = {}
        for stack in stacks:
            self.node(stack)

    def node(self, stack: Stack) -> int:
        """Return the number of the node at which a stack ends."""
        node = 0
        for name in stack:
            frame = self.frames.setdefault(name, len(self.frames))
            node = self.nodes.setdefault((node, frame), len(self.nodes) + 1)
        return node

    @property
    def size(self) -> int:
        """About the bytes that the tree takes as JSON."""
        return sum(len(name) + 4 for name in self.frames) + 12 * len(self.nodes)


_Group = tuple[int, list[SeenTask], dict[Stack, tuple[int, int]]]


def _few_times(tasks: list[SeenTask]) -> list[SeenTask]:
    """Return the tasks without times; if there are too many, only tasks that were seen."""
    if sum(task.span is not None for task in tasks) <= MAX_TIMED_TASKS:
        return tasks
    return [SeenTask(task.stage, task.seen) for task in tasks if task.seen]


def _grouped(tasks: Iterable[SeenTask]) -> list[_Group]:
    """Return the tasks of each stage in groups of equally many: stage, tasks, what was seen of all."""
    by_stage: dict[int, list[SeenTask]] = {}
    for task in tasks:
        by_stage.setdefault(task.stage, []).append(task)
    every = sum(map(len, by_stage.values()))
    found: list[_Group] = []
    for stage, members in sorted(by_stage.items()):
        wanted = max(1, min(len(members), len(members) * MAX_GROUPS // max(every, MAX_GROUPS)))
        for number in range(wanted):
            together = members[number::wanted]
            seen = _sum(chain.from_iterable(task.seen.items() for task in together))
            found.append((stage, together, seen))
    return found


def _sum(counts: Iterable[tuple[Key, tuple[int, int]]]) -> dict[Key, tuple[int, int]]:
    total: dict[Key, tuple[int, int]] = {}
    for key, (running, waiting) in counts:
        before = total.get(key, (0, 0))
        total[key] = before[0] + running, before[1] + waiting
    return total


def _task_group(
    stage: int, members: list[SeenTask], seen: Seen, kept: Mapping[Stack, Stack], tree: _Tree
) -> TaskGroup:
    by_node = _sum((tree.node(kept[stack]), counts) for stack, counts in seen.items())
    nodes = tuple(sorted(by_node))
    running_of, waiting_of = (tuple(by_node[node][which] for node in nodes) for which in (0, 1))
    spans = [task.span for task in members if task.span]
    return TaskGroup(
        stage,
        len(members),
        nodes,
        running_of,
        waiting_of,
        submitted_ms=min((span.submitted_ms for span in spans), default=0),
        launched_ms=tuple(span.launched_ms for span in spans),
        lasted_ms=tuple(span.lasted_ms for span in spans),
        fetching_ms=tuple(span.fetching_ms for span in spans),
    )
