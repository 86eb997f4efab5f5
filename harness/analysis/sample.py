"""The measured trials of one workload in one configuration, and their summary."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.model.run import Phase, RecordedRun, Trial
from harness.runtime.warm_up import AUTO, needed_trials, unsteady_workloads
from harness.statistics.median import Interval, median_interval


class Outcome(StrEnum):
    """Whether a sample has times, or why it has none."""

    MEASURED = "measured"
    FAILED = "failed"
    OMITTED = "omitted"
    MISSING = "missing"


@dataclass(frozen=True)
class Sample:
    """The measured trials of one workload in one configuration, without warm-up trials.

    `times_s` are the wall-clock seconds of the trials that are ok, in the order of measurement;
    `errors` has one line for each failed trial; `omissions` are the reasons why runs omitted the
    workload; `unsteady` are the reasons why nobody can tell that it became steady in a run; `disturbed`
    is the number of trials that do not count because something disturbed them.
    """

    workload: str
    times_s: tuple[float, ...] = ()
    errors: tuple[str, ...] = ()
    omissions: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    disturbed: int = 0

    @property
    def outcome(self) -> Outcome:
        """MEASURED if at least one trial is ok; MISSING if nothing at all is recorded."""
        if self.times_s:
            return Outcome.MEASURED
        if self.errors:
            return Outcome.FAILED
        return Outcome.OMITTED if self.omissions else Outcome.MISSING


@dataclass(frozen=True)
class Summary:
    """The median of a sample.

    `median_s` is in seconds; `interval_s` is its 95 % confidence interval, None for fewer than six
    trials; `n` counts the trials that are ok.
    """

    median_s: float
    interval_s: Interval | None
    n: int

    @property
    def uncertainty(self) -> float | None:
        """Distance from the median to the farther end of the interval, as a fraction of the median."""
        if self.interval_s is None:
            return None
        return fraction(self.interval_s.max_distance(self.median_s), self.median_s)


def measured_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the trials of all runs that count: neither warm-up trials nor disturbed ones."""
    for recorded in runs:
        yield from (t for t in recorded.trials if t.phase is Phase.MEASURED and not t.disturbed)


def disturbed_trials(runs: Iterable[RecordedRun]) -> Iterator[Trial]:
    """Yield the trials of all runs that would count if nothing had disturbed them."""
    for recorded in runs:
        yield from (t for t in recorded.trials if t.phase is Phase.MEASURED and t.disturbed)


def unsteady(recorded: RecordedRun) -> Mapping[str, str]:
    """Return the workloads of a run that never became steady, and the reason of each.

    A run with a fixed number of warm-up rounds does not look for it, and has none.
    """
    if recorded.run.parameters.get("warmup") != AUTO:
        return {}
    return unsteady_workloads(recorded.trials, needed_trials(recorded.run))


def take_sample(workload: str, runs: Iterable[RecordedRun]) -> Sample:
    """Return the sample of a workload, pooled over the runs of one configuration."""
    runs = tuple(runs)
    trials = [trial for trial in measured_trials(runs) if trial.workload == workload]
    return Sample(
        workload=workload,
        times_s=tuple(trial.wall_s for trial in trials if trial.wall_s is not None),
        errors=tuple(trial.error for trial in trials if trial.error is not None),
        omissions=tuple(
            recorded.run.omitted[workload] for recorded in runs if workload in recorded.run.omitted
        ),
        unsteady=tuple(
            reason for recorded in runs if (reason := unsteady(recorded).get(workload)) is not None
        ),
        disturbed=sum(trial.workload == workload for trial in disturbed_trials(runs)),
    )


def summarize(sample: Sample) -> Summary:
    """Return the summary of a sample's times. Raises ValueError if it has none."""
    if not sample.times_s:
        raise ValueError(f"{sample.workload} has no measured times")
    times_s = sorted(sample.times_s)
    n = len(times_s)
    middle = Interval(times_s[(n - 1) // 2], times_s[n // 2]).middle
    return Summary(middle, median_interval(times_s), n)


def fraction(part: float, whole: float) -> float | None:
    """Return part / whole: 0.01 is 1 %. None if that is not a finite number."""
    if whole == 0:
        return None
    quotient = part / whole
    return quotient if math.isfinite(quotient) else None


def relative_change(before: float, after: float) -> float | None:
    """Return after / before - 1: -0.095 is 9.5 % less. None if that is not a finite number."""
    return fraction(after - before, before)
