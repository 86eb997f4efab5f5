"""As many rounds as it takes to know every median well enough, or as the time allows."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from statistics import median

from harness.model.run import Phase, Trial
from harness.runtime.trials import Clock
from harness.statistics.median import median_interval

HOPELESS_AFTER = 6
"""So many trials of a workload, all failed, and it is not waited for any more."""


@dataclass(frozen=True)
class Width:
    """How well a workload's median is known: its 95 % interval lies within ± `share` of it.

    `share` is None of fewer trials than an interval takes.
    """

    workload: str
    share: float | None

    def __str__(self) -> str:
        known = "unknown" if self.share is None else f"±{percent(self.share)}"
        return f"{self.workload}: {known}"


def percent(share: float) -> str:
    """`2%`, `3.4%`: rounded up, so that what is wider than a limit does not look like it."""
    return f"{math.ceil(round(share * 1000, 6)) / 10:.1f}".removesuffix(".0") + "%"


@dataclass
class _Sample:
    """The measured trials of a workload so far."""

    times_s: list[float] = field(default_factory=list)
    failed: int = 0

    @property
    def is_hopeless(self) -> bool:
        return not self.times_s and self.failed >= HOPELESS_AFTER

    @property
    def share(self) -> float | None:
        ordered = sorted(self.times_s)
        interval = median_interval(ordered)
        if interval is None:
            return None
        middle = median(ordered)
        max_distance = max(middle - interval[0], interval[1] - middle)
        return max_distance / middle if middle else 0.0


class UntilPrecise:
    """Rounds until every workload's median is known to ± `precision`, or `max_s` are over.

    It sees the trials as an observer. `precision` is a share, `max_s` are seconds from the start of
    the first round; no round is begun that would end after them if it took as long as the last one,
    but one is always measured. `stopped` says afterwards why there were no more.
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
        """Each round's phase and number from 1; whether another follows is decided when asked."""
        self._started = self._clock()
        for number in range(1, self.warm_up + 1):
            yield Phase.WARM_UP, number
        for number in count(1):
            began = self._clock()
            yield Phase.MEASURED, number
            why = self._why_stop(self._clock() - began)
            if why:
                rounds = "1 round" if number == 1 else f"{number} rounds"
                self.stopped = f"after {rounds}, {why}"
                return

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Nothing is known of it yet."""

    def finished(self, trial: Trial) -> None:
        """Count it."""
        if trial.phase is not Phase.MEASURED:
            return
        sample = self._samples[trial.workload]
        if trial.wall_s is None:
            sample.failed += 1
        else:
            sample.times_s.append(trial.wall_s)

    @property
    def widest(self) -> Width | None:
        """The median that is known worst; None if there is none to wait for."""
        widths = [
            Width(name, sample.share)
            for name, sample in self._samples.items()
            if not sample.is_hopeless
        ]
        return max(widths, key=_how_wide, default=None)

    @property
    def seconds_left(self) -> float:
        """Until the time is over; 0 if it is."""
        return max(0.0, self._started + self._max_s - self._clock())

    def _why_stop(self, round_s: float) -> str | None:
        widest = self.widest
        if widest is None:
            return "no workload has had a trial that was ok"
        if _how_wide(widest) <= self._precision:
            return f"every median is known to ±{percent(self._precision)} (widest is {widest})"
        if round_s > self.seconds_left:
            return f"another would not have ended in time (widest is {widest})"
        return None


def _how_wide(width: Width) -> float:
    return math.inf if width.share is None else width.share
