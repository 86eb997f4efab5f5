"""A mixed model of logarithmic times: runs are the unit, and the workloads of a table share what they know.

The logarithm of a trial's time is the sum of its configuration's effect on its workload, of an effect of
its run on all workloads, of an effect of its run on its workload, and of the trial's own noise. Where times
are adjusted for the speed of processors, that of the run is an effect, too, which each workload has by its
slope: it is known, and still differs between runs, so it is a part of their variance. A run's
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
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean, median
from typing import ClassVar, NamedTuple

from harness.statistics.median import LEVEL, Interval
from harness.statistics.student import two_sided_p, two_sided_quantile

PRIOR_RUN_SD = 0.05
"""How much runs are taken to differ where none was repeated: it was 4 to 7 % on two virtual machines."""
PRIOR_WEIGHT = 4
"""Degrees of freedom of the variance that the workloads of a table have in common."""
MIN_TRIAL_SD = 0.001
"""The least noise of trials that is assumed: clock and scheduler alone cause as much."""
MIN_OWN_FRACTION = 0.3
"""Of a workload's variance between runs, the smallest fraction that counts as its own."""
NORMAL_DF = 10**6
"""Degrees of freedom with which Student's t distribution is the normal distribution."""
MAX_MARGIN = 100.0
"""Of a logarithm: a time that may be e^100 times as long is unknown, and larger numbers may overflow."""
PRIOR_FOLLOWING, PRIOR_FOLLOWING_SD = 1.0, 0.5
"""How far a workload follows the controls where nothing is known: fully, give or take a half."""


@dataclass(frozen=True)
class RunMedian:
    """The median time of one workload in one run.

    `log_time` is the logarithm of the median of its trials' seconds, `trial_variance` the sample
    variance of these logarithms, None for a single trial. `covariate` is what the times are adjusted
    to, None if they are as measured; a workload has one in all of its runs, or in none.
    """

    log_time: float
    trial_variance: float | None
    trials: int
    covariate: "Covariate | None" = None


class Covariate(NamedTuple):
    """What the times of a workload in a run are adjusted to.

    `level` is the middle covariate of its trials there: how slow the processors were, as a logarithm. `slope`
    is by how much the logarithm of the workload's time follows it: the same in all runs.
    """

    slope: float
    level: float


Run = Mapping[str, RunMedian]
"""The times of one run, by workload."""

_Residuals = dict[tuple[int, int], dict[str, float]]
"""By number of configuration and run, and by workload."""


def run_median(times_s: Sequence[float], covariate: Covariate | None = None) -> RunMedian:
    """Return the time of a run from its trials: one or more times in seconds, each greater than 0.

    `covariate` is what they were adjusted to, if they were.
    """
    logs = [math.log(time_s) for time_s in times_s]
    variance = sample_variance(logs) if len(logs) > 1 else None
    return RunMedian(math.log(median(times_s)), variance, len(logs), covariate)


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
        quantile = two_sided_quantile(self.df, 1 - level)
        return min(MAX_MARGIN, quantile * math.sqrt(self.variance))

    @property
    def p(self) -> float:
        """The two-sided p value of the null hypothesis that the ratio is 1."""
        if self.variance == 0:
            return float(self.log == 0)
        return two_sided_p(self.df, self.log / math.sqrt(self.variance))


@dataclass(frozen=True)
class _Variance:
    """The variance of a run's value for a workload, in three parts.

    `shared` is what a run does to all workloads, `own` to this one alone, `explained` by its covariate.
    """

    shared: float
    own: float
    explained: float
    df: float

    @property
    def total(self) -> float:
        return self.shared + self.own + self.explained


