"""Times of runs, workload by workload, and what they show: times of configurations, and ratios of them.

A run is the unit: its value for a workload is the logarithm of the median of its trials. Only the
differences between runs of a configuration decide how far its time can be relied on (Kalibera and Jones
2013), and of a ratio only those of its two configurations. docs/noise.md has the simulations.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median

from scipy.special import stdtr, stdtrit

from harness.statistics.median import LEVEL, Interval

PRIOR_RUN_SD = 0.05
"""How much runs are taken to differ where none was repeated: it was 4 to 7 % on two virtual machines."""
CLOCK_S = 0.001
"""The standard deviation of a run's time that the clock and the scheduler cause alone."""
MIN_SD = 1e-13
"""The least standard deviation of runs, which equal values have: more than the error of floating point."""
NORMAL_DF = 10**6
"""Degrees of freedom with which Student's t distribution is the normal distribution."""
MAX_MARGIN = 100.0
"""The largest margin of a logarithm: a factor of e^100 means an unknown time; more may overflow."""


@dataclass(frozen=True)
class RunMedian:
    """The median time of one workload in one run.

    `log_time` is the logarithm of the median of its trials' seconds, `trial_variance` the sample
    variance of these logarithms, None for a single trial. `rounding` is the variance of the logarithm that
    comes from rounding, `least_variance` that which comes from clock and scheduler, too.
    """

    log_time: float
    trial_variance: float | None
    trials: int
    rounding: float
    least_variance: float


Run = Mapping[str, RunMedian]
"""The times of one run, by workload."""


def run_median(
    times_s: Sequence[float], clock_s: float = CLOCK_S, rounded_to_s: float = 0.0
) -> RunMedian:
    """Return the time of a run from its trials: one or more times in seconds, each greater than 0.

    `clock_s` is the standard deviation that the clock and the scheduler cause.
    """
    logs = [math.log(time_s) for time_s in times_s]
    value = median(times_s)
    rounding = (rounded_to_s / value) ** 2 / 12  # of a uniform distribution
    return RunMedian(
        math.log(value),
        sample_variance(logs) if len(logs) > 1 else None,
        len(logs),
        rounding,
        max(MIN_SD, clock_s / value) ** 2 + rounding,
    )


@dataclass(frozen=True)
class Estimate:
    """The logarithm of a time, or of a ratio of two times, with its variance.

    `df` are the degrees of freedom of the variance; NORMAL_DF if the variance is a prior one.
    """

    log: float
    variance: float
    df: float

    @property
    def value(self) -> float:
        """The time in seconds, or the ratio after / before."""
        return math.exp(self.log)

    @property
    def interval(self) -> Interval:
        """The 95 % confidence interval of `value`."""
        return self.interval_at(LEVEL)

    def interval_at(self, level: float) -> Interval:
        """Return the confidence interval of `value` at a level such as 0.8."""
        margin = self.margin(level)
        return Interval(math.exp(self.log - margin), math.exp(self.log + margin))

    def margin(self, level: float = LEVEL) -> float:
        """Return half the width of the confidence interval of the logarithm."""
        quantile = float(stdtrit(self.df, (1 + level) / 2))
        return min(MAX_MARGIN, quantile * math.sqrt(self.variance))

    @property
    def p(self) -> float:
        """The two-sided p value of the null hypothesis that the ratio is 1."""
        return 2 * float(stdtr(self.df, -abs(self.log) / math.sqrt(self.variance)))


@dataclass(frozen=True)
class Contrast:
    """The logarithm of a time or of a ratio of two, and how much the runs differ that it comes from.

    `variance` is that between runs, with `df` degrees of freedom. Times `per_run`, it is the variance of the
    logarithm, which is never less than `least`: that of rounding, or that of each side by its own runs, which
    is more if the side with fewer runs varies more. `residuals` are what runs differ from the mean of their
    configuration; empty if the variance is that of other runs.
    """

    log: float
    variance: float
    df: float
    per_run: float
    least: float
    residuals: Mapping[Hashable, float]

    @property
    def estimate(self) -> Estimate:
        """The estimate by the variance of these runs alone."""
        return self.with_variance(self.variance, self.df)

    def with_variance(self, variance: float, df: float) -> Estimate:
        """Return the estimate by another variance between runs."""
        return Estimate(self.log, max(variance * self.per_run, self.least), df)


