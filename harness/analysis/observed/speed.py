"""The speed of processors as a covariate: trials of a run as if the processors had been equally fast.

A trial that was left out because its processors were slow, or because a hypervisor or others took processor
time, counts again: how slow it was is known. What no model mends stays out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import fmean, median

from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import measured_trials, table_model, with_slowed_trials
from harness.model.interference import MIN_LOOPS, NodeInterference, is_of_speed
from harness.model.run import Phase, RecordedRun, Trial
from harness.statistics.covariate import (
    MAX_VARIANCE_LEFT,
    Observed,
    adjusted,
    middle,
    slope,
    variance_left,
)
from harness.statistics.mixed_model import Covariate, MixedModel


@dataclass(frozen=True)
class SpeedAdjustment:
    """How the times of a table follow the processors: by workload, from 0 (not at all) to 1.

    `variance_left` is the fraction that is left of the variance that noise within runs gives to a mean.
    """

    slopes: Mapping[str, float]
    variance_left: float


@dataclass(frozen=True)
class TableTimes:
    """The times of a table, of all its workloads: `columns` have them by trial, `model` summarises them.

    `speed` is how they were adjusted for the speed of processors; None if they are as measured.
    """

    columns: Sequence[ConfigurationRuns]
    model: MixedModel
    speed: SpeedAdjustment | None


def table_times(columns: Sequence[ConfigurationRuns], *, for_speed: bool = True) -> TableTimes:
    """Return the times of a table: adjusted, unless `for_speed` is false or too little would be gained.

    An adjustment counts what was only slowed. Without one, only workloads that have no other times do.
    """
    workloads = tuple(dict.fromkeys(name for column in columns for name in column.workloads))
    found = _adjusted_for_speed(columns) if for_speed else None
    timed, covariates, speed = found or (list(map(with_slowed, columns)), (), None)
    return TableTimes(
        timed, table_model((column.runs for column in timed), workloads, covariates), speed
    )


def with_slowed(column: ConfigurationRuns) -> ConfigurationRuns:
    """Return a configuration in which slowed trials count, too, of workloads that have no other times."""
    return replace(column, runs=tuple(map(with_slowed_trials, column.runs)))


def _adjusted_for_speed(
    columns: Sequence[ConfigurationRuns],
) -> tuple[list[ConfigurationRuns], list[list[dict[str, Covariate]]], SpeedAdjustment] | None:
    """Return the columns with adjusted times, what each run's are adjusted to, and the adjustment.

    None if that leaves a mean more than half of its variance within runs. It is decided for the whole table,
    and no difference between runs has a part in it.
    """
    by_column = [list(map(_observed, column.runs)) for column in columns]
    by_run = list(chain.from_iterable(by_column))
    runs = [recorded for column in columns for recorded in column.runs]
    names = dict.fromkeys(trial.workload for recorded in runs for trial in recorded.trials)
    observed = {name: [list(own.get(name, {}).values()) for own in by_run] for name in names}
    slopes = {name: slope(own, _expected(name, runs)) for name, own in observed.items() if any(own)}
    left = variance_left({name: observed[name] for name in slopes}, slopes)
    if left is None or left > MAX_VARIANCE_LEFT:
        return None
    timed = [
        replace(column, runs=tuple(map(partial(_adjusted, slopes), column.runs, own)))
        for column, own in zip(columns, by_column, strict=True)
    ]
    unknown = _of_unknown_speed((run for column in timed for run in column.runs), by_run)
    covariates = [
        [
            {
                name: Covariate(slopes[name], middle(list(trials.values())))
                for name, trials in of_run.items()
                if name not in unknown
            }
            for of_run in own
        ]
        for own in by_column
    ]
    return timed, covariates, SpeedAdjustment(slopes, left)


def _of_unknown_speed(
    runs: Iterable[RecordedRun], observed: Iterable[Mapping[str, Mapping[int, Observed]]]
) -> set[str]:
    """Return the workloads that have times in a run, and no trial of known speed in it."""
    return {
        trial.workload
        for recorded, own in zip(runs, observed, strict=True)
        for trial in measured_trials([recorded])
        if trial.wall_s is not None and trial.workload not in own
    }


def _slowness(trial: Trial) -> float | None:
    """Return the logarithm of how long the nodes take for a fixed work; None if it is unknown.

    Only of a trial that counts, or would if it had not been slowed.
    """
    is_usable = trial.phase is Phase.MEASURED and (
        not trial.disturbed or is_of_speed(trial.disturbed)
    )
    if not is_usable or not trial.interference:
        return None
    nodes = [_of_node(node) for node in trial.interference]
    known = [node for node in nodes if node is not None]
    return fmean(known) if len(known) == len(nodes) else None


def _of_node(node: NodeInterference) -> float | None:
    """Return the logarithm of the loop's time, divided by the share of time that a processor is there."""
    if not node.loop_s or (node.loops or 0) < MIN_LOOPS:
        return None
    there = 1.0
    if node.stolen_s and node.busy_s is not None:
        there -= node.stolen_s / (node.stolen_s + node.busy_s)
    if node.others_s:
        there *= 1 - min(0.9, node.others_s / (node.duration_s * node.processors))
    return math.log(node.loop_s) - math.log(max(0.1, there))


def _observed(recorded: RecordedRun) -> dict[str, dict[int, Observed]]:
    """Return the trials of a run of which time and speed are known, by workload and place in the run."""
    found: dict[str, dict[int, Observed]] = {}
    for number, trial in enumerate(recorded.trials):
        if trial.wall_s is not None and (slowness := _slowness(trial)) is not None:
            own = found.setdefault(trial.workload, {})
            own[number] = Observed(math.log(trial.wall_s), slowness, not trial.disturbed)
    return found


def _expected(workload: str, runs: Sequence[RecordedRun]) -> float:
    """Return how much of a workload's trials is computation: the share of processors that are busy."""
    shares = [
        min(1.0, node.busy_s / (node.duration_s * node.processors))
        for recorded in runs
        for trial in recorded.by_workload.get(workload, ())
        if trial.phase is Phase.MEASURED
        for node in trial.interference or ()
        if node.busy_s is not None
    ]
    return median(shares) if shares else 0.0


def _adjusted(
    slopes: Mapping[str, float],
    recorded: RecordedRun,
    observed: Mapping[str, Mapping[int, Observed]],
) -> RecordedRun:
    """Return a run with adjusted times. A trial of unknown speed stays as it is, and out if it was out."""
    times: dict[int, float] = {}
    for name, own in observed.items():
        logs = adjusted(list(own.values()), slopes[name])
        times |= zip(own, map(math.exp, logs), strict=True)
    trials = tuple(
        replace(trial, wall_s=times[number], disturbed=None) if number in times else trial
        for number, trial in enumerate(recorded.trials)
    )
    return replace(recorded, trials=trials)
