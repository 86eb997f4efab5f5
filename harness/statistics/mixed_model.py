"""A mixed model of logarithmic times: runs are the unit, and the workloads of a table share what they know.

The logarithm of a trial's time is the sum of its configuration's effect on its workload, of an effect of
its run on all workloads, of an effect of its run on its workload, and of the trial's own noise. A run's
value for a workload is the median of its trials, so only the differences between runs decide how far a
configuration's time can be relied on (Kalibera and Jones 2013).

A table has few runs and several workloads. The variance between the runs of one workload is therefore
estimated from all of them: in proportion to the noise of its trials, and moderated as in limma (Smyth
2004), with a fixed weight. The degrees of freedom are Satterthwaite's. docs/noise.md has the simulations
that chose this among other models.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean, median

from scipy.special import stdtr, stdtrit

from harness.statistics.median import LEVEL, Interval

PRIOR_RUN_SD = 0.05
"""How much runs are taken to differ where none was repeated: it was 4 to 7 % on two virtual machines."""
PRIOR_WEIGHT = 4
"""Degrees of freedom of the variance that the workloads of a table have in common."""
MIN_TRIAL_SD = 0.001
"""The least noise of trials that is assumed: clock and scheduler alone cause as much."""
MIN_OWN_FRACTION = 0.3
"""The smallest fraction of a workload's variance between runs that counts as its own."""
NORMAL_DF = 10**6
"""Degrees of freedom with which Student's t distribution is the normal distribution."""
MAX_MARGIN = 100.0
"""The largest margin of a logarithm: a factor of e^100 means an unknown time; more may overflow."""


@dataclass(frozen=True)
class RunMedian:
    """The median time of one workload in one run.

    `log_time` is the logarithm of the median of its trials' seconds, `trial_variance` the sample
    variance of these logarithms, None for a single trial.
    """

    log_time: float
    trial_variance: float | None
    trials: int


Run = Mapping[str, RunMedian]
"""The times of one run, by workload."""

_Residuals = dict[tuple[int, int], dict[str, float]]
"""Residuals by the numbers of configuration and run, and by workload."""


def run_median(times_s: Sequence[float]) -> RunMedian:
    """Return the time of a run from its trials: one or more times in seconds, each greater than 0."""
    logs = [math.log(time_s) for time_s in times_s]
    variance = sample_variance(logs) if len(logs) > 1 else None
    return RunMedian(math.log(median(times_s)), variance, len(logs))


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
        if self.variance == 0:
            return float(self.log == 0)
        return 2 * float(stdtr(self.df, -abs(self.log) / math.sqrt(self.variance)))


@dataclass(frozen=True)
class _Variance:
    """The variance of a run's value for a workload: `shared` with all workloads, and its `own`."""

    shared: float
    own: float
    df: float

    @property
    def total(self) -> float:
        return self.shared + self.own


