"""What the tasks of a workload did, in seconds by class, from the profiles of its profile rounds."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean

from harness.analysis.explain.blocked import Bound, bound
from harness.analysis.explain.frames import NETWORK, SERVERS, WAITS_FOR, class_of, own_frame
from harness.model.profile import Profile, Stack
from harness.model.run import Phase, RecordedRun, Trial
from harness.statistics.clusters import share_of_clusters
from harness.statistics.interval import Interval

MIN_SHARE = 0.01
"""The least share of the time of all tasks that gets a line."""
UNKNOWN = "? "
"""How the name of a frame begins that no rule knows: it is a class of its own."""


@dataclass(frozen=True)
class ClassTime:
    """The seconds that all tasks of a trial spent in a class, and their share of the tasks' time.

    `waiting` is the fraction of these seconds in which the thread did not run. The interval of 95 % is the
    share's; None if there is a single group of tasks.
    """

    seconds: float
    share: float
    interval: Interval | None
    waiting: float


@dataclass(frozen=True)
class ProfiledTime:
    """What the tasks of a workload did, on average over its profiled trials.

    - `task_s`: the seconds of all tasks of an execution; `garbage_s`: the seconds of garbage collection
      by Spark's own metric, because stacks do not show it.
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
        return bound(self.profiled)

    @property
    def server_part(self) -> float:
        """The part of all waits for the network that were for a server of a file system; 0 without any."""
        waits = {
            name: time.share * time.waiting
            for name, time in self.by_class.items()
            if WAITS_FOR.get(name) == NETWORK
        }
        servers = math.fsum(waits[name] for name in waits.keys() & SERVERS)
        return servers / math.fsum(waits.values()) if servers else 0.0

    @property
    def unknown_share(self) -> float:
        """The share of what no rule knows."""
        return math.fsum(
            time.share for name, time in self.by_class.items() if name.startswith(UNKNOWN)
        )


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
    task_s = fmean(trial.tasks.time.thread_s for trial, _ in found if trial.tasks)
    return ProfiledTime(
        samples=sum(profile.samples for _, profile in found),
        task_s=task_s,
        garbage_s=fmean(
            (tasks.gc_share or 0.0) * (tasks.time.thread_s - tasks.time.deserialization_s)
            for trial, _ in found
            if (tasks := trial.tasks)
        ),
        by_class=dict(_by_class(groups, task_s)),
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


def _by_class(groups: Sequence[_Group], task_s: float) -> Iterator[tuple[str, ClassTime]]:
    classes = {
        stack: class_of(stack) or UNKNOWN + own_frame(stack) for group in groups for stack in group
    }
    sizes = [sum(map(sum, group.values())) for group in groups]
    hits: dict[str, list[int]] = {name: [0] * len(groups) for name in classes.values()}
    waits: Counter[str] = Counter()
    for number, group in enumerate(groups):
        for stack, counts in group.items():
            hits[classes[stack]][number] += sum(counts)
            waits[classes[stack]] += counts[1]
    for name, of_groups in sorted(hits.items(), key=lambda item: (-sum(item[1]), item[0])):
        if total := sum(of_groups):
            share, interval = share_of_clusters(of_groups, sizes)
            yield name, ClassTime(share * task_s, share, interval, waits[name] / total)
