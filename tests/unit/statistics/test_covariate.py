"""What is taken away within runs, and what is not."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from harness.statistics.covariate import Observed, adjusted, slope, variance_left
from tests.unit.statistics.clocks import CHOSEN, METHODS, Clock, outcome


def runs_with(
    true: float, noise: float = 0.02, runs: int = 4, trials: int = 8
) -> list[list[Observed]]:
    source = np.random.default_rng(3)
    return [
        [
            Observed(float(level + true * x + source.normal(0, noise)), float(x))
            for x in (source.normal(level, 0.1) for _ in range(trials))
        ]
        for level in (source.normal(0, 0.3) for _ in range(runs))
    ]


@pytest.mark.parametrize("true", [0.0, 0.4, 1.0])
def test_a_slope_is_learnt_from_differences_within_runs(true: float) -> None:
    """The levels of runs have a slope of 1 + true."""
    assert slope(runs_with(true), 0.5) == pytest.approx(true, abs=0.1)


def test_one_outlier_hardly_moves_it() -> None:
    runs = runs_with(0.4)
    runs[0][0] = Observed(5.0, runs[0][0].covariate + 0.3)
    assert slope(runs, 0.5) == pytest.approx(0.4, abs=0.15)


@pytest.mark.parametrize("expected", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "runs", [[], [[Observed(0.0, 1.0)]], [[Observed(0.1, 0.0), Observed(0.3, 0.0)]]]
)
def test_where_nothing_shows_a_slope_it_is_the_expected_one(
    runs: Sequence[Sequence[Observed]], expected: float
) -> None:
    assert slope(runs, expected) == pytest.approx(expected)


def test_runs_of_a_single_trial_show_nothing_of_it_nor_of_the_noise() -> None:
    """Their trials do not differ from the mean of their run: taken for quiet, they would hide all noise."""
    runs = runs_with(0.4, noise=0.2, runs=2, trials=4)
    alone = [[Observed(0.0, float(number))] for number in range(50)]
    assert slope([*runs, *alone], 0.9) == slope(runs, 0.9)


def test_it_is_from_0_to_1() -> None:
    assert slope(runs_with(-2.0), 0.5) == 0
    assert slope(runs_with(3.0), 0.5) == 1


@pytest.mark.parametrize("shift", [-0.3, 0.1, 2.0])
def test_what_shifts_all_trials_of_a_run_stays_in_its_time(shift: float) -> None:
    """Such as a change that makes the processors slower: adjusted times do not depend on their mean speed."""
    [run] = runs_with(0.8, runs=1)
    shifted = [Observed(t.log_time, t.covariate + shift, t.is_quiet) for t in run]
    assert adjusted(shifted, 0.8) == pytest.approx(adjusted(run, 0.8))
    assert slope([shifted, run], 0.5) == pytest.approx(slope([run, run], 0.5))


def test_the_middle_is_that_of_the_trials_that_were_not_disturbed() -> None:
    run = [Observed(0.0, 0.0), *[Observed(0.5, 0.5, is_quiet=False)] * 3]
    assert adjusted(run, 1.0) == [0.0] * 4
    assert adjusted([trial for trial in run if not trial.is_quiet], 1.0) == [0.5] * 3
    assert adjusted([], 1.0) == []


def test_most_of_the_variance_is_gone_where_the_clock_moves_and_none_where_it_does_not() -> None:
    moving, still = runs_with(1.0), runs_with(0.0)
    assert variance_left({"a": moving}, {"a": 1.0}) == pytest.approx(0.04, abs=0.03)
    assert (variance_left({"a": still}, {"a": 0.0}) or 0) > 1  # a slope was learnt for nothing
    assert variance_left({"a": [[Observed(0.0, 0.0)]]}, {"a": 1.0}) is None


def test_trials_that_count_again_make_a_mean_more_certain() -> None:
    """Twice as many trials that vary as much leave half of the variance, and no slope is needed."""
    runs = runs_with(0.0, runs=50)
    half = [[trial._replace(is_quiet=n % 2 == 0) for n, trial in enumerate(run)] for run in runs]
    assert variance_left({"a": half}, {"a": 0.0}) == pytest.approx(0.5, abs=0.1)
    none_is_quiet = [[trial._replace(is_quiet=False) for trial in run] for run in runs]
    assert variance_left({"a": none_is_quiet}, {"a": 0.0}) == pytest.approx(1, abs=0.01)


def test_a_change_that_slows_the_clock_is_kept() -> None:
    """Centred in the table, the adjustment would take away what it costs."""
    clock = Clock(clock_sd=0.1, busier=0.1)
    chosen = outcome(clock, METHODS[CHOSEN], tables=20, seed=1)
    in_table = outcome(clock, METHODS["robust and shrunk, in the table"], tables=20, seed=1)
    assert abs(chosen.bias) < 0.03
    assert in_table.bias == pytest.approx(-0.1, abs=0.03)
    assert chosen.left < 0.5


def test_the_logarithm_of_a_time_that_follows_fully_becomes_that_of_the_middle_speed() -> None:
    run = [Observed(math.log(2 * loop), math.log(loop)) for loop in (1.0, 1.1, 1.5)]
    assert adjusted(run, 1.0) == pytest.approx([math.log(2.2)] * 3)
