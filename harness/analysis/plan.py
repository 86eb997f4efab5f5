"""How many runs and trials a change of a given size needs, from assumed noise or from earlier runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.sample import measured_trials, table_model
from harness.model.errors import BadInput
from harness.model.run import RecordedRun
from harness.statistics.power import (
    efficient_trials,
    median_variance,
    run_sd,
    runs_needed,
)


@dataclass(frozen=True)
class WorkloadPlan:
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
class Plan:
    """The plan of a table: for each workload, or one for all.

    `is_assumed` is whether no run was repeated, so that the difference between runs is an assumption.
    """

    change: float
    power: float
    comparisons: int
    workloads: tuple[WorkloadPlan, ...]
    is_assumed: bool = False


def plan_for(
    change: float, noise: float, between: float, trials: int, comparisons: int, power: float
) -> Plan:
    """Return the plan for workloads that all have this noise."""
    runs = runs_needed(change, run_sd(between, noise, trials), comparisons, power)
    return Plan(
        change, power, comparisons, (WorkloadPlan("each workload", noise, between, trials, runs),)
    )


def plan_from(
    baseline: ConfigurationRuns, change: float, configurations: int, power: float
) -> Plan:
    """Return the plan of a comparison with this baseline. Raises BadInput if it has no times."""
    names = baseline.workloads
    model = table_model([baseline.runs], names)
    measured = [name for name in names if model.runs(0, name)]
    if not measured:
        raise BadInput(f"{baseline.name!r} has no measured trial; run jobs/benchmark.py")
    comparisons = len(measured) * configurations
    costs = _costs(baseline.runs)

    def plan(name: str) -> WorkloadPlan:
        trials = round(median(model.trials(0, name)))
        noise, sd = model.trial_sd(name), model.run_sd(name)
        between = math.sqrt(max(0.0, sd**2 - median_variance(trials) * noise**2))
        return WorkloadPlan(
            name,
            noise,
            between,
            trials,
            runs_needed(change, run_sd(between, noise, trials), comparisons, power),
            efficient_trials(between, noise, *costs) if costs else None,
            name in baseline.controls,
        )

    return Plan(
        change,
        power,
        comparisons,
        tuple(map(plan, measured)),
        is_assumed=not model.has_repeated_runs,
    )


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
