"""Rounds until every median is known precisely enough, or until the time is over."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from harness.model.run import Phase, Trial
from harness.runtime.trials import Clock, Observer
from harness.statistics.median import median_interval
from harness.terminal import count_of

MAX_FAILED_TRIALS = 6
"""A workload that has failed this often, and never succeeded, is not waited for any longer."""


@dataclass(frozen=True)
class Precision:
    """How precisely a workload's median is known.

    Its 95 % confidence interval is within ± `half_width` of the median, as a fraction of it. It is
    infinite if there are too few trials for an interval.
    """

    workload: str
    half_width: float

    def __str__(self) -> str:
        is_known = math.isfinite(self.half_width)
        return f"{self.workload}: {f'±{percent(self.half_width)}' if is_known else 'unknown'}"


def percent(fraction: float) -> str:
    """Return `2%` or `3.4%`, rounded up, so that a value above a limit never looks equal to it."""
    return f"{math.ceil(round(fraction * 1000, 6)) / 10:.1f}".removesuffix(".0") + "%"


@dataclass
class _Sample:
    """The measured trials of a workload so far."""

    times_s: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def is_hopeless(self) -> bool:
        return not self.times_s and self.failed >= MAX_FAILED_TRIALS

    @property
    def half_width(self) -> float:
        ordered = sorted(self.times_s)
        interval = median_interval(ordered)
        if interval is None:
            return math.inf
        middle = median(ordered)
        return max(middle - interval[0], interval[1] - middle) / middle if middle else 0.0


class UntilPrecise(Observer):
    """Runs rounds until every workload's median is known to ± `precision`, a fraction of it.

    It learns the times as an observer of the trials. After `max_s` seconds from the start of the
    first round there are no more rounds: none starts that would exceed them if it lasted as long as
    the last one. But one round is always measured. Afterwards `stopped` is the reason for the end.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        warm_up: int,
        precision: float,
        max_s: float,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.warm_up = warm_up
        self.stopped: str | None = None
        self._samples = {name: _Sample() for name in workloads}
        self._precision = precision
        self._max_s = max_s
        self._clock = clock
        self._started = 0.0

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield each round's phase and number from 1; a request for the next decides whether to stop."""
        self._started = self._clock()
        for number in range(1, self.warm_up + 1):
            yield Phase.WARM_UP, number
        for number in count(1):
            round_started = self._clock()
            yield Phase.MEASURED, number
            reason = self._reason_to_stop(self._clock() - round_started)
            if reason:
                self.stopped = f"after {count_of(number, 'round')}, {reason}"
                return

    def finished(self, trial: Trial) -> None:
        """Add a measured trial to its workload's sample."""
        if trial.phase is not Phase.MEASURED:
            return
        sample = self._samples[trial.workload]
        if trial.wall_s is None:
            sample.failed += 1
        else:
            sample.times_s.append(trial.wall_s)

    @property
    def widest(self) -> Precision | None:
        """The precision of the least precise median; None if all workloads are hopeless."""
        precisions = [
            Precision(name, sample.half_width)
            for name, sample in self._samples.items()
            if not sample.is_hopeless
        ]
        return max(precisions, key=lambda precision: precision.half_width, default=None)

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is over; 0 afterwards."""
        return max(0.0, self._started + self._max_s - self._clock())

    def _reason_to_stop(self, round_s: float) -> str | None:
        widest = self.widest
        if widest is None:
            return "no workload has had a successful trial"
        if widest.half_width <= self._precision:
            return f"every median is known to ±{percent(self._precision)} (widest is {widest})"
        if round_s > self.seconds_left:
            return f"another would not have ended in time (widest is {widest})"
        return None
