"""Variances of workloads moderated by each other, as in limma (Smyth 2004), as far as they are alike.

With two or three runs on a side, a workload's own variance is little known. Others of the same runs tell
more of it, but only if they are alike. That is estimated from the table, with caution: half of what the
others tell counts, and no variance becomes less than its own.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from statistics import fmean, variance

from harness.statistics.run_model import NORMAL_DF, Estimate

CAUTION = 0.5
"""The part of the prior degrees of freedom that counts: few workloads show little of how alike they are."""


def moderated(ratios: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """Return the ratios of repeated runs with moderated variances, if there are two or more.

    Variances are taken to be scaled inverse chi-squared: the logarithms of sample variances then differ by
    trigamma of half their degrees of freedom, and by that of half the prior ones.
    """
    repeated = {name: ratio for name, ratio in ratios.items() if ratio.df < NORMAL_DF}
    if len(repeated) <= 1:
        return {}
    from scipy.special import zeta  # noqa: PLC0415  loads for 0.4 s

    logs: list[float] = []
    by_chance: list[float] = []
    for each in repeated.values():
        logs.append(math.log(each.variance / each.per_run) - _bias(each.df))
        by_chance.append(float(zeta(2, each.df / 2)))
    excess = variance(logs) - fmean(by_chance)
    prior_df: float = NORMAL_DF
    if excess > 0:
        # Twice the x with trigamma(x) = excess; trigamma(x) is about 1 / x + 1 / (2 x^2).
        prior_df = min(NORMAL_DF, (1 + math.sqrt(1 + 2 * excess)) / excess)
    usual = math.exp(fmean(logs) + _bias(prior_df))
    others_df = fmean(each.df for each in repeated.values()) * (len(repeated) - 1)
    df = CAUTION * min(prior_df, others_df)
    found: dict[str, Estimate] = {}
    for name, each in repeated.items():
        weighted = (df * usual * each.per_run + each.df * each.variance) / (df + each.df)
        found[name] = replace(each, variance=max(each.variance, weighted), df=df + each.df)
    return found


def _bias(df: float) -> float:
    """Return the mean of the logarithm of a sample variance whose expectation is 1."""
    from scipy.special import digamma  # noqa: PLC0415  loads for 0.4 s

    return float(digamma(df / 2)) - math.log(df / 2)
