"""Times of runs, workload by workload, and what they show: times of configurations, and ratios of them.

A run is the unit: its value for a workload is the logarithm of the median of its trials. Only the differences
between runs of a configuration decide how far its time can be relied on (Kalibera and Jones 2013). For a
ratio, only the runs of its two configurations count. If there are many runs, neighbours count as one, because
they share the machine's good or bad minutes (batch means). docs/noise.md has the simulations.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, pairwise
from statistics import NormalDist, fmean, median

from harness.base.items import union
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

    `log_time` is the logarithm of the median of its trials' seconds. `least_variance` says how well that can
    be known at best: it is the variance that the clock, the scheduler and rounding cause.
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
    """Return half the width of the confidence interval of a mean by Student's t, in standard errors."""
    probability = (1 + level) / 2
    if df >= NORMAL_DF:
        return NormalDist().inv_cdf(probability)
    from scipy.special import stdtrit  # noqa: PLC0415  loads for 0.4 s

    return float(stdtrit(df, probability))


@dataclass(frozen=True)
class Estimate:
    """The logarithm of a time, or of a ratio of two times, with its variance.

    `df` are the degrees of freedom of the variance; NORMAL_DF if that is not from runs that were repeated.
    `variance` is `per_run` times the variance between runs.
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
        """Return the ratio to an independent estimate. The degrees of freedom are Welch's."""
        variance = self.variance + other.variance
        squares = self.variance**2 / self.df + other.variance**2 / other.df
        return Estimate(self.log - other.log, variance, min(NORMAL_DF, variance**2 / squares))


