"""How many trials a change takes agrees with how often it is found."""

from __future__ import annotations

import math

import numpy as np
import pytest

from harness.statistics.power import detectable_change, power_of, trials_needed
from harness.statistics.rank_test import p_value


class TestPower:
    def test_it_is_how_often_the_test_itself_finds_the_change(self) -> None:
        random = np.random.default_rng(4)
        found = 0
        for _ in range(1000):
            before, after = random.normal(10, 1, 7), random.normal(12.5, 1, 7)
            found += p_value([(before.tolist(), after.tolist())]) <= 0.05 / 8
        assert power_of(2.5, 7, 8) == pytest.approx(found / 1000, abs=0.05)

    def test_no_change_is_hardly_ever_found(self) -> None:
        assert power_of(0, 10, 8) <= 0.05 / 8

    def test_more_trials_and_greater_changes_are_found_more_often(self) -> None:
        assert power_of(1, 10, 8) < power_of(2, 10, 8) < power_of(2, 15, 8)
        assert power_of(2, 10, 16) < power_of(2, 10, 8)

    def test_five_trials_find_nothing_among_eight(self) -> None:
        assert power_of(math.inf, 5, 8) == 0
        assert detectable_change(0.02, 5, 8) is None


class TestPlanning:
    def test_without_noise_the_least_that_can_be_significant_is_enough(self) -> None:
        assert trials_needed(0.001, 0, 8) == 6

    def test_what_is_needed_is_enough_and_one_less_is_not(self) -> None:
        needed = trials_needed(0.05, 0.02, 8, power=0.9)
        assert needed is not None
        distance = math.log1p(0.05) / 0.02
        assert power_of(distance, needed, 8) >= 0.9 > power_of(distance, needed - 1, 8)

    def test_a_change_far_below_the_noise_is_out_of_reach(self) -> None:
        assert trials_needed(0.001, 0.05, 8) is None

    def test_what_so_many_trials_find_takes_so_many_trials(self) -> None:
        smallest = detectable_change(0.02, 8, 8)
        assert smallest is not None
        assert trials_needed(smallest * 1.001, 0.02, 8) == 8
