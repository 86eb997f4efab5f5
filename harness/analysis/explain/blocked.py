"""How much a workload could gain if no task waited for the network: its tasks replayed without their waits.

This is the blocked-time analysis of Ousterhout et al. (Making Sense of Performance in Data Analytics
Frameworks, NSDI 2015). What is removed from a task are the samples of its profile in which its thread did not
run, in a class that may wait for the network; so the gain is the most that is possible.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapreplace
from math import hypot, sqrt
from statistics import fmean, stdev

from harness.analysis.explain.frames import DISK, NETWORK, WAITS_FOR, class_of
from harness.model.profile import Profile, TaskGroup, TaskSpan
from harness.model.run import Trial
from harness.model.task_metrics import TaskMetrics
from harness.statistics.clusters import likely_shares
from harness.statistics.interval import Interval
from harness.statistics.run_table import NORMAL_DF, t_quantile

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


def bound(profiled: Iterable[tuple[Trial, Profile]]) -> Bound | None:
    """Return the bound of a workload by its profile trials; None if the times of tasks are not recorded."""
    replays = [
        Replay(trial.wall_s * trial.executions, trial.tasks, profile)
        for trial, profile in profiled
        if trial.wall_s and trial.tasks and trial.tasks.slots
        if any(group.launched_ms for group in profile.groups)
    ]
    if not replays:
        return None
    return Bound(
        replayed=fmean(replay.unchanged_s / replay.whole_s for replay in replays),
        network=_gain([replay.gain(NETWORK, with_results=True) for replay in replays]),
        disk=_gain([replay.gain(DISK) for replay in replays]),
    )


def _gain(gains: Sequence[tuple[float, float]]) -> Gain:
    """Return the mean of the gains of trials; each gain has a standard error."""
    trials, share = len(gains), fmean(gain for gain, _ in gains)
    error, df = hypot(*(error for _, error in gains)) / trials, NORMAL_DF
    if trials >= MIN_TRIALS:
        error = max(error, stdev(gain for gain, _ in gains) / sqrt(trials))
        df = trials - 1
    distance = t_quantile(df) * error
    return Gain(share, Interval(max(0.0, share - distance), min(1.0, share + distance)))


@dataclass(frozen=True)
class Replay:
    """A trial whose profile has the times of its tasks; `whole_s` is the real time of all executions."""

    whole_s: float
    metrics: TaskMetrics
    profile: Profile

    @cached_property
    def unchanged_s(self) -> float:
        """The time of a replay in which all tasks wait as they did."""
        return self._replayed_s([float(span.lasted_ms) for span, _ in self._tasks])

    def gain(self, waited_for: str, *, with_results: bool = False) -> tuple[float, float]:
        """Return which fraction of the time the waits for NETWORK or DISK cost, and its standard error.

        `with_results` removes the time in which the driver fetched results, too.
        """
        waits: list[float] = [self._waits(group, waited_for) for group in self.profile.groups]
        shares = self._likely_shares(waits)
        chance = random.Random(1)  # noqa: S311  no secret, and the same in every table
        gains = []
        for _ in range(DRAWS):
            groups = zip(shares, self.profile.groups, strict=True)
            again = [_drawn(share, group.samples, chance) for share, group in groups]
            gains.append(self._gain_without(self._likely_shares(again), with_results=with_results))
        return max(0.0, self._gain_without(shares, with_results=with_results)), stdev(gains)

    @cached_property
    def _waits_for(self) -> list[str | None]:
        """What a thread waits for that does not run, at each node of the tree of stacks."""
        return [WAITS_FOR.get(class_of(stack) or "") for stack in self.profile.stacks()]

    @cached_property
    def _tasks(self) -> list[tuple[TaskSpan, int]]:
        return [
            (span, number)
            for number, group in enumerate(self.profile.groups)
            for span in group.spans
        ]

    def _waits(self, group: TaskGroup, waited_for: str) -> int:
        counts = zip(group.nodes, group.waiting, strict=True)
        return sum(waiting for node, waiting in counts if self._waits_for[node] == waited_for)

    def _likely_shares(self, waits: Sequence[float]) -> list[float]:
        """Return in which part of its time each group waited, by its stage and its own samples.

        With its own samples alone, the last task of a stage would end too late: chance would choose the task
        with too few observed waits.
        """
        groups = self.profile.groups
        found: dict[int, float] = {}
        for stage in {group.stage for group in groups}:
            numbers = [number for number, group in enumerate(groups) if group.stage == stage]
            hits, sizes = zip(*((waits[n], groups[n].samples) for n in numbers), strict=True)
            found |= zip(numbers, likely_shares(hits, sizes), strict=True)
        return [found[number] for number in range(len(groups))]

    def _gain_without(self, shares: Sequence[float], *, with_results: bool) -> float:
        """Return the gain if all groups lose these parts of the time in which they had a thread."""
        time = self.metrics.time
        # The part of the time until its result in which a task has a thread, which can be sampled.
        in_thread = time.thread_s / ((time.thread_s + time.scheduler_delay_s) or 1.0)
        lengths_ms = [
            (span.lasted_ms - span.fetching_ms) * max(0.0, 1 - in_thread * shares[number])
            + (0 if with_results else span.fetching_ms)
            for span, number in self._tasks
        ]
        return 1 - self._replayed_s(lengths_ms) / self.unchanged_s

    def _replayed_s(self, lengths_ms: Sequence[float]) -> float:
        """Return the time of all executions if tasks last that long; what follows the last task stays."""
        spans = [span for span, _ in self._tasks]
        last_ms = max(span.launched_ms + span.lasted_ms for span in spans)
        after_ms = max(0.0, self.whole_s * MS_PER_S - last_ms)
        slots = max(1, round(self.metrics.slots or 1))
        return (replayed_ms(spans, lengths_ms, slots) + after_ms) / MS_PER_S


def _drawn(share: float, samples: int, chance: random.Random) -> float:
    """Draw how many samples wait, about as a binomial does; not surely none where none was seen."""
    likely = (share * samples + 0.5) / (samples + 1)
    error = sqrt(samples * likely * (1 - likely))
    return min(float(samples), max(0.0, chance.gauss(share * samples, error)))


def replayed_ms(spans: Sequence[TaskSpan], lengths_ms: Sequence[float], slots: int) -> float:
    """Return when the last of these tasks ends if they last as long as given, not as they did.

    In the order in which they were launched, tasks start on the slot that is free first. A stage begins as
    long after the last of the stages that had ended before it as it really did: it may have depended on
    them, and the driver worked in between.
    """
    began: dict[int, int] = {}
    ended: dict[int, int] = {}
    for span in spans:
        began[span.stage] = min(began.get(span.stage, span.submitted_ms), span.submitted_ms)
        end_ms = span.launched_ms + span.lasted_ms
        ended[span.stage] = max(ended.get(span.stage, 0), end_ms)
    by_end = sorted(ended, key=ended.__getitem__)
    starts: dict[int, float] = {}
    ends = dict.fromkeys(ended, 0.0)
    earlier, earlier_end = 0, 0.0
    free = [0.0] * slots
    for number in sorted(range(len(spans)), key=lambda number: spans[number].launched_ms):
        stage = spans[number].stage
        if stage not in starts:
            while ended[by_end[earlier]] <= began[stage] and by_end[earlier] != stage:
                earlier_end = max(earlier_end, ends[by_end[earlier]])
                earlier += 1
            gap_ms = began[stage] - (ended[by_end[earlier - 1]] if earlier else 0)
            starts[stage] = earlier_end + gap_ms
        end = max(starts[stage], free[0]) + lengths_ms[number]
        heapreplace(free, end)
        ends[stage] = max(ends[stage], end)
    return max(ends.values(), default=0.0)
