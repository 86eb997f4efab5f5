"""The interval of the median agrees with SciPy's and contains the true median as often as it promises."""

import math
import random
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, quantile_test

from harness.statistics.median import Interval, median_interval

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=80).map(sorted)
LEVELS = st.sampled_from([0.6, 0.8, 0.9, 0.95, 0.99])


@pytest.mark.parametrize(
    ("low", "high", "value", "relative"),
    [
        (9.0, 10.5, 10.0, 0.1),
        (9.5, 12.0, 10.0, 0.2),
        (0.0, 0.0, 0.0, None),
        (1.0, 2.0, 5e-324, None),
    ],
)
def test_a_distance_is_relative_to_a_value_where_that_is_a_number(
    low: float, high: float, value: float, relative: float | None
) -> None:
    assert Interval(low, high).relative_distance(value) == relative


class TestMedianInterval:
    @given(VALUES, LEVELS)
    def test_equals_that_of_scipys_quantile_test(self, ordered: list[float], level: float) -> None:
        expected = quantile_test(ordered).confidence_interval(level)
        if math.isnan(expected.low) or math.isnan(expected.high):
            assert median_interval(ordered, level) is None
        else:
            assert median_interval(ordered, level) == (expected.low, expected.high)

    @given(st.integers(1, 2000), LEVELS)
    def test_is_the_narrowest_that_reaches_the_level(self, n: int, level: float) -> None:
        interval = median_interval(range(1, n + 1), level)
        rank = int(interval[0]) if interval else 0

        def coverage(k: int) -> float:
            return 1 - 2 * float(binom.cdf(k - 1, n, 0.5))

        assert rank == 0 or coverage(rank) >= level - 1e-9
        assert coverage(rank + 1) < level + 1e-9
        assert interval is None or interval == (rank, n + 1 - rank)

    @given(VALUES)
    def test_contains_the_median_of_the_sample(self, ordered: list[float]) -> None:
        interval = median_interval(ordered)
        if interval is not None:
            assert interval[0] <= median(ordered) <= interval[1]

    @pytest.mark.parametrize(("n", "exists"), [(0, False), (1, False), (5, False), (6, True)])
    def test_takes_six_values_at_95_percent(self, n: int, *, exists: bool) -> None:
        assert (median_interval(range(n)) is not None) is exists

    def test_is_exact_for_ten_thousand_values(self) -> None:
        assert median_interval(range(1, 10_001)) == (4902, 5099)

    def test_contains_the_true_median_as_often_as_it_promises(self) -> None:
        source = random.Random(5)  # noqa: S311  no secret
        intervals = [
            median_interval(sorted(source.expovariate(1) for _ in range(12))) for _ in range(2000)
        ]
        hits = sum(low <= math.log(2) <= high for low, high in filter(None, intervals))
        assert 0.95 < hits / len(intervals) < 0.98  # in theory 0.961 for twelve values