@dataclass(frozen=True)
class MixedModel:
    """The model of one table: for each configuration, its runs. A run without times counts for nothing.

    `applications` names for each run the application that made it, None if that is unknown. Configurations
    that take turns in an application have a run each of the same one.
    """

    configurations: Sequence[Sequence[Run]]
    applications: Sequence[Sequence[str | None]] = ()

    is_in_turns: ClassVar[bool] = False
    """Whether what an application does to all configurations is left out."""

    @cached_property
    def differences(self) -> "MixedModel":
        """The model for ratios between configurations.

        If all configurations took turns in the same applications, what an application does to all of
        them cancels in a ratio; otherwise this is the same model.
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
        return _InTurns([[runs[name] for name in order] for runs in by_application])

    def runs(self, configuration: int, workload: str) -> int:
        """Return in how many runs a configuration has this workload."""
        return self._numbers_of_runs[configuration][workload]

    def runs_of_either(self, before: int, after: int, workload: str) -> int:
        """Return in how many runs this workload is, on the side that has fewer."""
        return min(self.runs(before, workload), self.runs(after, workload))

    def trials(self, configuration: int, workload: str) -> list[int]:
        """Return how many trials of a workload each run of a configuration has."""
        runs = self.configurations[configuration]
        return [run[workload].trials for run in runs if workload in run]

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
        effects = self._run_effects(self._residuals, controls)
        df = _degrees_of_freedom(effects) * self._free_fraction
        if not df:
            return Estimate(log, PRIOR_RUN_SD**2 * per_run, NORMAL_DF)
        return Estimate(log, _sum_of_squares(effects.values()) / df * per_run, df)

    def ratio_beyond_controls(
        self, before: int, after: int, workload: str, controls: Collection[str]
    ) -> Estimate:
        """Return what remains of a workload's ratio after the part in which it follows the controls.

        The factor by which it follows them is learnt from the runs of the same configuration, from a
        prior of 1 ± 0.5. Without controls, the whole ratio remains.
        """
        if not controls:
            return self.ratio(before, after, workload)
        shift = self.controls_ratio(before, after, controls)
        following, uncertainty = self._following(workload, controls)
        variance_ = self._variance(workload)
        others = self._scale * 1 / sum(1 / self._trial_variances[name] for name in controls)
        unfollowed = (1 - following) ** 2 * variance_.shared
        remaining = unfollowed + variance_.own + variance_.explained + others
        return Estimate(
            self.ratio(before, after, workload).log - following * shift.log,
            remaining * self._per_run(before, after, workload) + uncertainty * shift.log**2,
            variance_.df,
        )

    def following(self, workload: str, controls: Collection[str]) -> float:
        """Return how far a workload follows the controls from run to run: 1 is fully, 0 not at all."""
        return self._following(workload, controls)[0]

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
        return _degrees_of_freedom(self._effects_on_all) * self._free_fraction

    @property
    def _free_fraction(self) -> float:
        """The fraction of the residuals' degrees of freedom that is left after the applications' effects."""
        return 1.0

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
        """The variance of the trials of a run, of those workloads of which some run has several."""
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

    @cached_property
    def _unexplained(self) -> _Residuals:
        """The same without what the covariate explains of it."""
        if not self._slopes:
            return self._residuals
        levels = self._levels._residuals  # noqa: SLF001  of the same class
        return {
            run: {
                name: value - self._slopes[name] * levels[run][name]
                if name in self._slopes
                else value
                for name, value in residuals.items()
            }
            for run, residuals in self._residuals.items()
        }

    def _run_effects(
        self, residuals: _Residuals, workloads: Collection[str]
    ) -> dict[tuple[int, int], float]:
        """Return the effect on these workloads together, of each run that shows one."""
        effects = {}
        for run, values in residuals.items():
            chosen = {name: value for name, value in values.items() if name in workloads}
            if chosen:
                effects[run] = self._weighted_mean(chosen)
        return effects

    def _weighted_mean(self, values: Mapping[str, float]) -> float:
        """Return the mean of the workloads' values, those of steadier trials with more weight."""
        return fmean(values.values(), [1 / self._trial_variances[name] for name in values])

    @cached_property
    def _effects_on_all(self) -> dict[tuple[int, int], float]:
        return self._run_effects(self._unexplained, self._trial_variances)

    @cached_property
    def _levels(self) -> "MixedModel":
        """The model of the covariates: they differ between runs and workloads as times do."""
        return type(self)(
            [
                [
                    {
                        name: RunMedian(time.covariate.level, None, time.trials)
                        for name, time in run.items()
                        if time.covariate
                    }
                    for run in runs
                ]
                for runs in self.configurations
            ]
        )

    @cached_property
    def _slopes(self) -> dict[str, float]:
        """By how much each workload follows its covariate; only of adjusted ones."""
        runs = (run for runs in self.configurations for run in runs)
        return {name: t.covariate.slope for run in runs for name, t in run.items() if t.covariate}

    # Apart from what the covariate explains, a run's value for workload w is a shared effect s plus
    # an own effect o_w. The variance of o_w is taken in proportion to that of its trials: k t_w. What a run
    # does to all workloads is estimated by the mean e of its residuals, weighted by 1 / t_w. With W, the sum
    # of the weights,
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
                for run, residuals in self._unexplained.items()
                if name in residuals
            }
            df = _degrees_of_freedom(own) * self._free_fraction
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
            return _Variance(0.0, PRIOR_RUN_SD**2, 0.0, NORMAL_DF)
        shared = _sum_of_squares(self._effects_on_all.values()) / self._run_df  # Var(e)
        own, own_df = self._own_variance(workload)
        explained, explained_df = self._explained_variance(workload)
        df = _satterthwaite((shared, self._run_df), (own, own_df), (explained, explained_df))
        return _Variance(shared, own, explained, df)

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

    def _explained_variance(self, workload: str) -> tuple[float, float]:
        """Return what the covariate adds to the variance between runs, and its degrees of freedom."""
        slope = self._slopes.get(workload)
        if slope is None:
            return 0.0, 1.0
        level = self._levels._variance(workload)  # noqa: SLF001  of the same class
        return slope**2 * level.total, level.df

    def _following(self, workload: str, controls: Collection[str]) -> tuple[float, float]:
        """Return the factor by which a workload follows the controls, and its variance."""
        effects = self._run_effects(self._residuals, controls)
        pairs = [
            (effect, self._residuals[run][workload])
            for run, effect in effects.items()
            if workload in self._residuals[run]
        ]
        noise = self._variance(workload).total or MIN_TRIAL_SD**2
        prior = 1 / PRIOR_FOLLOWING_SD**2
        learnt = math.fsum(effect**2 for effect, _ in pairs) / noise
        product = math.fsum(effect * value for effect, value in pairs) / noise
        return (prior * PRIOR_FOLLOWING + product) / (prior + learnt), 1 / (prior + learnt)


