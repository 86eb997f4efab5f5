"""The noise of a sample: right for log-normal times, and hardly moved by a few odd ones."""

from __future__ import annotations

import math
import random
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.noise import noise

times = st.lists(st.floats(0.1, 1e4), min_size=5, max_size=40)


@pytest.mark.parametrize("n", [5, 6, 10, 30])
def test_it_is_the_standard_deviation_of_log_normal_times(n: int) -> None:
    source = random.Random(n)  # noqa: S311  no secret
    found = [
        noise([10 * math.exp(source.gauss(0, 0.02)) for _ in range(n)]) or 0 for _ in range(3000)
    ]
    assert fmean(found) == pytest.approx(0.02, rel=0.05)


def test_a_few_odd_trials_hardly_move_it() -> None:
    usual = [9.8, 9.9, 9.95, 10.0, 10.05, 10.1, 10.2, 10.3]
    with_odd_ones = noise([*usual, 15, 30])
    assert with_odd_ones is not None
    assert with_odd_ones < 3 * (noise(usual) or 0)
    assert stdev(map(math.log, [*usual, 15, 30])) > 10 * (noise(usual) or 0)


@given(times, st.sampled_from([1 / 1024, 0.5, 2, 4096]))
def test_it_is_a_share_whatever_the_unit(times_s: list[float], factor: float) -> None:
    assert noise([factor * time_s for time_s in times_s]) == noise(times_s)


def test_where_most_are_equal_the_others_still_count() -> None:
    times_s = [10.0, 10.0, 10.0, 10.0, 11.0]
    assert noise(times_s) == pytest.approx(stdev(map(math.log, times_s)))


def test_there_is_none_where_all_are_equal() -> None:
    assert noise([10.0] * 6) == 0


@pytest.mark.parametrize("times_s", [[], [1.0], [1.0, 1.1, 1.2, 1.3], [0.0, 1.0, 1.0, 1.0, 1.1]])
def test_of_too_few_and_of_a_time_of_0_it_is_unknown(times_s: list[float]) -> None:
    assert noise(times_s) is None
