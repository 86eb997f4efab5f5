"""How much a workload could gain if no task waited for the network: its tasks replayed without their waits.

This is the blocked-time analysis of Ousterhout et al. (Making Sense of Performance in Data Analytics
Frameworks, NSDI 2015). Each task loses the samples of its profile in which its thread did not run, in a class
that may wait for the network. So the gain is the largest possible one.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapreplace
from math import hypot, sqrt
from statistics import fmean, stdev

from harness.analysis.explain.frames import DISK, NETWORK, WAITS_FOR, classes_of
from harness.base.items import grouped
from harness.model.profile import Profile, TaskSpan
from harness.model.run import Trial
from harness.model.task_metrics import TaskMetrics
from harness.statistics.clusters import likely_shares
from harness.statistics.interval import Interval
from harness.statistics.run_model import NORMAL_DF, t_quantile

DRAWS = 20
"""How often the samples of all tasks are drawn anew, to know by how much they mislead."""
MIN_TRIALS = 3
"""With fewer, the differences between trials show less than the samples of each."""
MS_PER_S = 1e3


@dataclass(frozen=True)
class Gain:
    """The fraction of a workload's time that is saved at most, and its interval of 95 %."""

    share: float
    interval: Interval


@dataclass(frozen=True)
class Bound:
    """What a workload gains at most if no task waits for the network, and if none waits for a disk.

    `replayed` is the time of a replay in which all tasks wait as they did, as a fraction of the real time.
    """

    replayed: float
    network: Gain
    disk: Gain


def bound_of(profiled: Iterable[tuple[Trial, Profile]]) -> Bound | None:
    """Return the bound of a workload by its profile trials; None if the times of tasks are not recorded."""
    replays: list[Replay] = []
    for trial, profile in profiled:
        is_timed = any(group.launched_ms for group in profile.groups)
        if is_timed and trial.wall_s and trial.tasks and trial.tasks.slots:
            replays.append(Replay(trial.wall_s * trial.executions, trial.tasks, profile))
    if not replays:
        return None
    return Bound(
        replayed=fmean(replay.unchanged_s / replay.whole_s for replay in replays),
        network=_gain(replays, NETWORK, with_results=True),
        disk=_gain(replays, DISK),
    )


def _gain(replays: Sequence["Replay"], waited_for: str, *, with_results: bool = False) -> Gain:
    """Return the mean of the gains of trials. Each gain has a standard error."""
    trials = len(replays)
    shares: list[float] = []
    errors: list[float] = []
    for replay in replays:
        share, error = replay.gain(waited_for, with_results=with_results)
        shares.append(share)
        errors.append(error)
    share = fmean(shares)
    error = hypot(*errors) / trials
    df = NORMAL_DF
    if trials >= MIN_TRIALS:
        error = max(error, stdev(shares) / sqrt(trials))
        df = trials - 1
    distance = t_quantile(df) * error
    return Gain(share, Interval(max(0.0, share - distance), min(1.0, share + distance)))


