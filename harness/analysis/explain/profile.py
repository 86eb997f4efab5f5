"""What the tasks of a workload did, in seconds by class, from the profiles of its profile rounds."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from harness.analysis.explain.blocked import Bound, bound_of
from harness.analysis.explain.frames import NETWORK, SERVERS, UNKNOWN, WAITS_FOR, classes_of
from harness.base.items import unique
from harness.model.profile import Profile
from harness.model.run import Phase, RecordedRun, Trial
from harness.model.task_metrics import TaskMetrics
from harness.statistics.clusters import share_of_clusters
from harness.statistics.interval import Interval

MIN_SHARE = 0.01
"""The least share of the time of all tasks that gets a line."""


@dataclass(frozen=True)
class ClassTime:
    """The seconds that all tasks of a trial spent in a class, and their share of the tasks' time.

    `waiting` is the fraction of these seconds in which the thread did not run. `interval` is the 95 %
    interval of the share; None if there is a single group of tasks.
    """

    seconds: float
    share: float
    interval: Interval | None
    waiting: float


@dataclass(frozen=True)
class ProfiledTime:
    """What the tasks of a workload did, on average over its profiled trials.

    - `task_s`: the seconds of all tasks of an execution.
    - `garbage_s`: the seconds of garbage collection by Spark's own metric, because stacks do not show it.
    - `by_class`: the largest first.
    - `profiled`: the trials, with their profiles.
    """

    samples: int
    task_s: float
    garbage_s: float
    by_class: Mapping[str, ClassTime]
    silent: tuple[str, ...]
    profiled: Sequence[tuple[Trial, Profile]]

    @cached_property
    def bound(self) -> Bound | None:
        """What the workload gains at most without waits; None if the times of its tasks are not recorded."""
        return bound_of(self.profiled)

    @property
    def server_part(self) -> float:
        """The part of all waits for the network that were for a server of a file system; 0 without any."""
        waits: list[float] = []
        for_servers: list[float] = []
        for name, time in self.by_class.items():
            if WAITS_FOR.get(name) == NETWORK:
                wait = time.share * time.waiting
                waits.append(wait)
                if name in SERVERS:
                    for_servers.append(wait)
        servers = math.fsum(for_servers)
        if not servers:
            return 0.0
        return servers / math.fsum(waits)

    @property
    def unknown_share(self) -> float:
        """The share of what no rule knows."""
        of_class = self.by_class.items()
        return math.fsum(time.share for name, time in of_class if name.startswith(UNKNOWN))


def profiled_time(runs: Iterable[RecordedRun], workload: str) -> ProfiledTime | None:
    """Return what the tasks of a workload did; None if no trial has a profile and task metrics."""
    profiled: list[tuple[Trial, Profile]] = []
    profiles: list[Profile] = []
    metrics: list[TaskMetrics] = []
    for recorded in runs:
        for trial in recorded.by_workload.get(workload, ()):
            profile = trial.profile
            if trial.phase is Phase.PROFILE and trial.tasks and profile and profile.samples:
                profiled.append((trial, profile))
                profiles.append(profile)
                metrics.append(trial.tasks)
    if not profiled:
        return None
    task_s = fmean(tasks.time.thread_s for tasks in metrics)
    return ProfiledTime(
        samples=sum(profile.samples for profile in profiles),
        task_s=task_s,
        garbage_s=fmean(map(_garbage_s, metrics)),
        by_class=dict(_by_class(profiles, task_s)),
        profiled=profiled,
        silent=tuple(unique(_silent(profiles))),
    )


def _garbage_s(tasks: TaskMetrics) -> float:
    return (tasks.gc_share or 0.0) * (tasks.time.thread_s - tasks.time.deserialization_s)


def _silent(profiles: Iterable[Profile]) -> Iterator[str]:
    for profile in profiles:
        for name, reason in profile.silent.items():
            yield f"executor {name} gave no stacks: {reason}"


def _by_class(profiles: Iterable[Profile], task_s: float) -> Iterator[tuple[str, ClassTime]]:
    """Yield the time of each class, the largest first. `task_s` are the seconds of all tasks of a trial.

    `hits` has for each class how many stacks of each group of tasks are in it, `totals` how many of all
    stacks, and `waits` how many of these waited.
    """
    sizes: list[int] = []
    hits: dict[str, dict[int, int]] = {}
    totals: Counter[str] = Counter()
    waits: Counter[str] = Counter()
    for profile in profiles:
        classes = classes_of(profile)
        for group in profile.groups:
            if not group.samples:
                continue
            number = len(sizes)
            sizes.append(group.samples)
            for node, running, waiting in zip(
                group.nodes, group.running, group.waiting, strict=True
            ):
                name = classes[node]
                own = hits.setdefault(name, {})
                own[number] = own.get(number, 0) + running + waiting
                totals[name] += running + waiting
                waits[name] += waiting
    for name, total in sorted(totals.items(), key=lambda item: (-item[1], item[0])):
        if total:
            of_groups = [hits[name].get(number, 0) for number in range(len(sizes))]
            share, interval = share_of_clusters(of_groups, sizes)
            yield name, ClassTime(share * task_s, share, interval, waits[name] / total)