@dataclass(frozen=True)
class MixedModel:
    """The model of one table: for each configuration, its runs. A run without times counts for nothing.

    `applications` names for each run the application that made it, None if that is unknown. Configurations
    that take turns in an application have a run each of the same one. `free_fraction` is the fraction of the
    degrees of freedom that the applications' effects leave, where these were taken away.
    """

    configurations: Sequence[Sequence[Run]]
    applications: Sequence[Sequence[str | None]] = ()
    free_fraction: float = 1.0

    @property
    def is_in_turns(self) -> bool:
        """Whether what an application does to all configurations is left out."""
        return self.free_fraction < 1

    @cached_property
    def differences(self) -> "MixedModel":
        """The model for ratios between configurations.

        If all configurations took turns in the same applications, what an application does to all of
        them cancels in a ratio, and is taken away here; otherwise this is the same model.
        """
        by_application = [
            dict(zip(names, runs, strict=True))
            for names, runs in zip(self.applications, self.configurations, strict=False)
        ]
        in_turns = (
            len(by_application) > 1
            and all(by_application[0].keys() == others.keys() for others in by_application)
            and len(by_application[0]) > 1
            and None not in by_application[0]
            and sum(map(len, self.configurations)) == sum(map(len, by_application))
        )
        if not in_turns:
            return self
        order = list(by_application[0])
        runs_in_order = [[runs[name] for name in order] for runs in by_application]
        return MixedModel(
            _without_application_effects(runs_in_order), free_fraction=1 - 1 / len(runs_in_order)
        )

    def runs(self, configuration: int, workload: str) -> int:
        """Return in how many runs a configuration has this workload."""
        return self._numbers_of_runs[configuration][workload]

    def runs_of_either(self, before: int, after: int, workload: str) -> int:
        """Return in how many runs this workload is, on the side that has fewer."""
        return min(self.runs(before, workload), self.runs(after, workload))

    def time(self, configuration: int, workload: str) -> Estimate:
        """Return the geometric mean of the runs' times in seconds."""
        variance_ = self._variance(workload)
        runs = self.runs(configuration, workload)
        return Estimate(self._means[configuration][workload], variance_.total / runs, variance_.df)

    def ratio(self, before: int, after: int, workload: str) -> Estimate:
        """Return a workload's ratio of times, after / before."""
        log = self._means[after][workload] - self._means[before][workload]
        variance_ = self._variance(workload)
        return Estimate(log, variance_.total * self._per_run(before, after, workload), variance_.df)

    def controls_ratio(self, before: int, after: int, controls: Collection[str]) -> Estimate:
        """Return the common ratio of the controls' times, after / before.

        Its variance is that between runs of the controls together, and of nothing else.
        """
        log = self._weighted_mean({n: self.ratio(before, after, n).log for n in controls})
        per_run = max(self._per_run(before, after, name) for name in controls)
        effects = self._run_effects(controls)
        df = _degrees_of_freedom(effects) * self.free_fraction
        if not df:
            return Estimate(log, PRIOR_RUN_SD**2 * per_run, NORMAL_DF)
        return Estimate(log, _sum_of_squares(effects.values()) / df * per_run, df)

    def ratio_beyond_controls(
        self, before: int, after: int, workload: str, controls: Collection[str]
    ) -> Estimate:
        """Return a workload's ratio relative to the common ratio of the controls.

        What a run does to all workloads cancels. Without controls, the whole ratio remains.
        """
        ratio = self.ratio(before, after, workload)
        if not controls:
            return ratio
        variance_ = self._variance(workload)
        of_controls = self._scale / sum(1 / self._trial_variances[name] for name in controls)
        return Estimate(
            ratio.log - self.controls_ratio(before, after, controls).log,
            (variance_.own + of_controls) * self._per_run(before, after, workload),
            variance_.df,
        )

    def run_sd(self, workload: str) -> float:
        """Return the standard deviation between runs, as a fraction of the time."""
        return math.sqrt(self._variance(workload).total)

    def trial_sd(self, workload: str) -> float | None:
        """Return the standard deviation of the trials of a run, as a fraction of the time.

        None if no run repeated a trial: the model takes what is typical of others then.
        """
        variance = self._known_trial_variances.get(workload)
        return None if variance is None else math.sqrt(variance)

    @cached_property
    def workloads(self) -> tuple[str, ...]:
        """Every workload that has a time in some run."""
        names = (name for runs in self.configurations for name in _names(runs))
        return tuple(dict.fromkeys(names))

    @property
    def has_repeated_runs(self) -> bool:
        """Whether any configuration has several runs; otherwise their variance is a prior one."""
        return self._run_df > 0

    def _per_run(self, before: int, after: int, workload: str) -> float:
        return 1 / self.runs(before, workload) + 1 / self.runs(after, workload)

    @cached_property
    def _numbers_of_runs(self) -> list[Counter[str]]:
        """In how many runs each workload is, by configuration."""
        return [Counter(name for run in runs for name in run) for runs in self.configurations]

    @cached_property
    def _run_df(self) -> float:
        return _degrees_of_freedom(self._effects_on_all) * self.free_fraction

    @cached_property
    def _means(self) -> list[dict[str, float]]:
        """The mean logarithm by configuration and workload."""
        return [
            {
                name: fmean([run[name].log_time for run in runs if name in run])
                for name in _names(runs)
            }
            for runs in self.configurations
        ]

    @cached_property
    def _trial_variances(self) -> dict[str, float]:
        """The variance of the trials of a run, by workload; the typical one where trials are single."""
        known = self._known_trial_variances
        typical = median(known.values()) if known else PRIOR_RUN_SD**2
        return {name: known.get(name, typical) for name in self.workloads}

    @cached_property
    def _known_trial_variances(self) -> dict[str, float]:
        """The variance of the trials of a run, of each workload that some run repeated."""
        known: dict[str, float] = {}
        for name in self.workloads:
            times = [run[name] for runs in self.configurations for run in runs if name in run]
            repeated = [
                (t.trials - 1, t.trial_variance) for t in times if t.trial_variance is not None
            ]
            if repeated:
                pooled = math.fsum(df * v for df, v in repeated) / sum(df for df, _ in repeated)
                known[name] = max(pooled, MIN_TRIAL_SD**2)
        return known

    @cached_property
    def _residuals(self) -> _Residuals:
        """The difference of each run's value from its configuration's mean, by workload.

        The mean of a single run is its own value, which shows nothing: it is left out.
        """
        return {
            (c, r): {
                name: time.log_time - self._means[c][name]
                for name, time in run.items()
                if self.runs(c, name) > 1
            }
            for c, runs in enumerate(self.configurations)
            for r, run in enumerate(runs)
        }

    def _run_effects(self, workloads: Collection[str]) -> dict[tuple[int, int], float]:
        """Return the effect on these workloads together, of each run that shows one."""
        effects = {}
        for run, values in self._residuals.items():
            chosen = {name: value for name, value in values.items() if name in workloads}
            if chosen:
                effects[run] = self._weighted_mean(chosen)
        return effects

    def _weighted_mean(self, values: Mapping[str, float]) -> float:
        """Return the mean of the workloads' values. Steadier trials have more weight."""
        return fmean(values.values(), [1 / self._trial_variances[name] for name in values])

    @cached_property
    def _effects_on_all(self) -> dict[tuple[int, int], float]:
        return self._run_effects(self._trial_variances)

    # A run's value for workload w is a shared effect s plus an own effect o_w. The variance of o_w is taken
    # in proportion to that of its trials: k t_w. What a run does to all workloads is estimated by the mean e
    # of its residuals, weighted by 1 / t_w. With W, the sum of the weights,
    #
    #     Var(e) = Var(s) + k / W            o_w - (e - s) has the variance k t_w (1 - 1 / (t_w W))
    #
    # so a run's value for w has the variance Var(s) + Var(o_w) = Var(e) + (Var(o_w) - k / W).

    @cached_property
    def _total_weight(self) -> float:
        """W: the sum of the weights of all workloads."""
        return sum(1 / variance_ for variance_ in self._trial_variances.values())

    @cached_property
    def _own(self) -> dict[str, tuple[float, float]]:
        """What a run does to a workload alone: degrees of freedom, and k as this workload alone shows it."""
        effects = self._effects_on_all
        found = {}
        for name, trial_variance in self._trial_variances.items():
            own = {
                run: residuals[name] - effects[run]
                for run, residuals in self._residuals.items()
                if name in residuals
            }
            df = _degrees_of_freedom(own) * self.free_fraction
            free = 1 - 1 / trial_variance / self._total_weight
            if df and free > 0:
                found[name] = df, _sum_of_squares(own.values()) / (df * trial_variance * free)
        return found

    @cached_property
    def _own_df(self) -> float:
        return sum(df for df, _ in self._own.values())

    @cached_property
    def _scale(self) -> float:
        """k: the typical variance that a run adds to a workload, in variances of its trials."""
        added = math.fsum(df * k for df, k in self._own.values())
        return added / self._own_df if self._own_df else 0.0

    def _variance(self, workload: str) -> _Variance:
        """Return the variance between runs; the derivation is above."""
        if not self._run_df:
            return _Variance(0.0, PRIOR_RUN_SD**2, NORMAL_DF)
        shared = _sum_of_squares(self._effects_on_all.values()) / self._run_df  # Var(e)
        own, own_df = self._own_variance(workload)
        return _Variance(shared, own, _satterthwaite((shared, self._run_df), (own, own_df)))

    def _own_variance(self, workload: str) -> tuple[float, float]:
        """Return Var(o_w) beyond what Var(e) has of it, and its degrees of freedom."""
        if not self._own:  # the table has one workload: nothing is its own
            return 0.0, 1.0
        # What a workload shows of k is moderated by what all show, with a fixed weight as in limma.
        df, k = self._own.get(workload, (0, 0.0))
        moderated = (PRIOR_WEIGHT * self._scale + df * k) / (PRIOR_WEIGHT + df)
        own = moderated * self._trial_variances[workload]  # Var(o_w)
        # Var(e) has k / W already. Most of Var(o_w) may be chance, so a part of it always remains.
        own = max(own - self._scale / self._total_weight, MIN_OWN_FRACTION * own)
        # All own effects together have the degrees of freedom that the shared ones leave.
        return own, max(1, min(self._own_df - self._run_df, PRIOR_WEIGHT + df))