@dataclass(frozen=True)
class Replay:
    """A trial whose profile has the times of its tasks. `whole_s` is the real time of all executions."""

    whole_s: float
    metrics: TaskMetrics
    profile: Profile

    @cached_property
    def unchanged_s(self) -> float:
        """The time of a replay in which all tasks wait as they did."""
        return self._replayed_s([float(span.lasted_ms) for span in self._spans])

    def gain(self, waited_for: str, *, with_results: bool = False) -> tuple[float, float]:
        """Return which fraction of the time the waits for NETWORK or DISK cost, and its standard error.

        `with_results` removes the time in which the driver fetched results, too.
        """
        shares = self._likely_shares(self._seen_waits(waited_for))
        chance = random.Random(1)  # noqa: S311  no secret, and the same in every table
        gains: list[float] = []
        for _ in range(DRAWS):
            again = self._likely_shares(self._drawn_waits(shares, chance))
            gains.append(self._gain_without(again, with_results=with_results))
        return max(0.0, self._gain_without(shares, with_results=with_results)), stdev(gains)

    def _drawn_waits(self, shares: Sequence[float], chance: random.Random) -> list[float]:
        """Return how often each group might have been seen to wait if it waits for this share."""
        waits: list[float] = []
        for share, samples in zip(shares, self._samples_of_groups, strict=True):
            drawn = chance.gauss(share * samples, _error(share, samples))
            waits.append(min(float(samples), max(0.0, drawn)))
        return waits

    @cached_property
    def _waited_for_at_node(self) -> list[str | None]:
        """What a thread waits for that does not run, at each node of the tree of stacks."""
        return list(map(WAITS_FOR.get, classes_of(self.profile)))

    @cached_property
    def _samples_of_groups(self) -> list[int]:
        """How many stacks were seen of each group."""
        return [group.samples for group in self.profile.groups]

    @cached_property
    def _groups_by_stage(self) -> list[list[int]]:
        """The numbers of the groups of each stage."""
        groups = self.profile.groups
        by_stage = grouped(range(len(groups)), lambda number: groups[number].stage)
        return list(by_stage.values())

    @cached_property
    def _spans(self) -> list[TaskSpan]:
        """When each task ran."""
        spans: list[TaskSpan] = []
        for group in self.profile.groups:
            spans += group.spans
        return spans

    @cached_property
    def _schedule(self) -> "Schedule":
        return Schedule(self._spans, max(1, round(self.metrics.slots or 1)))

    def _seen_waits(self, waited_for: str) -> list[int]:
        """Return how often each group was seen to wait for this."""
        waits: list[int] = []
        for group in self.profile.groups:
            seen = 0
            for node, waiting in zip(group.nodes, group.waiting, strict=True):
                if self._waited_for_at_node[node] == waited_for:
                    seen += waiting
            waits.append(seen)
        return waits

    def _likely_shares(self, waits: Sequence[float]) -> list[float]:
        """Return in which part of its time each group waited, by its stage and its own samples.

        With its own samples alone, the last task of a stage would end too late: chance would choose the task
        with too few observed waits.
        """
        found = [0.0] * len(waits)
        for numbers in self._groups_by_stage:
            hits = [waits[number] for number in numbers]
            sizes = [self._samples_of_groups[number] for number in numbers]
            for number, share in zip(numbers, likely_shares(hits, sizes), strict=True):
                found[number] = share
        return found

    def _gain_without(self, shares: Sequence[float], *, with_results: bool) -> float:
        """Return the gain if all groups lose these parts of the time in which they had a thread."""
        time = self.metrics.time
        # The part of the time until its result in which a task has a thread, which can be sampled.
        in_thread = time.thread_s / ((time.thread_s + time.scheduler_delay_s) or 1.0)
        lengths_ms: list[float] = []
        for share, group in zip(shares, self.profile.groups, strict=True):
            kept = max(0.0, 1 - in_thread * share)
            for lasted, fetching in zip(group.lasted_ms, group.fetching_ms, strict=True):
                length_ms = (lasted - fetching) * kept
                lengths_ms.append(length_ms if with_results else length_ms + fetching)
        return 1 - self._replayed_s(lengths_ms) / self.unchanged_s

    def _replayed_s(self, lengths_ms: Sequence[float]) -> float:
        """Return the time of all executions if tasks last that long; what follows the last task stays."""
        after_ms = max(0.0, self.whole_s * MS_PER_S - self._schedule.last_ms)
        return (self._schedule.replayed_ms(lengths_ms) + after_ms) / MS_PER_S


def _error(share: float, samples: int) -> float:
    """Return the standard error of how many samples wait. It is not 0 where none was seen to wait."""
    likely = (share * samples + 0.5) / (samples + 1)
    return sqrt(samples * likely * (1 - likely))


class Schedule:
    """When tasks started, and what had ended before: to replay them with other lengths.

    In the order in which they were launched, tasks start on the slot that is free first. A stage begins as
    long after the last of the stages that had ended before it as it really did: it may have depended on
    them, and the driver worked in between.
    """

    def __init__(self, spans: Sequence[TaskSpan], slots: int) -> None:
        self._slots = slots
        began: dict[int, int] = {}
        ended: dict[int, int] = {}
        for span in spans:
            began[span.stage] = min(began.get(span.stage, span.submitted_ms), span.submitted_ms)
            end_ms = span.launched_ms + span.lasted_ms
            ended[span.stage] = max(ended.get(span.stage, 0), end_ms)
        self.last_ms = max(ended.values(), default=0)
        """When the last task really ended."""
        in_order = sorted(range(len(spans)), key=lambda number: spans[number].launched_ms)
        self._tasks = [(number, spans[number].stage) for number in in_order]
        self._by_end = sorted(ended, key=ended.__getitem__)
        self._starts: dict[int, tuple[int, int]] = {}
        """How many of `_by_end` had ended before each stage, and how long after the last of them it began."""
        earlier = 0
        for _, stage in self._tasks:
            if stage not in self._starts:
                while self._by_end[earlier] != stage:
                    end_ms = ended[self._by_end[earlier]]
                    if end_ms > began[stage]:
                        break
                    earlier += 1
                before_ms = ended[self._by_end[earlier - 1]] if earlier else 0
                self._starts[stage] = (earlier, began[stage] - before_ms)

    def replayed_ms(self, lengths_ms: Sequence[float]) -> float:
        """Return when the last of the tasks ends if they last as long as given, not as they did."""
        starts: dict[int, float] = {}
        ends = dict.fromkeys(self._starts, 0.0)
        free = [0.0] * self._slots
        passed = 0
        last_end = 0.0
        for number, stage in self._tasks:
            start = starts.get(stage)
            if start is None:
                earlier, gap_ms = self._starts[stage]
                for ended in self._by_end[passed:earlier]:
                    last_end = max(last_end, ends[ended])
                passed = earlier
                start = last_end + gap_ms
                starts[stage] = start
            end = max(start, free[0]) + lengths_ms[number]
            heapreplace(free, end)
            ends[stage] = max(ends[stage], end)
        return max(ends.values(), default=0.0)
