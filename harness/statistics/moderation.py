"""Variances of workloads moderated by each other, as in limma (Smyth 2004), as far as they are alike.

With two or three runs on a side, a workload's own variance is little known. Others of the same runs tell
more of it, but only if they are alike. That is estimated from the table, with caution: half of what the
others tell counts, and no variance becomes less than its own.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean, variance

from scipy.special import digamma, zeta

from harness.statistics.run_table import NORMAL_DF, Estimate

CAUTION = 0.5
"""The part of the prior degrees of freedom that counts: few workloads show little of how alike they are."""


def moderated(estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return the estimates with moderated variances: two or more, each of runs that were repeated.

    Variances are taken to be scaled inverse chi-squared: the logarithms of sample variances then differ by
    trigamma of half their degrees of freedom, and by that of half the prior ones.
    """
    logs = [math.log(each.variance / each.per_run) - _bias(each.df) for each in estimates]
    excess = variance(logs) - fmean(float(zeta(2, each.df / 2)) for each in estimates)
    prior_df = min(NORMAL_DF, 2 * _inverse_trigamma(excess)) if excess > 0 else NORMAL_DF
    usual = math.exp(fmean(logs) + _bias(prior_df))
    others_df = fmean(each.df for each in estimates) * (len(estimates) - 1)
    df = CAUTION * min(prior_df, others_df)
    return [
        replace(
            each,
            variance=max(
                each.variance,
                (df * usual * each.per_run + each.df * each.variance) / (df + each.df),
            ),
            df=df + each.df,
        )
        for each in estimates
    ]


def _bias(df: float) -> float:
    """Return the mean of the logarithm of a sample variance whose expectation is 1."""
    return float(digamma(df / 2)) - math.log(df / 2)


def _inverse_trigamma(value: float) -> float:
    """Return about the x with trigamma(x) = value: trigamma(x) is about 1 / x + 1 / (2 x^2)."""
    return (1 + math.sqrt(1 + 2 * value)) / (2 * value)