class _InTurns(MixedModel):
    """The model of configurations that took turns: the runs with the same number are of one application."""

    is_in_turns = True

    def runs_of_either(self, before: int, after: int, workload: str) -> int:
        """Return how many applications have this workload on both sides; without any, as without turns."""
        in_both = self._log_ratios(before, after, workload)
        return len(in_both) or super().runs_of_either(before, after, workload)

    def ratio(self, before: int, after: int, workload: str) -> Estimate:
        """Return a workload's ratio of times, after / before, in the applications that have both.

        If none has, nothing cancels: it is the ratio without turns.
        """
        in_both = self._log_ratios(before, after, workload)
        if not in_both:
            return MixedModel(self.configurations).ratio(before, after, workload)
        variance_ = self._variance(workload)
        return Estimate(fmean(in_both), variance_.total * 2 / len(in_both), variance_.df)

    def _log_ratios(self, before: int, after: int, workload: str) -> list[float]:
        """Return the logarithm of the ratio in each application that has the workload on both sides."""
        applications = zip(self.configurations[before], self.configurations[after], strict=True)
        return [
            then[workload].log_time - first[workload].log_time
            for first, then in applications
            if workload in first and workload in then
        ]

    def _per_run(self, before: int, after: int, workload: str) -> float:
        in_both = self._log_ratios(before, after, workload)
        return 2 / len(in_both) if in_both else super()._per_run(before, after, workload)

    @property
    def _free_fraction(self) -> float:
        return 1 - 1 / len(self.configurations)

    @cached_property
    def _residuals(self) -> _Residuals:
        """The difference of each run's value from the means of its configuration and of its application.

        An application that lacks a workload in some configuration shows nothing of it.
        """
        found: _Residuals = {}
        for name in self.workloads:
            complete = {
                application: [run[name].log_time for run in runs]
                for application, runs in enumerate(zip(*self.configurations, strict=True))
                if all(name in run for run in runs)
            }
            if len(complete) < 2:  # noqa: PLR2004  a single one is its own mean
                continue
            of_application = {application: fmean(logs) for application, logs in complete.items()}
            of_configuration = list(map(fmean, zip(*complete.values(), strict=True)))
            overall = fmean(of_application.values())
            for application, logs in complete.items():
                for configuration, log in enumerate(logs):
                    residual = log - of_configuration[configuration] - of_application[application]
                    found.setdefault((configuration, application), {})[name] = residual + overall
        return found


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


def _names(runs: Sequence[Run]) -> dict[str, None]:
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
