"""The distribution-free interval of the median, held against scipy."""

from __future__ import annotations

import math
import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from harness.statistics.median import median_interval

values = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80).map(sorted)
levels = st.sampled_from([0.6, 0.8, 0.9, 0.95, 0.99])


@given(values, levels)
def test_it_is_that_of_scipys_quantile_test(ordered: list[float], level: float) -> None:
    expected = quantile_test(ordered).confidence_interval(level)
    if math.isnan(expected.low) or math.isnan(expected.high):
        assert median_interval(ordered, level) is None
    else:
        assert median_interval(ordered, level) == (expected.low, expected.high)


@given(st.integers(1, 2000), levels)
def test_it_holds_the_true_median_as_often_as_it_says_and_no_narrower_one_does(
    n: int, level: float
) -> None:
    interval = median_interval(range(1, n + 1), level)
    rank = int(interval[0]) if interval else 0

    def coverage(k: int) -> float:
        return 1 - 2 * float(binom.cdf(k - 1, n, 0.5))

    assert rank == 0 or coverage(rank) >= level - 1e-9
    assert coverage(rank + 1) < level + 1e-9
    assert interval is None or interval == (rank, n + 1 - rank)


@given(values)
def test_it_contains_the_median_of_the_sample(ordered: list[float]) -> None:
    interval = median_interval(ordered)
    if interval is not None:
        assert interval[0] <= median(ordered) <= interval[1]


@pytest.mark.parametrize(("n", "there"), [(0, False), (1, False), (5, False), (6, True)])
def test_at_95_percent_it_takes_six(n: int, *, there: bool) -> None:
    assert (median_interval(range(n)) is not None) is there


def test_of_ten_thousand_it_is_narrow_and_exact() -> None:
    assert median_interval(range(1, 10_001)) == (4902, 5099)


def test_most_samples_intervals_hold_the_true_median() -> None:
    source = random.Random(5)  # noqa: S311  no secret
    intervals = [
        median_interval(sorted(source.expovariate(1) for _ in range(12))) for _ in range(2000)
    ]
    held = sum(low <= math.log(2) <= high for low, high in filter(None, intervals))
    assert 0.95 < held / len(intervals) < 0.98  # 0.961 is what twelve values come to
