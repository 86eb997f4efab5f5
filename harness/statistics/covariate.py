"""What a covariate explains of how the trials of a run differ: an analysis of covariance.

The logarithm of a trial's time is the run's own level, plus a slope times how far the trial's covariate is
from the middle one of the same workload's quiet trials in the run, plus noise. The slope is the workload's,
in all runs of a table. Because covariates are centred in each run, only differences within runs are taken
away: whatever makes all trials of a run slower stays in its time, be it the change under test or the hour.

docs/noise.md has the simulations that chose this among other estimators. Standard library only.
"""

from collections.abc import Mapping, Sequence
from math import fsum
from statistics import fmean, geometric_mean, median
from typing import NamedTuple

from harness.statistics.median import MAD_TO_SD
from harness.statistics.mixed_model import MIN_TRIAL_SD

PRIOR_SD = 0.3
"""How far a slope may be from what is expected of it, as a standard deviation."""
HUBER = 1.5
"""Deviations, in standard deviations, from which on a trial weighs less in the estimate of a slope."""
MAX_VARIANCE_LEFT = 0.5
"""Of the variance of a mean. Times are only adjusted if no more is left, so that it is not for chance."""
_STEPS = 10


class Observed(NamedTuple):
    """A trial: the logarithms of its time and of its covariate, and whether it counts unadjusted."""

    log_time: float
    covariate: float
    is_quiet: bool = True


Runs = Sequence[Sequence[Observed]]
"""The trials of one workload, by run."""


def slope(runs: Runs, expected: float) -> float:
    """Return by how much the logarithm of a time follows the covariate within runs: from 0 to 1.

    It is a regression that outliers hardly influence (Huber 1964), shrunk to what is expected of the
    workload: the fewer the trials and the steadier the covariate, the more.
    """
    runs = [run for run in runs if len(run) > 1]  # a trial alone differs from nothing
    free = sum(len(run) - 1 for run in runs)
    found = expected
    if not free:
        return found
    weights = [[1.0] * len(run) for run in runs]
    prior = PRIOR_SD**-2
    for _ in range(_STEPS):
        centred = [_centred(run, own) for run, own in zip(runs, weights, strict=True)]
        errors = [[abs(y - found * x) for x, y in run] for run in centred]
        every = [error for run in errors for error in run]
        sd = max(MIN_TRIAL_SD, MAD_TO_SD * median(every) * (len(every) / free) ** 0.5)
        limit = HUBER * sd
        weights = [[limit / max(error, limit) for error in run] for run in errors]
        weighted = [
            (weight / sd**2, *pair)
            for run, own in zip(centred, weights, strict=True)
            for pair, weight in zip(run, own, strict=True)
        ]
        known = fsum(w * x * x for w, x, _ in weighted)
        product = fsum(w * x * y for w, x, y in weighted)
        found = min(1.0, max(0.0, (prior * expected + product) / (prior + known)))
    return found


def unadjusted(run: Sequence[Observed]) -> list[Observed]:
    """Return the trials of a run that count without an adjustment: the quiet ones; all, if none is quiet."""
    return [trial for trial in run if trial.is_quiet] or list(run)


def middle(run: Sequence[Observed]) -> float:
    """Return the middle covariate of a run's trials, one or more.

    It is that of the trials that count unadjusted: a middle of all would be anywhere in a run that was
    disturbed half of the time.
    """
    return median(trial.covariate for trial in unadjusted(run))


def adjusted(run: Sequence[Observed], slope_: float) -> list[float]:
    """Return the logarithms of the times that the trials would have with the run's middle covariate."""
    if not run:
        return []
    level = middle(run)
    return [trial.log_time - slope_ * (trial.covariate - level) for trial in run]


def variance_left(workloads: Mapping[str, Runs], slopes: Mapping[str, float]) -> float | None:
    """Return the variance of a mean after adjusting, as a fraction of that before; None of too few trials.

    The variance of a mean is that of the trials within runs, divided by their number: after adjusting, of all
    trials; before, of those that count unadjusted. It is the geometric mean of the workloads' fractions.
    """
    fractions = []
    for name, runs in workloads.items():
        before = _of_mean([[trial.log_time for trial in unadjusted(run)] for run in runs], 0)
        after = _of_mean([adjusted(run, slopes[name]) for run in runs], 1)
        if before and after:
            fractions.append(after / before)
    return geometric_mean(fractions) if fractions else None


def _of_mean(runs: Sequence[Sequence[float]], estimated: int) -> float | None:
    """Return the variance of the mean; `estimated` numbers were learnt from the same values."""
    repeated = [run for run in runs if len(run) > 1]
    free = sum(len(run) - 1 for run in repeated) - estimated
    squares = (
        fsum((value - mean) ** 2 for value in run) for run in repeated for mean in [fmean(run)]
    )
    if free <= 0:
        return None
    return max(MIN_TRIAL_SD**2, fsum(squares) / free) / sum(map(len, runs))


def _centred(run: Sequence[Observed], weights: Sequence[float]) -> list[tuple[float, float]]:
    """Return how far the trials' covariates and times are from their weighted means."""
    total = fsum(weights)
    covariate = fsum(w * trial.covariate for w, trial in zip(weights, run, strict=True)) / total
    time = fsum(w * trial.log_time for w, trial in zip(weights, run, strict=True)) / total
    return [(trial.covariate - covariate, trial.log_time - time) for trial in run]
