"""Tables of times whose truth is known: runs that differ, trials that differ, and at most a single change."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from harness.statistics.change import Verdict, changes_of_table, shift_of_controls
from harness.statistics.mixed_model import MixedModel, Run, run_median

Values = NDArray[np.float64]

OUTLIERS, OUTLIER_SDS = 0.05, 4.0
"""The fraction of trials that are outliers, and by how many standard deviations they are longer."""


class Noise(StrEnum):
    """How values differ; the standard deviation is 1, that of outliers apart."""

    NORMAL = "normal"
    HEAVY_TAILED = "heavy-tailed"
    OUTLIERS = "outliers"


class Order(StrEnum):
    """The order of the runs of A and B in a session."""

    TURNS = "A B B A"
    BLOCKS = "A A B B"
    IN_APPLICATIONS = "A and B in turns in each application"


@dataclass(frozen=True)
class Scenario:
    """How the times of a table come about; deviations and drifts are fractions of a time.

    Each side has `runs` runs. `common_fraction` of the variance between runs is common to all
    workloads. `unlike` is the standard deviation of the logarithm of the factors by which workloads'
    deviations differ. Every time changes by `drift_in_run` from the first to the last trial of a run,
    give or take a half from run to run, and by `drift` from the first to the last run of the session.
    `application_sd` is how much applications differ, in the same way for both sides that take turns in them.
    """

    runs: int
    workloads: int = 9
    controls: int = 4
    trials: int = 6
    between_sd: float = 0.02
    within_sd: float = 0.03
    common_fraction: float = 0.5
    noise: Noise = Noise.NORMAL
    unlike: float = 0.0
    drift_in_run: float = 0.0
    drift: float = 0.0
    application_sd: float = 0.0
    order: Order = Order.TURNS


class Tables:
    """Draws tables of a scenario; the same ones for the same seed."""

    def __init__(self, scenario: Scenario, seed: int | Sequence[int]) -> None:
        self.scenario = scenario
        self._random = np.random.default_rng(seed)
        names = [f"workload-{number}" for number in range(scenario.workloads)]
        self.changed, self.controls = names[0], names[scenario.workloads - scenario.controls :]
        self._names = names

    def draw(self, change: float = 0.0, shift: float = 0.0) -> MixedModel:
        """Return a table in which the first workload has this change, and everything this shift."""
        times_s = np.exp(self._logs())
        after = times_s[self.scenario.runs :]
        after *= 1 + shift
        after[:, 0] *= 1 + change
        runs = [self._run(times) for times in times_s]
        names = [f"application {number}" for number in range(self.scenario.runs)]
        in_turns = self.scenario.order is Order.IN_APPLICATIONS
        return MixedModel(
            [runs[: self.scenario.runs], runs[self.scenario.runs :]],
            [names, names] if in_turns else (),
        )

    def claims(self, tables: int) -> float:
        """Return the fraction of tables without a change that claim one."""
        return _fraction(
            [
                any(
                    change.verdict is Verdict.CHANGED
                    for change in changes_of_table(self.draw()).values()
                )
                for _ in range(tables)
            ]
        )

    def alarms(self, tables: int, shift: float = 0.0) -> float:
        """Return the fraction of tables in which the controls moved, all times having this shift."""
        return _fraction([self._controls_move(self.draw(shift=shift)) for _ in range(tables)])

    def power(self, change: float, tables: int) -> float:
        """Return the fraction of tables that find this change of a single workload."""
        return _fraction(
            [
                changes_of_table(self.draw(change))[self.changed, 1].verdict is Verdict.CHANGED
                for _ in range(tables)
            ]
        )

    def _logs(self) -> Values:
        """Return logarithms of times by run, A's first, workload and trial."""
        s, count = self.scenario, 2 * self.scenario.runs
        factors = np.exp(s.unlike * self._random.standard_normal(s.workloads))
        common = self._values(count, 1, 1)
        own = self._values(count, s.workloads, 1) * factors[:, None]
        trial = self._values(count, s.workloads, s.trials, outliers=True) * factors[:, None]
        in_run = s.drift_in_run * (1 + 0.5 * self._random.standard_normal((count, 1, 1)))
        logs: Values = (
            s.between_sd * math.sqrt(s.common_fraction) * common
            + s.between_sd * math.sqrt(1 - s.common_fraction) * own
            + s.within_sd * trial
            + in_run * np.linspace(0, 1, s.trials)
            + s.drift * self._positions()[:, None, None]
            + s.application_sd * self._of_applications(factors)
        )
        return logs

    def _of_applications(self, factors: Values) -> Values:
        """Return the effects of applications on the runs of both sides."""
        s = self.scenario
        common = math.sqrt(s.common_fraction) * self._values(s.runs, 1, 1)
        own = math.sqrt(1 - s.common_fraction) * self._values(s.runs, s.workloads, 1)
        return np.tile(common + own * factors[:, None], (2, 1, 1))

    def _positions(self) -> Values:
        """Return when each run took place: 0 is the beginning of the session, 1 its end."""
        runs = self.scenario.runs
        if self.scenario.order is Order.IN_APPLICATIONS:
            return np.tile(np.linspace(0, 1, runs), 2)
        sides = "ABBA" * runs if self.scenario.order is Order.TURNS else "A" * runs + "B" * runs
        sides = sides[: 2 * runs]
        by_side = [i for side in "AB" for i, found in enumerate(sides) if found == side]
        return np.array(by_side) / (2 * runs - 1)

    def _controls_move(self, model: MixedModel) -> bool:
        shift = shift_of_controls(model, 1, self.controls)
        return shift is not None and shift.moved

    def _values(self, *shape: int, outliers: bool = False) -> Values:
        if self.scenario.noise is Noise.HEAVY_TAILED:
            return self._random.standard_t(3, shape) / math.sqrt(3)
        values = self._random.standard_normal(shape)
        if outliers and self.scenario.noise is Noise.OUTLIERS:
            longer = self._random.exponential(OUTLIER_SDS, shape)
            values += longer * (self._random.random(shape) < OUTLIERS)
        return values

    def _run(self, times_s: Values) -> Run:
        return {
            name: run_median(of_workload.tolist())
            for name, of_workload in zip(self._names, times_s, strict=True)
        }


def _fraction(answers: Sequence[bool]) -> float:
    return sum(answers) / len(answers)
