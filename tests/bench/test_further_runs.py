"""Whether what `compare` says of further runs comes true, of simulated runs with a fixed seed.

`pytest -s tests/bench/test_further_runs.py` prints the figures.
"""

import re
from statistics import median

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.compare.limits import judge
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.statistics.power import MAX_RUNS
from tests.unit.builders import a_run, known, ok, recorded

TABLES = 100
RUNS = 3
LIMIT = 0.03
TIME_S = 10.0

Logs = NDArray[np.float64]
"""Of the times of a configuration, relative to TIME_S: a row for each run, a column for each workload."""


def configuration(name: str, logs: Logs) -> ConfigurationRuns:
    runs = [
        recorded(
            a_run(name, f"{name}-{number}"),
            [ok(f"w{n}", TIME_S * float(np.exp(log))) for n, log in enumerate(of_run)],
        )
        for number, of_run in enumerate(logs)
    ]
    return ConfigurationRuns(name, tuple(runs))


def comparison(before: Logs, after: Logs, runs: int) -> Comparison:
    """Return the table of the first runs of either side."""
    sides = zip(("before", "after"), (before, after), strict=True)
    return compare([configuration(name, logs[:runs]) for name, logs in sides])


# Where runs of four workloads differ by 10 %, all four are told in a sixth of the cases.
@pytest.mark.parametrize(
    ("workloads", "sd"), [(1, 0.01), (1, 0.03), (1, 0.1), (4, 0.01), (4, 0.03)]
)
def test_the_runs_that_compare_asks_for_tell_in_about_half_of_the_cases(
    workloads: int, sd: float
) -> None:
    """The true changes of workloads are from -10 to +10 %."""
    random = np.random.default_rng(1)
    asked, told = [], 0
    for _ in range(TABLES):
        before, after = sd * random.standard_normal((2, RUNS + MAX_RUNS, workloads))
        after += random.uniform(-0.1, 0.1, workloads)
        unknown = [
            each for each in judge(comparison(before, after, RUNS), LIMIT) if "about" in each.text
        ]
        for each in unknown:
            more = int(known(re.search(r"about (\d+) more", each.text))[1])
            later = judge(comparison(before, after, RUNS + more), LIMIT)
            still = {
                name for found in later if found.outcome == "unknown" for name in found.workloads
            }
            asked.append(more)
            told += not still.intersection(each.workloads)
    share = told / len(asked)
    print(
        f"\n{workloads} workloads, runs differ by {sd:.0%}: {len(asked)} of {TABLES} tables ask for "
        f"{median(asked):g} more runs in the median, which tell in {share:.0%}"
    )
    assert share >= 0.4
