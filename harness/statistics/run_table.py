"""Times of runs, workload by workload, and what they show: times of configurations, and ratios of them.

A run is the unit: its value for a workload is the logarithm of the median of its trials. Only the
differences between runs of a configuration decide how far its time can be relied on (Kalibera and Jones
2013), and of a ratio only those of its two configurations. Of many runs, neighbours count as one, because
they have the machine's good or bad minutes in common (batch means). docs/noise.md has the simulations.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import fmean, median

from harness.statistics.interval import LEVEL, Interval

PRIOR_RUN_SD = 0.05
"""How much runs are taken to differ where none was repeated: it was 4 to 7 % on two virtual machines."""
CLOCK_S = 0.001
"""The standard deviation of a run's time that the clock and the scheduler cause alone."""
MIN_SD = 1e-13
"""The least standard deviation of runs, which equal values have: more than the error of floating point."""
NORMAL_DF = 10**6
"""Degrees of freedom with which Student's t distribution is the normal distribution."""
BATCHES = 6
"""Into how many batches of neighbours more runs than these are divided."""
MAX_MARGIN = 100.0
"""The largest margin of a logarithm: a factor of e^100 means an unknown time; more may overflow."""


@dataclass(frozen=True)
class RunMedian:
    """The median time of one workload in one run.

    `log_time` is the logarithm of the median of its trials' seconds, `least_variance` how well that can be
    known at best: the variance that the clock, the scheduler and rounding cause.
    """

    log_time: float
    least_variance: float


Run = Mapping[str, RunMedian]
"""The times of one run, by workload."""


def run_median(
    times_s: Sequence[float], clock_s: float = CLOCK_S, rounded_to_s: float = 0.0
) -> RunMedian:
    """Return the time of a run from its trials: one or more times in seconds, each greater than 0.

    `clock_s` is the standard deviation that the clock and the scheduler cause.
    """
    value = median(times_s)
    rounding = (rounded_to_s / value) ** 2 / 12  # of a uniform distribution
    return RunMedian(math.log(value), max(MIN_SD, clock_s / value) ** 2 + rounding)


def t_quantile(df: float, level: float = LEVEL) -> float:
    """Return the standard errors on either side of the confidence interval of a mean by Student's t."""
    from scipy.special import stdtrit  # noqa: PLC0415  loads for 0.4 s

    return float(stdtrit(df, (1 + level) / 2))


