"""The number of runs to plan agrees with how often the model itself finds the change."""

import math

import pytest

from harness.statistics.power import MAX_RUNS, POWER, detectable_change, runs_needed
from tests.bench.simulation import CHANGE, Case, simulate
from tests.unit.builders import known

SD = 0.02
"""Of runs."""


@pytest.mark.parametrize("runs", [2, 3, 5])
def test_the_smallest_change_is_found_as_often_as_promised_by_the_test_itself(runs: int) -> None:
    sd = math.log1p(CHANGE) / math.log1p(known(detectable_change(1, runs, 8)))
    case = Case((100 * sd,) * 8, (0.01,) * 8, shared=0.5, trials=1)
    assert simulate(case, runs, runs, 200).found == pytest.approx(POWER, abs=0.07)


@pytest.mark.parametrize("runs", [2, 3, 8, 50, MAX_RUNS])
@pytest.mark.parametrize("comparisons", [1, 9, 40])
def test_needed_runs_and_detectable_change_are_inverse(runs: int, comparisons: int) -> None:
    smallest = known(detectable_change(SD, runs, comparisons))
    assert runs_needed(smallest * 1.001, SD, comparisons) == runs
    more = runs_needed(smallest * 0.98, SD, comparisons)
    assert more is None if runs == MAX_RUNS else known(more) > runs


def test_a_longer_and_a_shorter_time_of_the_same_ratio_take_as_many_runs() -> None:
    assert runs_needed(1.0, 0.3, 9) == runs_needed(-0.5, 0.3, 9)


def test_without_noise_two_runs_are_enough() -> None:
    assert runs_needed(0.001, 0, 8) == 2
    assert detectable_change(0, 2, 8) == 0


def test_no_number_of_runs_finds_a_change_far_below_the_noise() -> None:
    assert runs_needed(0.001, 0.1, 8) is None


@pytest.mark.parametrize("runs", [0, 1])
def test_a_single_run_detects_no_change_of_any_size(runs: int) -> None:
    assert detectable_change(SD, runs, 8) is None
