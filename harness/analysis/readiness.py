"""Whether a baseline is fit for a later comparison, and the smallest change that it can reveal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness.analysis import readiness_checks
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.readiness_checks import CheckStatus, Finding, measured_workloads
from harness.analysis.sample import take_sample
from harness.statistics.median import noise
from harness.statistics.power import detectable_change

CHECKS: Mapping[str, Callable[[ConfigurationRuns], Finding]] = {
    "runs": readiness_checks.all_completed,
    "trials": readiness_checks.enough_trials,
    "failures": readiness_checks.no_failures,
    "workloads": readiness_checks.all_workloads,
    "controls": readiness_checks.has_controls,
    "task metrics": readiness_checks.has_task_metrics,
    "name and facts": readiness_checks.no_contradictions,
    "links": readiness_checks.links_known,
    "environment": readiness_checks.environment_known,
    "confounders": readiness_checks.no_confounders,
    "layout": readiness_checks.layout_verified,
    "content": readiness_checks.content_checked,
    "submissions": readiness_checks.several_submissions,
}


@dataclass(frozen=True)
class Sensitivity:
    """The smallest change of a workload that a comparison will detect.

    It holds if the other configuration gets as many trials, `n`. `noise` is the standard deviation of
    a trial as a fraction, None if unknown. `min_change` is the smallest relative change that is detected
    with the usual power, None if the noise is unknown or the trials are too few for any change.
    """

    workload: str
    n: int
    noise: float | None
    min_change: float | None


@dataclass(frozen=True)
class Readiness:
    """A baseline with the finding of each check, by name, and the sensitivity of each workload."""

    baseline: ConfigurationRuns
    findings: Mapping[str, Finding]
    sensitivities: tuple[Sensitivity, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the checks that failed. The baseline is ready if there are none."""
        return tuple(
            name for name, finding in self.findings.items() if finding.status is CheckStatus.MISSING
        )


def readiness(baseline: ConfigurationRuns) -> Readiness:
    """Check a baseline that will be compared with one other configuration, in all its workloads."""
    workloads = measured_workloads(baseline)
    return Readiness(
        baseline,
        {name: check(baseline) for name, check in CHECKS.items()},
        tuple(_sensitivity(name, baseline, len(workloads)) for name in workloads),
    )


def _sensitivity(workload: str, baseline: ConfigurationRuns, comparisons: int) -> Sensitivity:
    times_s = take_sample(workload, baseline.runs).times_s
    noise_ = noise(times_s)
    min_change = None if noise_ is None else detectable_change(noise_, len(times_s), comparisons)
    return Sensitivity(workload, len(times_s), noise_, min_change)
