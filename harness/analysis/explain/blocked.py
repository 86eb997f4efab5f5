"""How much a workload could gain if no task waited for the network: its tasks replayed without their waits.

This is the blocked-time analysis of Ousterhout et al. (Making Sense of Performance in Data Analytics
Frameworks, NSDI 2015). What is removed from a task are the samples of its profile in which its thread did not
run, in a class that may wait for the network; so the gain is the most that is possible.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapreplace
from math import hypot, sqrt
from statistics import fmean, stdev

from harness.analysis.explain.frames import DISK, NETWORK, class_of
from harness.model.profile import Profile, TaskSpan
from harness.model.run import Trial
from harness.model.task_metrics import TaskMetrics
from harness.statistics.median import LEVEL, Interval
from harness.statistics.mixed_model import NORMAL_DF
from harness.statistics.student import two_sided_quantile

DRAWS = 40
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

    trials: int
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
        trials=len(replays),
        replayed=fmean(replay.unchanged_s / replay.whole_s for replay in replays),
        network=_gain([replay.gain(NETWORK, with_results=True) for replay in replays]),
        disk=_gain([replay.gain(DISK) for replay in replays]),
    )


def _gain(gains: Sequence[tuple[float, float]]) -> Gain:
    """Return the mean of the gains of trials, of which each has a standard error."""
    trials, share = len(gains), fmean(gain for gain, _ in gains)
    error, df = hypot(*(error for _, error in gains)) / trials, NORMAL_DF
    if trials >= MIN_TRIALS:
        error = max(error, stdev(gain for gain, _ in gains) / sqrt(trials))
        df = trials - 1
    distance = two_sided_quantile(df, 1 - LEVEL) * error
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

    def gain(self, classes: Collection[str], *, with_results: bool = False) -> tuple[float, float]:
        """Return which fraction of the time the waits in these classes cost, and its standard error.

        `with_results` removes the time in which the driver fetched results, too. Chance in the samples makes
        a stage end later on average: its last task is the one of which too few waits were seen. Drawing
        the samples anew shows by how much; that is taken away.
        """
        fractions = self._fractions(classes)
        gain = self._gain_without(fractions, with_results=with_results)
        errors = [
            _standard_error(fraction, group.samples)
            for fraction, group in zip(fractions, self.profile.groups, strict=True)
        ]
        chance = random.Random(1)  # noqa: S311  no secret, and the same in every table
        drawn = [
            self._gain_without(
                list(map(chance.gauss, fractions, errors)), with_results=with_results
            )
            for _ in range(DRAWS)
        ]
        return max(0.0, 2 * gain - fmean(drawn)), stdev(drawn)

    @cached_property
    def _classes(self) -> list[str | None]:
        """The class of each node of the tree of stacks."""
        return [class_of(stack) for stack in self.profile.stacks()]

    @cached_property
    def _tasks(self) -> list[tuple[TaskSpan, int]]:
        """When each task ran, and the number of its group."""
        return [
            (span, number)
            for number, group in enumerate(self.profile.groups)
            for span in group.spans
        ]

    def _fractions(self, classes: Collection[str]) -> list[float]:
        """Return in which part of its samples each group waited; that of its stage if it was never seen."""
        groups = self.profile.groups
        waits = [
            sum(
                waiting
                for node, waiting in zip(group.nodes, group.waiting, strict=True)
                if self._classes[node] in classes
            )
            for group in groups
        ]
        waits_of, samples_of = Counter[int](), Counter[int]()
        for group, waiting in zip(groups, waits, strict=True):
            waits_of[group.stage] += waiting
            samples_of[group.stage] += group.samples
        return [
            waiting / group.samples
            if group.samples
            else waits_of[group.stage] / (samples_of[group.stage] or 1)
            for group, waiting in zip(groups, waits, strict=True)
        ]

    def _gain_without(self, fractions: Sequence[float], *, with_results: bool) -> float:
        """Return the gain if all groups lose these fractions of the time in which they had a thread."""
        in_thread = self._thread_share
        lengths_ms = [
            (span.lasted_ms - span.fetching_ms) * max(0.0, 1 - in_thread * fractions[number])
            + (0 if with_results else span.fetching_ms)
            for span, number in self._tasks
        ]
        return 1 - self._replayed_s(lengths_ms) / self.unchanged_s

    @cached_property
    def _thread_share(self) -> float:
        """Which part of the time until its result a task has a thread, which can be sampled."""
        time = self.metrics.time
        return time.thread_s / ((time.thread_s + time.scheduler_delay_s) or 1.0)

    def _replayed_s(self, lengths_ms: Sequence[float]) -> float:
        """Return the time of all executions if tasks take so long; what follows the last task stays."""
        spans = [span for span, _ in self._tasks]
        last_ms = max(span.launched_ms + span.lasted_ms for span in spans)
        after_ms = max(0.0, self.whole_s * MS_PER_S - last_ms)
        slots = max(1, round(self.metrics.slots or 1))
        return (replayed_ms(spans, lengths_ms, slots) + after_ms) / MS_PER_S


def _standard_error(fraction: float, samples: int) -> float:
    """Return that of a fraction of samples, which is not 0 where all samples agree."""
    likely = (fraction * samples + 0.5) / (samples + 1)
    return sqrt(likely * (1 - likely) / (samples or 1))


def replayed_ms(spans: Sequence[TaskSpan], lengths_ms: Sequence[float], slots: int) -> float:
    """Return when the last of these tasks ends if they last as long as given, not as they did.

    In the order in which they were launched, tasks start on the slot that is free first. The first task of a
    stage starts as long as it did after the last of those stages which had ended before: those it may
    have depended on, and the driver worked in between.
    """
    began: dict[int, int] = {}
    ended: dict[int, int] = {}
    for span in spans:
        began[span.stage] = min(began.get(span.stage, span.launched_ms), span.launched_ms)
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
