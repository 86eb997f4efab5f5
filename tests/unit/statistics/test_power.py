"""The number of runs to plan agrees with how often the model itself finds the change."""

import pytest

from harness.statistics.power import (
    MAX_RUNS,
    detectable_change,
    runs_needed,
    statistical_power,
)
from tests.bench.simulation import CHANGE, Case, simulate
from tests.unit.builders import known

SD = 0.02
"""Of runs."""


class TestStatisticalPower:
    @pytest.mark.parametrize(("runs", "sd"), [(2, 2.5), (3, 2.5), (5, 4.0)])
    def test_is_how_often_the_test_itself_finds_the_change(self, runs: int, sd: float) -> None:
        case = Case((sd,) * 8, (0.01,) * 8, shared=0.5, trials=1)
        found = simulate(case, runs, runs, 150).found
        assert statistical_power(CHANGE, sd / 100, runs, 8) == pytest.approx(found, abs=0.08)

    def test_without_a_change_is_at_most_the_strictest_of_holms_thresholds(self) -> None:
        assert 0 < statistical_power(0, SD, 5, 8) <= 0.05 / 8 / 2

    def test_grows_with_runs_and_change_and_shrinks_with_comparisons(self) -> None:
        power = statistical_power(0.04, SD, 4, 9)
        assert power < statistical_power(0.05, SD, 4, 9) < statistical_power(0.05, SD, 5, 9)
        assert statistical_power(0.04, SD, 4, 18) < power

    def test_a_longer_and_a_shorter_time_of_the_same_ratio_are_found_as_often(self) -> None:
        assert statistical_power(1.0, 0.3, 4, 9) == pytest.approx(
            statistical_power(-0.5, 0.3, 4, 9)
        )

    def test_without_noise_any_change_is_found_and_none_that_is_not_there(self) -> None:
        assert [statistical_power(change, 0, 2, 9) for change in (0.001, 0)] == [1, 0]


class TestPlanning:
    def test_without_noise_two_runs_are_enough(self) -> None:
        assert runs_needed(0.001, 0, 8) == 2

    def test_one_run_less_than_needed_is_not_enough(self) -> None:
        needed = known(runs_needed(0.05, SD, 8))
        assert needed > 2
        assert (
            statistical_power(0.05, SD, needed, 8)
            >= 0.9
            > statistical_power(0.05, SD, needed - 1, 8)
        )

    @pytest.mark.parametrize("runs", [2, 3, 8, 50, MAX_RUNS])
    @pytest.mark.parametrize("comparisons", [1, 9, 40])
    def test_needed_runs_and_detectable_change_are_inverse(
        self, runs: int, comparisons: int
    ) -> None:
        smallest = known(detectable_change(SD, runs, comparisons))
        assert runs_needed(smallest * 1.001, SD, comparisons) == runs
        more = runs_needed(smallest * 0.98, SD, comparisons)
        assert more is None if runs == MAX_RUNS else known(more) > runs

    def test_no_number_of_runs_finds_a_change_far_below_the_noise(self) -> None:
        assert runs_needed(0.001, 0.1, 8) is None

    @pytest.mark.parametrize("runs", [0, 1])
    def test_a_single_run_detects_no_change_of_any_size(self, runs: int) -> None:
        assert detectable_change(SD, runs, 8) is None
