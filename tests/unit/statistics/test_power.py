"""The number of trials to plan agrees with how often the test finds the change."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.statistics.power import (
    MAX_TRIALS,
    detectable_change,
    statistical_power,
    trials_needed,
)
from harness.statistics.rank_test import p_value
from tests.unit.builders import known


class TestStatisticalPower:
    def test_is_how_often_the_test_itself_finds_the_change(self) -> None:
        random = np.random.default_rng(4)
        found = 0
        for _ in range(1000):
            before, after = random.normal(10, 1, 7), random.normal(12.5, 1, 7)
            found += p_value([(before.tolist(), after.tolist())]) <= 0.05 / 8
        assert statistical_power(2.5, 7, 8) == pytest.approx(found / 1000, abs=0.05)

    def test_without_a_change_is_at_most_alpha(self) -> None:
        assert statistical_power(0, 10, 8) <= 0.05 / 8

    def test_grows_with_trials_and_effect_and_shrinks_with_comparisons(self) -> None:
        assert (
            statistical_power(1, 10, 8) < statistical_power(2, 10, 8) < statistical_power(2, 15, 8)
        )
        assert statistical_power(2, 10, 16) < statistical_power(2, 10, 8)

    def test_is_0_for_five_trials_in_a_table_of_eight(self) -> None:
        assert statistical_power(math.inf, 5, 8) == 0
        assert detectable_change(0.02, 5, 8) is None


class TestPlanning:
    def test_without_noise_the_smallest_number_that_can_be_significant_is_enough(self) -> None:
        assert trials_needed(0.001, 0, 8) == 6

    def test_one_trial_less_than_needed_is_not_enough(self) -> None:
        needed = known(trials_needed(0.05, 0.02, 8, power=0.9))
        effect = math.log1p(0.05) / 0.02
        assert (
            statistical_power(effect, needed, 8) >= 0.9 > statistical_power(effect, needed - 1, 8)
        )

    def test_the_maximum_number_of_trials_is_enough_for_the_change_that_it_detects(self) -> None:
        smallest = known(detectable_change(0.02, MAX_TRIALS, 8))
        needed = known(trials_needed(smallest * 1.001, 0.02, 8))
        assert MAX_TRIALS - 20 < needed <= MAX_TRIALS

    def test_no_number_of_trials_finds_a_change_far_below_the_noise(self) -> None:
        assert trials_needed(0.001, 0.05, 8) is None

    def test_needed_trials_and_detectable_change_are_inverse(self) -> None:
        smallest = known(detectable_change(0.02, 8, 8))
        assert trials_needed(smallest * 1.001, 0.02, 8) == 8