@dataclass(frozen=True)
class RunModel:
    """The runs of each configuration. A run without times counts for nothing.

    `applications` names for each run the application that made it, None if that is unknown. Configurations
    that take turns in an application have a run each of the same one.
    """

    configurations: Sequence[Sequence[Run]]
    applications: Sequence[Sequence[str | None]] = ()

    def run_count(self, configuration: int, workload: str) -> int:
        """Return in how many runs a configuration has this workload."""
        return len(self._medians(configuration, workload))

    def runs_of_either(self, before: int, after: int, workload: str) -> int:
        """Return in how many runs this workload is, on the side that has fewer."""
        return min(self.run_count(before, workload), self.run_count(after, workload))

    @cached_property
    def workloads(self) -> tuple[str, ...]:
        """Every workload that has a time in some run."""
        return tuple(union(chain.from_iterable(self.configurations)))

    def is_in_turns(self, before: int, after: int) -> bool:
        """Return whether both took turns in the same applications, two or more, each in each of them once."""
        if not self.applications:
            return False
        earlier = self.applications[before]
        later = self.applications[after]
        common = set(earlier)
        is_same = common == set(later) and None not in common
        is_once_in_each = len(common) == len(earlier) == len(later)
        return is_same and is_once_in_each and len(common) > 1

    def time(self, configuration: int, workload: str) -> Estimate:
        """Return the geometric mean of the runs' times in seconds."""
        logs = list(self._logs(configuration, [workload]).values())
        return self._mean([logs], [configuration], [workload])

    def ratio(
        self, before: int, after: int, *workloads: str, controls: Collection[str] = ()
    ) -> Estimate:
        """Return the common ratio of these workloads, after / before, relative to the controls' ratio.

        Differences between applications cancel if both took turns in them.
        """
        earlier = self._logs(before, workloads, controls)
        later = self._logs(after, workloads, controls)
        return self._ratio(before, after, workloads, earlier, later)

    def joint_ratio(
        self,
        before: int,
        after: int,
        *workloads: str,
        of_sums: bool,
        controls: Collection[str] = (),
    ) -> Estimate:
        """Return the ratio of the sums of these workloads' times, or the geometric mean of their ratios.

        Each workload has a time on both sides, but not in every run: then its deviations count for more, and
        the workload with the fewest runs, or pairs of runs, decides the degrees of freedom.
        """
        earlier = self._joint_logs(before, workloads, controls, of_sums=of_sums)
        later = self._joint_logs(after, workloads, controls, of_sums=of_sums)
        found = self._ratio(before, after, workloads, earlier, later)
        if found.df >= NORMAL_DF:
            return found
        if len(self._pairs(before, after, earlier, later)) > 1:
            least = min(self._applications_with(before, after, name) for name in workloads) - 1
        else:
            least = 0
            for side in (before, after):
                least += min(self.run_count(side, name) for name in workloads) - 1
        return replace(found, df=min(found.df, max(1, least)))

    def _joint_logs(
        self,
        configuration: int,
        workloads: Collection[str],
        controls: Collection[str],
        *,
        of_sums: bool,
    ) -> dict[int, float]:
        """Return the log of the sum or of the mean of times by the number of the run; none is left out.

        To the first order, a sum deviates like each time by its share. A run without a workload deviates by
        nothing of it, so the deviations in the other runs are scaled: the variance of the mean of all runs is
        that of the sum of the means of the workloads.
        """
        usual = self._usual_logs(configuration, workloads)
        if of_sums:
            level = math.log(math.fsum(map(math.exp, usual.values())))
            shares = {name: math.exp(log - level) for name, log in usual.items()}
        else:
            level = fmean(usual.values())
            shares = dict.fromkeys(usual, 1 / len(usual))
        runs = enumerate(self.configurations[configuration])
        having = {number: run for number, run in runs if not usual.keys().isdisjoint(run)}
        for name in usual:
            shares[name] *= self._scale(configuration, name, len(having))
        found: dict[int, float] = {}
        for number, run in having.items():
            deviations = [
                shares[name] * (run[name].log_time - usual[name]) for name in usual if name in run
            ]
            found[number] = level + math.fsum(deviations)
        return self._beyond(configuration, found, controls)

    def _usual_logs(self, configuration: int, workloads: Iterable[str]) -> dict[str, float]:
        """Return the mean over the runs of the log time of each of these workloads."""
        usual: dict[str, float] = {}
        for name in workloads:
            usual[name] = fmean(each.log_time for each in self._medians(configuration, name))
        return usual

    def _scale(self, configuration: int, workload: str, runs: int) -> float:
        """Return how much more a deviation of a workload counts that not all of these runs have."""
        own = self.run_count(configuration, workload)
        if own == 1:
            return 1.0
        return math.sqrt(runs * (runs - 1) / (own * (own - 1)))

    def _ratio(
        self,
        before: int,
        after: int,
        workloads: Collection[str],
        earlier: Mapping[int, float],
        later: Mapping[int, float],
    ) -> Estimate:
        """Return the ratio, after / before, of what has these logarithms by the number of the run."""
        samples = [list(earlier.values()), list(later.values())]
        pairs = self._pairs(before, after, earlier, later)
        if len(pairs) > 1:
            samples = [pairs]
        return self._mean(samples, [before, after], workloads)

    def _pairs(
        self, before: int, after: int, earlier: Mapping[int, float], later: Mapping[int, float]
    ) -> list[float]:
        """Return how these logarithms differ within each application; nothing unless both took turns."""
        if not self.is_in_turns(before, after):
            return []
        of_application = {self.applications[after][run]: log for run, log in later.items()}
        pairs: list[float] = []
        for run, log in earlier.items():
            application = self.applications[before][run]
            if application in of_application:
                pairs.append(of_application[application] - log)
        return pairs

    def _applications_with(self, before: int, after: int, workload: str) -> int:
        """Return in how many applications both sides have this workload."""
        having: list[set[str | None]] = []
        for side in (before, after):
            runs = zip(self.applications[side], self.configurations[side], strict=True)
            having.append({application for application, run in runs if workload in run})
        return len(set.intersection(*having))

    def run_sd(self, workload: str) -> float:
        """Return the standard deviation between runs, as a fraction of the time.

        It is that within all configurations with several runs; PRIOR_RUN_SD if there is none.
        """
        samples: list[list[float]] = []
        least: list[float] = []
        for number in range(len(self.configurations)):
            if self.run_count(number, workload):
                samples.append(list(self._logs(number, [workload]).values()))
                least.append(self._least_variance(number, [workload]))
        variance, df = variance_within(samples)
        if df:
            return math.sqrt(max(variance, fmean(least)))
        return PRIOR_RUN_SD

    def _medians(self, configuration: int, workload: str) -> list[RunMedian]:
        """Return the times of a workload in the runs that have it."""
        runs = self.configurations[configuration]
        return [run[workload] for run in runs if workload in run]

    def _mean(
        self,
        samples: Sequence[Sequence[float]],
        configurations: Sequence[int],
        workloads: Collection[str],
    ) -> Estimate:
        """Return the mean of a sample, or the difference of the means of two.

        A sample has the logarithm of each run, or of the ratio of each pair of runs. `configurations` and
        `workloads` are those that it is from.
        """
        is_paired = len(samples) < len(configurations)
        means: list[float] = []
        batches: list[list[float]] = []
        variances: list[float] = []
        for sample in samples:
            batch = _batches(sample)
            means.append(fmean(sample))
            batches.append(batch)
            variances.append(variance_within([batch])[0] / len(sample))
        between, df = variance_within(batches)
        if not df:
            between = fmean(self.run_sd(name) ** 2 for name in workloads)
            df = NORMAL_DF
        per_sample = math.fsum(1 / len(sample) for sample in samples)
        # This is more than the variance of all, if the side with fewer runs varies more.
        of_each = math.fsum(variances)
        least = math.fsum(self._least_variance(number, workloads) for number in configurations)
        return Estimate(
            log=means[-1] - sum(means[:-1]),
            variance=max(between * per_sample, of_each, least),
            df=df,
            per_run=2 * per_sample if is_paired else per_sample,
        )

    def _logs(
        self, configuration: int, workloads: Collection[str], controls: Collection[str] = ()
    ) -> dict[int, float]:
        """Return the mean log time of these workloads by the number of the run. Runs with none are left out.

        If a run lacks a workload, the workload's usual value counts. The log times are relative to the
        controls' log times in the run, or in all runs if the run has no control.
        """
        usual = self._usual_logs(configuration, workloads)
        level = fmean(usual.values())
        found: dict[int, float] = {}
        for number, run in enumerate(self.configurations[configuration]):
            changes = [run[name].log_time - usual[name] for name in workloads if name in run]
            if changes:
                found[number] = level + fmean(changes)
        return self._beyond(configuration, found, controls)

    def _beyond(
        self, configuration: int, found: dict[int, float], controls: Collection[str]
    ) -> dict[int, float]:
        """Return logarithms by the number of the run, relative to the logarithms of the controls."""
        if not controls:
            return found
        of_controls = self._logs(configuration, controls)
        usual_control = fmean(of_controls.values())
        return {
            number: log - of_controls.get(number, usual_control) for number, log in found.items()
        }

    def _least_variance(self, configuration: int, workloads: Collection[str]) -> float:
        """Return how well the mean of some runs' times can be known at best."""
        medians = chain.from_iterable(self._medians(configuration, name) for name in workloads)
        return fmean(each.least_variance for each in medians)


def _batches(sample: Sequence[float]) -> list[float]:
    """Return what each batch of neighbours has in common, BATCHES values at most.

    They vary as the values of the sample do, if neighbours have nothing in common, and else more.
    """
    mean = fmean(sample)
    count = min(len(sample), BATCHES)
    bounds = [len(sample) * number // count for number in range(count + 1)]
    batches: list[float] = []
    for start, end in pairwise(bounds):
        deviation = fmean(sample[start:end]) - mean
        batches.append(mean + math.sqrt(end - start) * deviation)
    return batches


def variance_within(samples: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the variance within samples, which are not empty, and its degrees of freedom.

    The degrees of freedom are 0 if no sample has two values. The variance is at least MIN_SD squared.
    """
    df = 0
    squares: list[float] = []
    for sample in samples:
        mean = fmean(sample)
        squares += [(value - mean) ** 2 for value in sample]
        df += len(sample) - 1
    return max(MIN_SD**2, math.fsum(squares) / max(1, df)), df
