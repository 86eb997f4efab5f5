"""At most one table in twenty without a change claims one, however its runs differ.

The table of all cases: make microbench, or pytest -s tests/bench/test_false_claims.py.
"""

import pytest
from scipy.stats import binom

from harness.statistics.change import ALPHA
from tests.bench.simulation import Noise, Order, Scenario, Tables

TABLES = 80
MOST = float(binom.ppf(0.999, TABLES, ALPHA)) / TABLES
"""More than this fraction of claims are of a test that makes more than one in twenty."""
IN_APPLICATIONS = Scenario(
    2, application_sd=0.1, between_sd=0.01, order=Order.IN_APPLICATIONS, drift=0.1
)
CASES = {
    "runs move everything": Scenario(2, common_fraction=0.8, unlike=0.4),
    "outliers": Scenario(3, noise=Noise.OUTLIERS, unlike=0.4),
    "turns in two applications": IN_APPLICATIONS,
}


@pytest.mark.parametrize("case", CASES)
def test_a_table_without_a_change_claims_one_in_at_most_5_percent(case: str) -> None:
    assert Tables(CASES[case], seed=1).claims(TABLES) <= MOST


def test_single_runs_claim_nothing() -> None:
    tables = Tables(Scenario(1), seed=3)
    assert tables.claims(20) == tables.alarms(20, shift=1.0) == tables.power(1.0, 20) == 0


def test_a_workload_that_is_a_tenth_slower_is_found_with_five_runs() -> None:
    assert Tables(Scenario(5), seed=4).power(0.1, 60) > 0.9


def test_a_machine_that_is_a_tenth_slower_is_found_by_its_controls_with_five_runs() -> None:
    assert Tables(Scenario(5), seed=5).alarms(60, shift=0.1) > 0.9
