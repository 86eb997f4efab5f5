"""All that was measured of one workload in one configuration, and what it comes to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from harness.model.run import Phase, RecordedRun, Trial
from harness.statistics.median import median_interval
from harness.statistics.rank_test import Interval


class Outcome(StrEnum):
    """What a sample holds: times, or why there are none."""

    MEASURED = "measured"
    FAILED = "failed"
    OMITTED = "omitted"
    MISSING = "missing"


@dataclass(frozen=True)
class Sample:
    """The measured trials of one workload in one configuration; warm-up trials are never in it.

    `times_s` are wall-clock seconds of the trials that are ok, in the order of measurement;
    `errors` has one line for each that failed; `omissions` say why runs left the workload out.
    """

    workload: str
    times_s: tuple[float, ...] = ()
    errors: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """MEASURED as soon as one trial is ok; MISSING if nothing at all is known."""
        if self.times_s:
            return Outcome.MEASURED
        if self.errors:
            return Outcome.FAILED
        return Outcome.OMITTED if self.omissions else Outcome.MISSING


@dataclass(frozen=True)
class Summary:
    """What a sample comes to.

    `median_s` is in seconds; `interval_s` is where the true median lies at 95 %, None of fewer than
    six trials. `n` counts the trials that are ok.
    """

    median_s: float
    interval_s: Interval | None
    n: int

    @property
    def uncertainty(self) -> float | None:
        """How far the ends of the interval are from the median, as a share of it."""
        if self.interval_s is None:
            return None
        return share(self.interval_s.max_distance(self.median_s), self.median_s)


def take_sample(workload: str, runs: Iterable[RecordedRun]) -> Sample:
    """The sample of a workload, pooled over the runs of one configuration."""
    runs = tuple(runs)
    trials = [trial for recorded in runs for trial in recorded.trials if _counts(trial, workload)]
    return Sample(
        workload=workload,
        times_s=tuple(trial.wall_s for trial in trials if trial.wall_s is not None),
        errors=tuple(trial.error for trial in trials if trial.error is not None),
        omissions=tuple(
            recorded.run.omitted[workload] for recorded in runs if workload in recorded.run.omitted
        ),
    )


def _counts(trial: Trial, workload: str) -> bool:
    return trial.workload == workload and trial.phase is Phase.MEASURED


def summarize(sample: Sample) -> Summary:
    """Median, its interval and number of a sample's times. Raises ValueError if it has none."""
    if not sample.times_s:
        raise ValueError(f"nothing was measured of {sample.workload}")
    times_s = sorted(sample.times_s)
    n = len(times_s)
    ends = median_interval(times_s)
    middle = Interval(times_s[(n - 1) // 2], times_s[n // 2]).middle
    return Summary(middle, Interval(*ends) if ends else None, n)


def share(difference: float, base: float) -> float | None:
    """`difference` as a share of `base`: 0.01 is 1 %; None where that is no finite number."""
    if base == 0:
        return None
    ratio = difference / base
    return ratio if math.isfinite(ratio) else None
