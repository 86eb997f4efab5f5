"""How many runs and trials a change of a given size needs, from assumed noise or from earlier runs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials, table_model
from harness.model.errors import BadInput
from harness.model.run import RecordedRun
from harness.statistics.change import MIN_RUNS
from harness.statistics.mixed_model import Estimate
from harness.statistics.power import (
    UNPAIRED,
    efficient_trials,
    median_variance,
    run_sd,
    runs_needed,
)


@dataclass(frozen=True)
class WorkloadRuns:
    """What one workload needs.

    `noise` is the relative standard deviation of the trials of a run; `between` that of runs, however
    many trials they have. `runs` of `trials` on either side find the change; None if that takes too many.
    `efficient_trials` find the smallest change in a given time; None if the costs are unknown.
    """

    workload: str
    noise: float
    between: float
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
    BadInput if the baseline has no times, or if the others took no turns with it.
    """
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
        between = math.sqrt(max(0.0, sd**2 - median_variance(trials) * noise**2))
        return WorkloadRuns(
            name,
            noise,
            between,
            trials,
            runs_needed(change, sd, comparisons, power, df_per_run),
            efficient_trials(between, noise, *costs) if costs else None,
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
    lasted = list(filter(None, map(_duration_s, column.runs)))
    widths = []
    for name in model.workloads:
        runs = model.runs(0, name)
        if runs >= MIN_RUNS and lasted:
            now = model.time(0, name)
            total = runs + max(1, round(more_s / median(lasted)))
            later = Estimate(
                now.log, now.variance * runs / total, now.df * (total - 1) / (runs - 1)
            )
            widths.append((math.expm1(now.margin), math.expm1(later.margin)))
    if not widths:
        return None
    return median(now for now, _ in widths), median(later for _, later in widths)


def _duration_s(recorded: RecordedRun) -> float | None:
    """Return the seconds from the start of a run to that of its last trial; None without a trial."""
    if not recorded.trials:
        return None
    first, last = recorded.run.started_at, recorded.trials[-1].started_at
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def _costs(runs: Sequence[RecordedRun]) -> tuple[float, float] | None:
    """Return the seconds that a run takes up to its first measured trial, and those of a round.

    None if no run has two measured rounds.
    """
    found = []
    for recorded in runs:
        starts: dict[int, datetime] = {}
        for trial in measured_trials([recorded]):
            starts.setdefault(trial.round, datetime.fromisoformat(trial.started_at))
        if len(starts) > 1:
            first, last = min(starts.values()), max(starts.values())
            round_s = (last - first).total_seconds() / (len(starts) - 1)
            run_s = (first - datetime.fromisoformat(recorded.run.started_at)).total_seconds()
            if run_s > 0 and round_s > 0:
                found.append((run_s, round_s))
    if not found:
        return None
    return median(run_s for run_s, _ in found), median(round_s for _, round_s in found)
