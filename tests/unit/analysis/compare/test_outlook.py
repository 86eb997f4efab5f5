"""How much narrower intervals are expected to be after more runs."""

from dataclasses import replace

import pytest

from harness.analysis.compare.comparison import Comparison, overview
from harness.analysis.compare.outlook import outlook, widest
from harness.analysis.observed.configuration import ConfigurationRuns
from tests.unit.builders import column, in_runs, known

TIMES = {"a": [10.0, 11.0, 9.5, 10.2], "b": [5.0, 5.3, 5.1, 4.8]}


def runs_of_a_minute(number: int) -> ConfigurationRuns:
    pooled = in_runs(column("1g", TIMES), number)
    return replace(
        pooled,
        runs=tuple(
            replace(recorded, run=replace(recorded.run, started_at="2026-11-21T13:41:13.000Z"))
            for recorded in pooled.runs
        ),
    )


def table(number: int) -> Comparison:
    return overview(runs_of_a_minute(number))


@pytest.mark.parametrize("minutes", [1, 10, 100])
def test_more_time_makes_them_narrower(minutes: float) -> None:
    now, then = known(outlook(table(2), minutes * 60))
    assert 0 < then < now


def test_twice_as_many_runs_more_than_halve_the_variance() -> None:
    """More runs also make the variance better known."""
    now, then = known(outlook(table(2), 2 * 60))
    assert then < now / 2**0.5


def test_they_are_what_the_model_says_of_the_runs_that_are_there() -> None:
    now, _ = known(outlook(table(4), 60))
    more, _ = known(outlook(table(2), 60))
    assert now < more


def test_of_one_run_nothing_is_expected() -> None:
    assert outlook(table(1), 600) is None


def test_the_workload_that_is_known_least_well_has_the_widest_interval() -> None:
    name, width = known(widest(runs_of_a_minute(4)))
    assert name == "a"
    assert 0 < width < 0.2
    assert widest(runs_of_a_minute(1)) is None
