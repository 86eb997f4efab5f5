"""What the tasks of a workload did, in seconds by class, from the profiles of its profile rounds."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from harness.analysis.explain.blocked import Bound, bound
from harness.analysis.explain.frames import (
    SHUFFLE_WAIT,
    WRITING_SHUFFLE,
    class_of,
    own_frame,
)
from harness.model.profile import Profile, Stack
from harness.model.run import Phase, RecordedRun, Trial
from harness.statistics.clusters import share_of_clusters
from harness.statistics.median import Interval

TOLERANCE = 0.1
MIN_SHARE = 0.01
"""Of the time of all tasks: what takes less is not worth a line, nor a difference that is smaller."""


@dataclass(frozen=True)
class Kind:
    """A class of what tasks do, or a frame that no rule knows (`is_known` is false)."""

    name: str
    is_known: bool


@dataclass(frozen=True)
class ClassTime:
    """The seconds of all tasks of a trial in a class, as a share of their time, too.

    `waiting` is the fraction of them in which the thread did not run. The interval of 95 % is that of the
    share; None if a single group of tasks tells nothing about others.
    """

    seconds: float
    share: float
    interval: Interval | None
    waiting: float


@dataclass(frozen=True)
class Check:
    """The same time by samples and by Spark's own metric, in seconds of tasks in a trial.

    Samples do not show all that Spark measures: then `sampled_s` is None. `task_s` is the time of all tasks.
    """

    name: str
    sampled_s: float | None
    spark_s: float
    task_s: float

    @property
    def difference(self) -> float | None:
        """By which fraction of Spark's time the sampled time differs from it; None without one of them."""
        if self.sampled_s is None or not self.spark_s:
            return None
        return (self.sampled_s - self.spark_s) / self.spark_s

    @property
    def is_apart(self) -> bool:
        """Whether the times differ by more than TOLERANCE, and by more than MIN_SHARE of all."""
        if self.sampled_s is None:
            return False
        least_s = max(TOLERANCE * self.spark_s, MIN_SHARE * self.task_s)
        return abs(self.sampled_s - self.spark_s) > least_s


@dataclass(frozen=True)
class ProfiledTime:
    """What the tasks of a workload did, on average over its profiled trials.

    - `task_s`: the seconds of all tasks of an execution.
    - `by_kind`: the largest first; `checks`: held against Spark's metrics.
    - `profiled`: the trials, with their profiles.
    """

    samples: int
    task_s: float
    by_kind: Mapping[Kind, ClassTime]
    checks: tuple[Check, ...]
    silent: tuple[str, ...]
    profiled: Sequence[tuple[Trial, Profile]]

    @cached_property
    def bound(self) -> Bound | None:
        """What the workload gains at most without waits; None if the times of its tasks are not recorded."""
        return bound(self.profiled)

    @property
    def unknown_share(self) -> float:
        """The share of what no rule knows."""
        return math.fsum(time.share for kind, time in self.by_kind.items() if not kind.is_known)


def profiled_time(runs: Iterable[RecordedRun], workload: str) -> ProfiledTime | None:
    """Return what the tasks of a workload did; None if no trial has a profile and task metrics."""
    found = [
        (trial, trial.profile)
        for recorded in runs
        for trial in recorded.trials
        if trial.workload == workload and trial.phase is Phase.PROFILE and trial.tasks
        if trial.profile and trial.profile.samples
    ]
    if not found:
        return None
    groups = [group for _, profile in found for group in _groups(profile)]
    samples = sum(profile.samples for _, profile in found)
    task_s = fmean(trial.tasks.time.thread_s for trial, _ in found if trial.tasks)
    by_kind = dict(_by_kind(groups, task_s))
    return ProfiledTime(
        samples=samples,
        task_s=task_s,
        by_kind=by_kind,
        checks=tuple(_checks(found, groups, by_kind, task_s)),
        profiled=found,
        silent=tuple(
            dict.fromkeys(
                f"executor {name} gave no stacks: {reason}"
                for _, profile in found
                for name, reason in profile.silent.items()
            )
        ),
    )


_Group = Mapping[Stack, tuple[int, int]]


def _groups(profile: Profile) -> Iterator[_Group]:
    """Yield how often each group of tasks was seen running and waiting, by stack."""
    stacks = profile.stacks()
    for group in profile.groups:
        if any(group.running) or any(group.waiting):
            counts = zip(group.running, group.waiting, strict=True)
            yield {stacks[n]: each for n, each in zip(group.nodes, counts, strict=True)}


def _by_kind(groups: Sequence[_Group], task_s: float) -> Iterator[tuple[Kind, ClassTime]]:
    """Yield the time of each kind, the longest first."""
    kinds = {stack: kind_of(stack) for group in groups for stack in group}
    sizes = [sum(map(sum, group.values())) for group in groups]
    hits: dict[Kind, list[int]] = {kind: [0] * len(groups) for kind in kinds.values()}
    waits: defaultdict[Kind, int] = defaultdict(int)
    for number, group in enumerate(groups):
        for stack, counts in group.items():
            hits[kinds[stack]][number] += sum(counts)
            waits[kinds[stack]] += counts[1]
    for kind, of_groups in sorted(hits.items(), key=lambda item: (-sum(item[1]), item[0].name)):
        if total := sum(of_groups):
            share, interval = share_of_clusters(of_groups, sizes)
            yield kind, ClassTime(share * task_s, share, interval, waits[kind] / total)


def kind_of(stack: Stack) -> Kind:
    """Return the class of a stack, or its own frame if no rule knows it."""
    name = class_of(stack)
    return Kind(own_frame(stack), is_known=False) if name is None else Kind(name, is_known=True)


def _checks(
    found: Sequence[tuple[Trial, Profile]],
    groups: Sequence[_Group],
    by_kind: Mapping[Kind, ClassTime],
    task_s: float,
) -> Iterator[Check]:
    metrics = [trial.tasks for trial, _ in found if trial.tasks]
    sampled_s = fmean(
        profile.samples * profile.interval_s / trial.executions for trial, profile in found
    )
    yield Check("time of all tasks", sampled_s, task_s, task_s)
    running = sum(counts[0] for group in groups for counts in group.values())
    samples = sum(sum(counts) for group in groups for counts in group.values())
    cpu_s = fmean(tasks.time.cpu_s for tasks in metrics)
    yield Check("running or ready to run", running / samples * task_s, cpu_s, task_s)
    for name, spark_s, waiting_only in (
        (SHUFFLE_WAIT, fmean(tasks.time.fetch_wait_s for tasks in metrics), False),
        (WRITING_SHUFFLE, fmean(tasks.time.shuffle_write_s for tasks in metrics), True),
    ):
        time = by_kind.get(Kind(name, is_known=True))
        own_s = (time.seconds * (time.waiting if waiting_only else 1)) if time else 0.0
        if max(own_s, spark_s) > 0:
            suffix = ", not running" if waiting_only else ""
            yield Check(name + suffix, own_s, spark_s, task_s)
    gc_s = fmean(
        (tasks.gc_share or 0.0) * (tasks.time.thread_s - tasks.time.deserialization_s)
        for tasks in metrics
    )
    yield Check("collecting garbage", None, gc_s, task_s)