def _without_application_effects(configurations: Sequence[Sequence[Run]]) -> list[list[Run]]:
    """Return the runs without what their application does to all configurations; they are in its order.

    Only applications in which all configurations have a workload show that. If a workload has fewer than two
    of them, its times stay as they are.
    """
    applications = list(zip(*configurations, strict=True))
    centred: list[list[dict[str, RunMedian]]] = [[{} for _ in runs] for runs in configurations]
    for name in _names(run for runs in configurations for run in runs):
        complete = [n for n, runs in enumerate(applications) if all(name in run for run in runs)]
        for number, runs in enumerate(applications):
            effect = 0.0
            if len(complete) > 1:
                if number not in complete:
                    continue
                effect = fmean(run[name].log_time for run in runs)
            for configuration, run in enumerate(runs):
                if name in run:
                    time = run[name]
                    centred[configuration][number][name] = replace(
                        time, log_time=time.log_time - effect
                    )
    return [list(runs) for runs in centred]


def _degrees_of_freedom(effects: Iterable[tuple[int, int]]) -> int:
    """Return how many differences between runs of a configuration are free: one less than it has runs."""
    numbers = Counter(configuration for configuration, _ in effects)
    return sum(number - 1 for number in numbers.values())


def _satterthwaite(*parts: tuple[float, float]) -> float:
    """Return the degrees of freedom of a sum of variances, each with its own; of the first if all are 0."""
    known = [(variance_, df) for variance_, df in parts if variance_]
    spread = sum(variance_**2 / df for variance_, df in known)
    if len(known) < 2 or not spread:  # noqa: PLR2004  a single part keeps exactly its own
        return (known or parts)[0][1]
    return sum(variance_ for variance_, _ in known) ** 2 / spread


def _names(runs: Iterable[Run]) -> dict[str, None]:
    return dict.fromkeys(name for run in runs for name in run)


def sample_variance(values: Sequence[float]) -> float:
    """Return the sample variance of two or more finite numbers; of equal ones, it is exactly 0.

    `statistics.variance` computes with fractions, which takes twenty times as long for the same digits.
    """
    first = values[0]  # whatever is subtracted from all of them
    mean = first + fmean(value - first for value in values)
    return _sum_of_squares(value - mean for value in values) / (len(values) - 1)


def _sum_of_squares(values: Iterable[float]) -> float:
    return math.fsum(value**2 for value in values)
