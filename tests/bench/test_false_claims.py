"""How often tables claim a change that is not there, and intervals miss: the table in docs/noise.md.

A number of tables is simulated for each case, with real randomness of a fixed seed; `TABLES=2000` in the
environment simulates more of them.
"""

import os

import pytest
from scipy.stats import binom

from harness.statistics.change import ALPHA
from tests.bench.scale import IS_SMOKE, scaled
from tests.bench.simulation import CASES, simulate

TABLES = int(os.environ.get("TABLES", scaled("300", smoke="2")))
RUNS = ((2, 2), (3, 3), (5, 5), (2, 6))
MOST = float(binom.ppf(0.9999, TABLES, ALPHA)) / TABLES
"""No case that keeps the promise of 5 % is likely to exceed this by chance."""


@pytest.mark.parametrize("case", CASES)
def test_claims_and_intervals(case: str) -> None:
    for before, after in RUNS:
        if CASES[case].application_sd and before != after:
            continue
        found = simulate(CASES[case], before, after, TABLES)
        low, high = min(found.misses), max(found.misses)
        print(
            f"\n| {case} | {before}, {after} | {100 * found.claims:.1f} | {100 * low:.1f} to "
            f"{100 * high:.1f} | {100 * found.found:.0f} | {100 * found.alarms:.1f} |",
            end="",
        )
        assert IS_SMOKE or max(found.claims, found.alarms, high) <= MOST
