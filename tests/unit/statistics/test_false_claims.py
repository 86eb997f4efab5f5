"""At most one table in twenty without a change claims one, and one interval in twenty misses.

A small sample; the table of all cases: make microbench, or pytest -s tests/bench/test_false_claims.py.
"""

import pytest
from scipy.stats import binom

from harness.statistics.change import ALPHA
from tests.bench.simulation import CASES, DRIFTING, Outcome, simulate

TABLES = 80
LEAST, MOST = (float(binom.ppf(p, TABLES, ALPHA)) / TABLES for p in (0.001, 0.999))
"""A fraction outside of these is unlikely of a test that is wrong in one of twenty tables."""


@pytest.mark.parametrize(
    ("case", "runs"),
    [
        ("one of 6 / 1, one of 0.3 / 1", 2),
        ("two of 5 / 2, six of 0.5 / 1", 3),
        ("the same, runs shared by 100 %", 3),
        ("one of 3 / 30, three of 3 / 3", 2),
        ("the same, turns in applications", 3),
    ],
)
def test_claims_and_misses_are_as_rare_as_promised(case: str, runs: int) -> None:
    found = simulate(CASES[case], runs, runs, TABLES)
    assert max(found.claims, found.alarms) <= MOST
    assert LEAST <= min(found.misses) <= max(found.misses) <= MOST


def test_many_runs_do_not_make_a_drift_of_the_machine_certain() -> None:
    """By single runs, 38 % of these tables claimed a change; with six runs, 33 % do."""
    assert simulate(DRIFTING, 22, 22, TABLES).claims < 0.3
    assert simulate(CASES["eight of 2 / 2"], 22, 22, TABLES).claims <= MOST


def found_with(runs: int) -> Outcome:
    return simulate(CASES["eight of 2 / 2"], runs, runs, TABLES)


def test_a_workload_that_is_a_tenth_slower_is_found_among_eight_by_three_runs() -> None:
    assert found_with(3).found > 0.7
    assert found_with(1).found == found_with(1).claims == 0
