"""How much narrower intervals become with more runs."""

import math
from statistics import median

from harness.analysis.compare.comparison import Comparison
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.analysis.observed.sample import table_model
from harness.model.limits import MIN_RUNS
from harness.model.run import moment_of
from harness.statistics.run_table import Estimate, RunTable


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
    widths = [
        (_half_width(model, last, name, runs), _half_width(model, last, name, runs + more))
        for name in model.workloads
        if (runs := model.runs(last, name)) >= MIN_RUNS
    ]
    if not widths:
        return None
    return median(now for now, _ in widths), median(later for _, later in widths)


def widest(column: ConfigurationRuns) -> tuple[str, float] | None:
    """Return the workload whose time is known least well, and half of its interval as a fraction of the time.

    None if a workload has too few runs to tell.
    """
    model = table_model([column.runs], column.workloads)
    runs = {name: model.runs(0, name) for name in model.workloads}
    if min(runs.values(), default=0) < MIN_RUNS:
        return None
    return max(
        ((name, _half_width(model, 0, name, n)) for name, n in runs.items()), key=lambda w: w[1]
    )


def _half_width(model: RunTable, column: int, workload: str, total: int) -> float:
    """Return half of the interval of a time, as a fraction of it, with `total` runs."""
    runs, now = model.runs(column, workload), model.time(column, workload)
    later = Estimate(now.log, now.variance * runs / total, now.df * (total - 1) / (runs - 1))
    return math.expm1(later.margin())


def _seconds(first: str, last: str) -> float:
    return (moment_of(last) - moment_of(first)).total_seconds()
