"""Tables of times whose truth is known: workloads that are unlike, runs and trials that differ.

`pytest -s tests/bench/test_false_claims.py` prints what came of all CASES; docs/noise.md has the table.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from harness.statistics.change import Change, Verdict, changes_from_baseline, shift_of_controls
from harness.statistics.run_model import RunModel, run_median

Values = NDArray[np.float64]
TIME_S = 10.0
KEPT = 0.75
"""How much of a drift of the machine is left in the next run."""
CHANGE = 0.1
"""The change of the first workload that is to be found."""


@dataclass(frozen=True)
class Case:
    """How times come about; standard deviations are in percent of the time, one for each workload.

    `shared` is the fraction of the variance between runs that moves all workloads together. Heavy tails are
    those of Student's t distribution with 3 degrees of freedom. The first run is slower by the fraction
    `slow_run`, and each trial but the first of a run is missing with the probability `missing`. Runs take
    turns in applications that differ by `application_sd`, if that is not 0. The machine's speed drifts by
    `drift_sd`, slowly.
    """

    run_sd: Sequence[float]
    trial_sd: Sequence[float]
    shared: float = 0.0
    trials: int = 4
    heavy: bool = False
    slow_run: float = 0.0
    missing: float = 0.0
    application_sd: float = 0.0
    drift_sd: float = 0.0


@dataclass(frozen=True)
class Outcome:
    """What came of simulated tables, as fractions of them.

    `claims` claim a change that is not there; the intervals of `misses` do not contain the true change, by
    workload; `found` find that of the first workload; `alarms` say that the last two workloads moved.
    """

    claims: float
    misses: tuple[float, ...]
    found: float
    alarms: float


def _alike(number: int, run_sd: float = 3, trial_sd: float = 3, **other: Any) -> Case:
    return Case((run_sd,) * number, (trial_sd,) * number, **other)


_SPREAD = tuple(2 * np.exp(np.linspace(-1.5, 1.5, 12)))
CASES: Mapping[str, Case] = {
    "four of 3 / 3": _alike(4),
    "one of 6 / 1, one of 0.3 / 1": Case((6, 0.3), (1, 1)),
    "two of 5 / 2, six of 0.5 / 1": Case((5, 5, *[0.5] * 6), (2, 2, *[1] * 6)),
    "the same, runs shared by 80 %": Case((5, 5, *[0.5] * 6), (2, 2, *[1] * 6), shared=0.8),
    "two of 3 / 3": _alike(2),
    "eight of 3 / 3": _alike(8),
    "eight of 2 / 2": _alike(8, 2, 2),
    "the same, one trial": _alike(8, 2, 2, trials=1),
    "the same, six trials": _alike(8, 2, 2, trials=6),
    "the same, runs shared by 50 %": _alike(8, 2, 2, shared=0.5),
    "the same, runs shared by 100 %": _alike(8, 2, 2, shared=1.0),
    "the same, heavy tails": _alike(8, 2, 2, heavy=True),
    "the same, a third of the trials missing": _alike(8, 2, 2, missing=1 / 3),
    "the same, a run slower by 10 %": _alike(8, 2, 2, slow_run=0.1),
    "the same, turns in applications": _alike(8, 2, 2, application_sd=0.05),
    "one of 3 / 30, three of 3 / 3": Case((3,) * 4, (30, 3, 3, 3)),
    "one of 3 / 30, seven of 3 / 3": Case((3,) * 8, (30, *[3] * 7)),
    "one of 6 / 1, seven of 3 / 1": Case((6, *[3] * 7), (1,) * 8),
    "one of 1 / 1, seven of 3 / 1": Case((1, *[3] * 7), (1,) * 8),
    "four of 6 / 1, four of 0.6 / 1": Case((6, 6, 6, 6, 0.6, 0.6, 0.6, 0.6), (1,) * 8),
    "0.5, 1, 2, 4, 8 / 1": Case((0.5, 1, 2, 4, 8), (1,) * 5),
    "twelve of 0.4 to 9 / 2": Case(_SPREAD, (2,) * 12),
    "the same, shared by 50 %, heavy tails": Case(_SPREAD, (2,) * 12, shared=0.5, heavy=True),
}

DRIFTING = _alike(6, 1, 2, trials=2, drift_sd=0.03)
"""Runs in sequence on a machine whose speed drifts by more than they differ otherwise."""


def simulate(case: Case, before: int, after: int, tables: int, seed: int = 1) -> Outcome:
    """Return what comes of tables with these numbers of runs on either side; nothing changes in truth."""
    random = np.random.default_rng(seed)
    drawn = [_draw(case, before, after, random) for _ in range(tables)]
    changes = [changes_from_baseline(table).values() for table in drawn]
    intervals = [[change.interval or (-1, math.inf) for change in found] for found in changes]
    controls = list(drawn[0].workloads)[-2:]
    shifts = [shift_of_controls(table, 1, controls) for table in drawn]
    return Outcome(
        claims=_fraction([claims_any(found) for found in changes]),
        misses=tuple(
            _fraction([not low <= 0 <= high for low, high in of_workload])
            for of_workload in zip(*intervals, strict=True)
        ),
        found=_fraction([_finds(table) for table in drawn]),
        alarms=_fraction([shift is not None and shift.moved for shift in shifts]),
    )


def _finds(table: RunModel) -> bool:
    """Return whether the first workload's change is found."""
    before, after = table.configurations
    name = table.workloads[0]
    changed = [
        {**run, name: run_median([math.exp(run[name].log_time) * (1 + CHANGE)])} for run in after
    ]
    found = changes_from_baseline(RunModel([before, changed], table.applications))
    return claims_any([found[name, 1]])


def claims_any(changes: Iterable[Change]) -> bool:
    """Return whether one of these changes is claimed."""
    return any(change.verdict is Verdict.CHANGED for change in changes)


def _draw(case: Case, before: int, after: int, random: np.random.Generator) -> RunModel:
    runs, workloads = before + after, len(case.run_sd)

    def values(*shape: int) -> Values:
        if case.heavy:
            return random.standard_t(3, shape) / math.sqrt(3)
        return random.standard_normal(shape)

    run_sd, trial_sd = np.array(case.run_sd) / 100, np.array(case.trial_sd) / 100
    shared = math.sqrt(case.shared) * values(runs, 1)
    of_runs = run_sd * (shared + math.sqrt(1 - case.shared) * values(runs, workloads))
    of_runs[0] += case.slow_run
    names: list[list[str | None]] = [[str(number) for number in range(n)] for n in (before, after)]
    if case.application_sd:
        of_runs += case.application_sd * np.tile(values(before, 1), (2, 1))
    if case.drift_sd:
        of_runs += _drift(case.drift_sd * values(runs))[:, None]
    logs = of_runs[:, :, None] + trial_sd[:, None] * values(runs, workloads, case.trials)
    kept = random.random(logs.shape) >= case.missing
    kept[:, :, 0] = True
    made = [
        {
            f"workload {n}": run_median((TIME_S * np.exp(of_run[n][kept_of_run[n]])).tolist())
            for n in range(workloads)
        }
        for of_run, kept_of_run in zip(logs, kept, strict=True)
    ]
    return RunModel([made[:before], made[before:]], names if case.application_sd else ())


def _drift(steps: Values) -> Values:
    """Return deviations as large as these. Each has a part of the one before it."""
    drift = steps.copy()
    for number in range(1, len(steps)):
        drift[number] = KEPT * drift[number - 1] + math.sqrt(1 - KEPT**2) * steps[number]
    return drift


def _fraction(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers)