@dataclass(frozen=True)
class RunTable:
    """The runs of each configuration. A run without times counts for nothing.

    `applications` names for each run the application that made it, None if that is unknown. Configurations
    that take turns in an application have a run each of the same one.
    """

    configurations: Sequence[Sequence[Run]]
    applications: Sequence[Sequence[str | None]] = ()

    def runs(self, configuration: int, workload: str) -> int:
        """Return in how many runs a configuration has this workload."""
        return sum(workload in run for run in self.configurations[configuration])

    def runs_of_either(self, before: int, after: int, workload: str) -> int:
        """Return in how many runs this workload is, on the side that has fewer."""
        return min(self.runs(before, workload), self.runs(after, workload))

    @cached_property
    def workloads(self) -> tuple[str, ...]:
        """Every workload that has a time in some run."""
        runs = (run for runs in self.configurations for run in runs)
        return tuple(dict.fromkeys(name for run in runs for name in run))

    @property
    def has_repeated_runs(self) -> bool:
        """Whether any configuration has several runs; otherwise their variance is a prior one."""
        return bool(self._variances)

    def is_in_turns(self, before: int, after: int) -> bool:
        """Return whether both took turns in the same applications, two or more, each in each of them once."""
        if not self.applications:
            return False
        names = [self.applications[side] for side in (before, after)]
        return (
            set(names[0]) == set(names[1])
            and None not in names[0]
            and all(len(set(side)) == len(side) > 1 for side in names)
        )

    def time(self, configuration: int, workload: str) -> Estimate:
        """Return the geometric mean of the runs' times in seconds."""
        return self._contrast([configuration], [workload]).estimate

    def ratio(self, before: int, after: int, workload: str) -> Estimate:
        """Return a workload's ratio of times, after / before."""
        return self.contrast(before, after, [workload]).estimate

    def contrast(
        self, before: int, after: int, workloads: Collection[str], controls: Collection[str] = ()
    ) -> Contrast:
        """Return the common ratio of these workloads, after / before, relative to that of the controls.

        What differs between applications cancels if both took turns in them.
        """
        return self._contrast([before, after], workloads, controls)

    def run_sd(self, workload: str) -> float:
        """Return the standard deviation between runs, as a fraction of the time."""
        return math.sqrt(self._usual_variance(workload))

    def trial_sd(self, workload: str) -> float | None:
        """Return the standard deviation of the trials of a run, as a fraction of the time.

        None if no run repeated a trial.
        """
        found = [
            (run[workload].trials - 1, variance)
            for runs in self.configurations
            for run in runs
            if workload in run and (variance := run[workload].trial_variance) is not None
        ]
        df = sum(freedom for freedom, _ in found)
        return math.sqrt(math.fsum(n * variance for n, variance in found) / df) if found else None

    def _contrast(
        self,
        configurations: Sequence[int],
        workloads: Collection[str],
        controls: Collection[str] = (),
    ) -> Contrast:
        """Return the mean of one configuration, or the difference of the means of two."""
        samples = [self._logs(number, workloads, controls) for number in configurations]
        factor = 1.0
        if pairs := self._pairs(configurations, samples):
            samples, factor = [pairs], math.sqrt(2)
        means = [fmean(sample.values()) for sample in samples]
        residuals: dict[Hashable, float] = {
            (number, run): log - mean
            for number, (sample, mean) in enumerate(zip(samples, means, strict=True))
            for run, log in sample.items()
        }
        df = len(residuals) - len(samples)
        sides = [
            [run[name] for run in self.configurations[number] for name in workloads if name in run]
            for number in configurations
        ]
        least = fmean(fmean(run.least_variance for run in side) for side in sides)
        usual = fmean(map(self._usual_variance, workloads)) if not df else 0.0
        own = (sample_variance([*s.values()]) / len(s) for s in samples if len(s) > 1)
        return Contrast(
            log=factor * (means[-1] - sum(means[:-1])),
            variance=max(sum_of_squares(residuals.values()) / df, least) if df else usual,
            df=df or NORMAL_DF,
            per_run=factor**2 * math.fsum(1 / len(sample) for sample in samples),
            least=max(
                math.fsum(fmean(run.rounding for run in side) for side in sides),
                factor**2 * math.fsum(own),
            ),
            residuals=residuals if df else {},
        )

    def _logs(
        self, configuration: int, workloads: Collection[str], controls: Collection[str] = ()
    ) -> dict[Hashable, float]:
        """Return what these workloads have in common in each run that has one of them, by its number.

        That is relative to what the controls have in common in the run, if it has one of them.
        """
        means, residuals = [], defaultdict[Hashable, list[float]](list)
        for name in workloads:
            runs = enumerate(self.configurations[configuration])
            logs = {number: run[name].log_time for number, run in runs if name in run}
            means.append(fmean(logs.values()))
            for number, log in logs.items():
                residuals[number].append(log - means[-1])
        relative_to = self._logs(configuration, controls) if controls else {}
        return {
            number: fmean(means) + fmean(own) - relative_to.get(number, 0.0)
            for number, own in residuals.items()
        }

    def _pairs(
        self, configurations: Sequence[int], samples: Sequence[Mapping[Hashable, float]]
    ) -> dict[Hashable, float]:
        """Return the differences of two configurations by application, if both took turns in some.

        They are divided by the square root of 2, so that they vary as the values of a run.
        """
        if len(samples) == 1 or not self.is_in_turns(*configurations):
            return {}
        earlier, later = (
            {name: sample[n] for n, name in enumerate(self.applications[side]) if n in sample}
            for side, sample in zip(configurations, samples, strict=True)
        )
        both = [name for name in earlier if name in later]
        differences: dict[Hashable, float] = {
            name: (later[name] - earlier[name]) / math.sqrt(2) for name in both
        }
        return differences if len(both) > 1 else {}

    @cached_property
    def _variances(self) -> dict[str, float]:
        """The variance between runs of each workload that some configuration repeated, from all of them."""
        found = {}
        for name in self.workloads:
            numbers = [n for n in range(len(self.configurations)) if self.runs(n, name) > 1]
            times = [self._contrast([number], [name]) for number in numbers]
            if times:
                df = sum(time.df for time in times)
                found[name] = math.fsum(time.df * time.variance for time in times) / df
        return found

    def _usual_variance(self, workload: str) -> float:
        """Return the variance between runs; that of other workloads if no configuration repeated it."""
        usual = median(self._variances.values()) if self._variances else PRIOR_RUN_SD**2
        return self._variances.get(workload, usual)


def sample_variance(values: Sequence[float]) -> float:
    """Return the sample variance of two or more finite numbers; of equal ones, it is exactly 0.

    `statistics.variance` computes with fractions, which takes twenty times as long for the same digits.
    """
    first = values[0]  # whatever is subtracted from all of them
    mean = first + fmean(value - first for value in values)
    return sum_of_squares(value - mean for value in values) / (len(values) - 1)


def sum_of_squares(values: Iterable[float]) -> float:
    """Return the sum of the squares, with a single rounding."""
    return math.fsum(value**2 for value in values)
