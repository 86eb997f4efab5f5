"""How many runs and trials a change of a given size needs, from assumed noise or from earlier runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials, table_model
from harness.model.errors import BadInput
from harness.model.limits import MIN_RUNS
from harness.model.run import RecordedRun, moment_of
from harness.records.lookup import check_no_run_twice
from harness.statistics.mixed_model import Estimate, MixedModel
from harness.statistics.power import (
    MAX_RUNS,
    UNPAIRED,
    efficient_trials,
    median_variance,
    run_sd,
    runs_needed,
)


@dataclass(frozen=True)
class WorkloadRuns:
    """What one workload needs.

    `noise` is the relative standard deviation of the trials of a run, None if no run repeated one; `between`
    that of runs, however many trials they have, None if `noise` is or if no run was repeated. `runs` of
    `trials` on either side find the change; None if that takes too many. `efficient_trials` find the
    smallest change in a given time; None if `between` or the costs are unknown.
    """

    workload: str
    noise: float | None
    between: float | None
    trials: int
    runs: int | None
    efficient_trials: int | None = None
    is_control: bool = False


@dataclass(frozen=True)
class RunsNeeded:
    """The runs that a table needs: for each workload, or one for all.

    `is_assumed` is whether no run was repeated, so that the difference between runs is an assumption.
    `in_turns` is whether all configurations take turns in the same applications. `between` is then how
    much runs differ besides what their application does to all of them.
    """

    change: float
    power: float
    comparisons: int
    workloads: tuple[WorkloadRuns, ...]
    is_assumed: bool = False
    in_turns: bool = False


def needed_at_noise(
    *,
    change: float,
    noise: float,
    between: float,
    trials: int,
    workloads: int,
    configurations: int,
    power: float,
    in_turns: bool,
) -> RunsNeeded:
    """Return the runs that workloads need which all have this noise.

    `configurations` are compared with the baseline, which does not count.
    """
    comparisons = workloads * configurations
    sd = run_sd(between, noise, trials)
    df_per_run = configurations if in_turns else UNPAIRED
    runs = runs_needed(change, sd, comparisons, power, df_per_run)
    all_alike = WorkloadRuns("each workload", noise, between, trials, runs)
    return RunsNeeded(change, power, comparisons, (all_alike,), in_turns=in_turns)


def needed_after(
    columns: Sequence[ConfigurationRuns], change: float, configurations: int, power: float
) -> RunsNeeded:
    """Return the runs that a comparison needs with the first of these, the baseline.

    The others took turns with it; without others, the comparison is with `configurations` to come. Raises
    BadInput if the baseline has no times, if the others took no turns with it, or if a run is in two of them.
    """
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    baseline, *others = columns
    names = baseline.workloads
    model = table_model([column.runs for column in columns], names).differences
    if others and not model.is_in_turns:
        raise BadInput(
            f"{baseline.name!r} and {others[0].name!r} did not take turns in the same applications, two or "
            "more: name the baseline alone"
        )
    measured = [name for name in names if model.runs(0, name)]
    if not measured:
        raise BadInput(f"{baseline.name!r} has no measured trial; run jobs/benchmark.py")
    comparisons = len(measured) * (len(others) or configurations)
    df_per_run = len(others) or UNPAIRED
    costs = _costs(baseline.runs)

    def needed(name: str) -> WorkloadRuns:
        trials = round(median(model.trials(0, name)))
        noise, sd = model.trial_sd(name), model.run_sd(name)
        between = None
        if noise is not None and model.has_repeated_runs:
            between = math.sqrt(max(0.0, sd**2 - median_variance(trials) * noise**2))
        return WorkloadRuns(
            name,
            noise,
            between,
            trials,
            runs_needed(change, sd, comparisons, power, df_per_run),
            None
            if noise is None or between is None or costs is None
            else efficient_trials(between, noise, *costs),
            name in baseline.controls,
        )

    return RunsNeeded(
        change,
        power,
        comparisons,
        tuple(map(needed, measured)),
        is_assumed=not model.has_repeated_runs,
        in_turns=bool(others),
    )


def outlook(column: ConfigurationRuns, more_s: float) -> tuple[float, float] | None:
    """Return the half width of a typical workload's interval now, and after runs of `more_s` seconds more.

    Both are fractions of the time, and medians over workloads. The runs to come are taken to last as long
    as those that are there, and to differ as much. None if fewer than two are there.
    """
    model = table_model([column.runs], column.workloads)
    lasted = [  # from the start of a run to that of its last trial
        seconds
        for recorded in column.runs
        if recorded.trials
        and (seconds := _seconds(recorded.run.started_at, recorded.trials[-1].started_at))
    ]
    if not lasted:
        return None
    more = max(1, round(more_s / median(lasted)))
    widths = [
        (_half_width(model, name, runs), _half_width(model, name, runs + more))
        for name in model.workloads
        if (runs := model.runs(0, name)) >= MIN_RUNS
    ]
    if not widths:
        return None
    return median(now for now, _ in widths), median(later for _, later in widths)


@dataclass(frozen=True)
class LeastPrecise:
    """The workload whose time is known least well, and by how much.

    `half_width` is half of its interval, as a fraction of the time. With `runs` in all, it is as narrow as
    it has to be, where runs differ as much as those that are there; None if that takes more than MAX_RUNS.
    """

    workload: str
    half_width: float
    runs: int | None


def least_precise(column: ConfigurationRuns, precision: float) -> LeastPrecise | None:
    """Return the workload that needs the most runs for this half width; None if one has too few to tell."""
    model = table_model([column.runs], column.workloads)
    if any(model.runs(0, name) < MIN_RUNS for name in model.workloads) or not model.workloads:
        return None
    width, name = max((_half_width(model, name), name) for name in model.workloads)
    totals = range(model.runs(0, name), MAX_RUNS + 1)
    enough = next((n for n in totals if _half_width(model, name, n) <= precision), None)
    return LeastPrecise(name, width, enough)


def _half_width(model: MixedModel, workload: str, total: int | None = None) -> float:
    """Return half of the interval of a time, as a fraction of it, now or with `total` runs."""
    runs, now = model.runs(0, workload), model.time(0, workload)
    total = total or runs
    later = Estimate(now.log, now.variance * runs / total, now.df * (total - 1) / (runs - 1))
    return math.expm1(later.margin())


def _seconds(first: str, last: str) -> float:
    return (moment_of(last) - moment_of(first)).total_seconds()


def _costs(runs: Sequence[RecordedRun]) -> tuple[float, float] | None:
    """Return the seconds that a run takes up to its first measured trial, and those of a round.

    None if no run has two measured rounds.
    """
    found = []
    for recorded in runs:
        starts: dict[int, str] = {}
        for trial in measured_trials([recorded]):
            starts.setdefault(trial.round, trial.started_at)
        if len(starts) > 1:
            first, last = min(starts), max(starts)
            round_s = _seconds(starts[first], starts[last]) / (last - first)
            run_s = _seconds(recorded.run.started_at, starts[first])
            if run_s > 0 and round_s > 0:
                found.append((run_s, round_s))
    if not found:
        return None
    return median(run_s for run_s, _ in found), median(round_s for _, round_s in found)
