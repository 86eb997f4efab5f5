"""Whether a baseline is fit to be compared with, and how small a change it will show."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.analysis import readiness_checks
from harness.analysis.column import ConfigurationRuns
from harness.analysis.readiness_checks import Finding, Standing, measured_workloads
from harness.analysis.sample import take_sample
from harness.statistics.median import noise
from harness.statistics.power import detectable_change

CHECKS: Mapping[str, Callable[[ConfigurationRuns], Finding]] = {
    "runs": readiness_checks.completed,
    "trials": readiness_checks.enough_trials,
    "failures": readiness_checks.no_failures,
    "workloads": readiness_checks.all_workloads,
    "controls": readiness_checks.controls,
    "task metrics": readiness_checks.task_metrics,
    "name and facts": readiness_checks.nothing_contradicted,
    "links": readiness_checks.links_known,
    "environment": readiness_checks.environment_known,
    "circumstances": readiness_checks.alike,
    "layout": readiness_checks.layout_proven,
    "content": readiness_checks.content_checked,
    "submissions": readiness_checks.several_submissions,
}


@dataclass(frozen=True)
class Prospect:
    """What will be seen of a workload's change, with as many trials after it as before.

    `noise` is a trial's standard deviation as a share, None if it is not known. `least_change` is the
    smallest change that will be found nine times in ten, as a share; None with an unknown noise, and
    where the trials are too few to show any.
    """

    workload: str
    n: int
    noise: float | None
    least_change: float | None


@dataclass(frozen=True)
class Readiness:
    """A baseline, what each check of it found, and its prospects."""

    column: ConfigurationRuns
    findings: Mapping[str, Finding]
    prospects: tuple[Prospect, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The checks that it does not pass; a baseline is ready if there are none."""
        return tuple(
            what for what, found in self.findings.items() if found.standing is Standing.LACKING
        )


def readiness(column: ConfigurationRuns) -> Readiness:
    """Look at a baseline that will be compared with one configuration, in all of its workloads."""
    workloads = measured_workloads(column)
    return Readiness(
        column,
        {what: check(column) for what, check in CHECKS.items()},
        tuple(_prospect(name, column, len(workloads)) for name in workloads),
    )


def _prospect(workload: str, column: ConfigurationRuns, comparisons: int) -> Prospect:
    times_s = take_sample(workload, column.runs).times_s
    noise_ = noise(times_s)
    least = None if noise_ is None else detectable_change(noise_, len(times_s), comparisons)
    return Prospect(workload, len(times_s), noise_, least)