@dataclass(frozen=True)
class Estimate:
    """The logarithm of a time, or of a ratio of two times, with its variance.

    `df` are the degrees of freedom of the variance; NORMAL_DF if that is not from runs that were repeated.
    `per_run` is which multiple of the variance between runs it is.
    """

    log: float
    variance: float
    df: float
    per_run: float = 1.0

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
        return min(MAX_MARGIN, t_quantile(self.df, level) * math.sqrt(self.variance))

    def p(self, ratio: float = 1.0) -> float:
        """Return the two-sided p value of the null hypothesis that the true value is `ratio`."""
        from scipy.special import stdtr  # noqa: PLC0415  loads for 0.4 s

        distance = abs(self.log - math.log(ratio))
        return 2 * float(stdtr(self.df, -distance / math.sqrt(self.variance)))

    def __sub__(self, other: "Estimate") -> "Estimate":
        """Return the ratio to an independent estimate; the degrees of freedom are Welch's."""
        variance = self.variance + other.variance
        squares = self.variance**2 / self.df + other.variance**2 / other.df
        return Estimate(self.log - other.log, variance, min(NORMAL_DF, variance**2 / squares))


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
        return self._estimate([configuration], [workload])

    def ratio(
        self, before: int, after: int, *workloads: str, controls: Collection[str] = ()
    ) -> Estimate:
        """Return the common ratio of these workloads, after / before, relative to that of the controls.

        What differs between applications cancels if both took turns in them.
        """
        return self._estimate([before, after], workloads, controls)

    def run_sd(self, workload: str) -> float:
        """Return the standard deviation between runs, as a fraction of the time.

        All configurations that have several runs tell of it; PRIOR_RUN_SD if there is none.
        """
        numbers = [n for n in range(len(self.configurations)) if self.runs(n, workload)]
        variance, df = variance_within([[*self._logs(n, [workload]).values()] for n in numbers])
        least = fmean(self._least_variance(number, [workload]) for number in numbers)
        return math.sqrt(max(variance, least)) if df else PRIOR_RUN_SD

    def _estimate(
        self,
        configurations: Sequence[int],
        workloads: Collection[str],
        controls: Collection[str] = (),
    ) -> Estimate:
        """Return the mean of one configuration, or the difference of the means of two."""
        sides = [self._logs(number, workloads, controls) for number in configurations]
        pairs = self._pairs(configurations, sides)
        samples = [pairs] if pairs else [[*side.values()] for side in sides]
        means = [fmean(sample) for sample in samples]
        batches = [*map(_batches, samples)]
        between, df = variance_within(batches)
        if not df:
            between, df = fmean(self.run_sd(name) ** 2 for name in workloads), NORMAL_DF
        per_sample = math.fsum(1 / len(sample) for sample in samples)
        # More than that of all, if the side with fewer runs varies more.
        of_each = math.fsum(
            variance_within([one])[0] / len(sample)
            for one, sample in zip(batches, samples, strict=True)
        )
        least = math.fsum(self._least_variance(number, workloads) for number in configurations)
        return Estimate(
            log=means[-1] - sum(means[:-1]),
            variance=max(between * per_sample, of_each, least),
            df=df,
            per_run=2 * per_sample if pairs else per_sample,
        )

    def _logs(
        self, configuration: int, workloads: Collection[str], controls: Collection[str] = ()
    ) -> dict[int, float]:
        """Return what these workloads have in common in each run that has one of them, by its number.

        That is relative to what the controls have in common in the run, or in all runs if it has none.
        """
        runs = self.configurations[configuration]
        levels = {
            name: fmean(run[name].log_time for run in runs if name in run) for name in workloads
        }
        level = fmean(levels.values())
        found = {
            number: level
            + fmean(run[name].log_time - levels[name] for name in workloads if name in run)
            for number, run in enumerate(runs)
            if not run.keys().isdisjoint(workloads)
        }
        if not controls:
            return found
        relative_to = self._logs(configuration, controls)
        usual = fmean(relative_to.values())
        return {number: log - relative_to.get(number, usual) for number, log in found.items()}

    def _pairs(
        self, configurations: Sequence[int], sides: Sequence[Mapping[int, float]]
    ) -> list[float]:
        """Return the differences of two configurations by application, if both took turns in some."""
        if len(sides) == 1 or not self.is_in_turns(*configurations):
            return []
        earlier, later = (
            {self.applications[side][number]: log for number, log in logs.items()}
            for side, logs in zip(configurations, sides, strict=True)
        )
        pairs = [later[name] - earlier[name] for name in earlier if name in later]
        return pairs if len(pairs) > 1 else []

    def _least_variance(self, configuration: int, workloads: Collection[str]) -> float:
        """Return how well the mean of some runs' times can be known at best."""
        runs = self.configurations[configuration]
        return fmean(run[name].least_variance for run in runs for name in workloads if name in run)


def _batches(sample: Sequence[float]) -> list[float]:
    """Return what each batch of neighbours has in common, BATCHES values at most.

    They vary as the values of the sample do, if neighbours have nothing in common, and else more.
    """
    mean, count = fmean(sample), min(len(sample), BATCHES)
    bounds = [len(sample) * number // count for number in range(count + 1)]
    return [
        mean + math.sqrt(end - start) * (fmean(sample[start:end]) - mean)
        for start, end in pairwise(bounds)
    ]


def variance_within(samples: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the variance within samples, which are not empty, and its degrees of freedom.

    These are 0 if no sample has two values; the variance is MIN_SD squared at least.
    """
    df = sum(map(len, samples)) - len(samples)
    means = [fmean(sample) for sample in samples]
    squares = math.fsum(
        (value - mean) ** 2 for sample, mean in zip(samples, means, strict=True) for value in sample
    )
    return max(MIN_SD**2, squares / max(1, df)), df
