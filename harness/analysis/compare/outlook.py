"""How much narrower intervals become with more runs."""

import math
from statistics import median

from scipy.special import gammaincinv

from harness.analysis.compare.comparison import Comparison, overview
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.model.limits import MIN_RUNS
from harness.model.run import moment_of
from harness.statistics.run_table import Estimate


def outlook(comparison: Comparison, more_s: float) -> tuple[float, float] | None:
    """Return the half width of a typical interval of the last column, now and after `more_s` seconds more.

    Both are fractions of the time, and medians over workloads. The runs to come are assumed to last as long,
    and to differ as much, as the present runs. None for fewer than two present runs.
    """
    model, last = comparison.model, len(comparison.columns) - 1
    lasted = [  # from the start of a run to that of its last trial
        seconds
        for recorded in comparison.columns[last].runs
        if recorded.trials
        and (seconds := _seconds(recorded.run.started_at, recorded.trials[-1].started_at))
    ]
    if not lasted:
        return None
    more = max(1, round(more_s / median(lasted)))
    widths = []
    for name in model.workloads:
        if (runs := model.runs(last, name)) >= MIN_RUNS:
            time = model.time(last, name)
            widths.append((_half_width(time, runs, runs), _half_width(time, runs, runs + more)))
    if not widths:
        return None
    return median(now for now, _ in widths), median(later for _, later in widths)


def widest(column: ConfigurationRuns) -> tuple[str, float] | None:
    """Return the workload whose time is known least well, and half of its interval as a fraction of the time.

    None if a workload has too few runs to tell.
    """
    summaries = {row.workload: row.cells[0].summary for row in overview(column).rows}
    widths = {name: summary.uncertainty for name, summary in summaries.items() if summary}
    known = [(name, width) for name, width in widths.items() if width is not None]
    return max(known, key=lambda each: each[1]) if known and len(known) == len(widths) else None


def _half_width(time: Estimate, runs: int, total: int) -> float:
    """Return half of the interval of a time, as a fraction of it, with `total` runs instead of `runs`."""
    df = time.df * (total - 1) / (runs - 1)
    variance = time.variance * runs / total * _median_variance(df) / _median_variance(time.df)
    return math.expm1(Estimate(time.log, variance, df).margin())


def _median_variance(df: float) -> float:
    """Return the median of estimates of a variance of 1; of few degrees of freedom, most are too small."""
    return 2 * float(gammaincinv(df / 2, 0.5)) / df


def _seconds(first: str, last: str) -> float:
    return (moment_of(last) - moment_of(first)).total_seconds()
