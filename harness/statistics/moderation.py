"""Variances of workloads moderated by each other, as in limma (Smyth 2004), as far as they are alike.

With two or three runs on a side, a workload's own variance is little known. Others of the same runs tell
more of it, but only if they are alike, and if runs do not move all of them together. Both are estimated from
the table, with caution: half of what the others tell counts, and no variance becomes less than its own.
"""

import math
from collections.abc import Sequence
from statistics import fmean

from scipy.special import digamma, zeta

from harness.statistics.run_table import Contrast

CAUTION = 0.5
"""The part of the prior degrees of freedom that counts: few workloads show little of how alike they are."""
MAX_DF = 1e6
"""Degrees of freedom from which on a variance is known."""


def moderated(contrasts: Sequence[Contrast]) -> list[tuple[float, float]]:
    """Return the moderated variance between runs of each contrast, and its degrees of freedom.

    Each has runs that were repeated.
    """
    if len(contrasts) < 2:  # noqa: PLR2004  no other workload
        return [(c.variance, c.df) for c in contrasts]
    likeness_df, usual = _prior(contrasts)
    others_df = fmean(c.df for c in contrasts) * (_independent(contrasts) - 1)
    df = min(CAUTION * likeness_df, CAUTION * others_df)
    return [
        (max(c.variance, (df * usual + c.df * c.variance) / (df + c.df)), df + c.df)
        for c in contrasts
    ]


def _prior(contrasts: Sequence[Contrast]) -> tuple[float, float]:
    """Return the degrees of freedom and the value of the variance that the contrasts have in common.

    Variances are taken to be scaled inverse chi-squared: the logarithms of sample variances then differ by
    trigamma of half their degrees of freedom, and by that of half the prior ones.
    """
    logs = [math.log(c.variance) - _bias(c.df) for c in contrasts]
    mean = fmean(logs)
    differ = math.fsum((log - mean) ** 2 for log in logs) / (len(logs) - 1)
    excess = differ - fmean(_trigamma(c.df / 2) for c in contrasts)
    df = 2 * _inverse_trigamma(excess) if excess > 0 else MAX_DF
    return df, math.exp(mean + _bias(df))


def _bias(df: float) -> float:
    """Return the mean of the logarithm of a sample variance whose expectation is 1."""
    return float(digamma(df / 2)) - math.log(df / 2)


def _inverse_trigamma(value: float) -> float:
    """Return x with trigamma(x) = value > 0, at most MAX_DF, by the Newton iteration of Smyth (2004)."""
    if value < 1 / MAX_DF:
        return MAX_DF
    x = 0.5 + 1 / value
    for _ in range(10):
        trigamma = _trigamma(x)
        x += trigamma * (trigamma / value - 1) / (2 * float(zeta(3, x)))
    return x


def _trigamma(x: float) -> float:
    return float(zeta(2, x))


def _independent(contrasts: Sequence[Contrast]) -> float:
    """Return how many independent workloads tell as much of a variance as these together.

    From 1, if runs move all of them together, to their number, if runs move each by itself.
    """
    count = len(contrasts)
    standardised = [
        {run: residual / math.sqrt(c.variance) for run, residual in c.residuals.items()}
        for c in contrasts
    ]
    runs = {run for residuals in standardised for run in residuals}
    means = [fmean(own[run] for own in standardised if run in own) for run in runs]
    shared = math.fsum(mean**2 for mean in means) / fmean(c.df for c in contrasts)
    correlation = min(1.0, max(0.0, (count * shared - 1) / (count - 1)))
    return count / (1 + (count - 1) * correlation**2)
