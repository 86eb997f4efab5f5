"""The U test is exact, agrees with SciPy's, and with its own confidence interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import PermutationMethod, mannwhitneyu

from harness.statistics import rank_test
from harness.statistics.rank_test import min_p_value, p_value, ratio_interval
from tests.unit.builders import known

TIMES = st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12)
TIED = st.lists(st.integers(1, 4).map(float), min_size=2, max_size=6)
UNTIED = st.lists(st.floats(0.1, 1e4), min_size=2, max_size=24, unique=True)


class TestPValue:
    @given(UNTIED, st.data())
    def test_equals_scipys_exact_p_value_without_ties(
        self, values: list[float], data: st.DataObject
    ) -> None:
        cut = data.draw(st.integers(1, len(values) - 1))
        before, after = values[:cut], values[cut:]
        assert p_value([(before, after)]) == pytest.approx(
            mannwhitneyu(before, after, method="exact").pvalue
        )

    @settings(max_examples=30)
    @given(TIED, TIED)
    def test_equals_that_of_all_permutations_with_ties(
        self, before: list[float], after: list[float]
    ) -> None:
        assume(len({*before, *after}) > 1)
        permutations = PermutationMethod(n_resamples=10**6)
        assert p_value([(before, after)]) == pytest.approx(
            mannwhitneyu(before, after, method=permutations).pvalue
        )

    @given(st.integers(1, 30), st.integers(1, 30))
    def test_is_1_if_all_values_are_equal(self, before: int, after: int) -> None:
        assert p_value([([7.0] * before, [7.0] * after)]) == pytest.approx(1)

    @given(st.integers(1, 12), st.integers(1, 12))
    def test_is_smallest_for_samples_without_overlap(self, n: int, m: int) -> None:
        without_overlap = p_value([([float(i) for i in range(n)], [100.0 + i for i in range(m)])])
        assert without_overlap == pytest.approx(min_p_value(n, m))

    @given(TIMES, TIMES)
    def test_is_symmetric(self, before: list[float], after: list[float]) -> None:
        assert p_value([(before, after)]) == pytest.approx(p_value([(after, before)]))

    def test_equals_scipys_asymptotic_p_value_for_many_values(self) -> None:
        random = np.random.default_rng(1)
        before, after = random.lognormal(0, 0.02, 400), random.lognormal(0.002, 0.02, 300)
        assert p_value([(before.tolist(), after.tolist())]) == pytest.approx(
            mannwhitneyu(before, after, method="asymptotic").pvalue
        )

    @pytest.mark.parametrize("n", [49, 50, 51])
    def test_is_continuous_where_the_normal_approximation_begins(self, n: int) -> None:
        before, after = [float(i) for i in range(n)], [i + n / 6 + 0.5 for i in range(n)]
        exact = mannwhitneyu(before, after, method="exact").pvalue
        assert p_value([(before, after)]) == pytest.approx(exact, rel=0.1)

    def test_is_smaller_for_two_strata_together(self) -> None:
        stratum = ([1.0, 2.0, 4.0], [3.0, 5.0, 6.0])
        assert p_value([stratum]) == pytest.approx(0.2)
        # Of 20 x 20 pairs of orders, 1, 2 and 5 have U = 18, 17 and 16 out of 18; as many 0, 1 and 2.
        assert p_value([stratum, stratum]) == pytest.approx(2 * (1 + 2 + 5) / 400)


class TestRatioInterval:
    @given(TIMES, TIMES)
    def test_contains_1_exactly_if_the_test_does_not_reject(
        self, before: list[float], after: list[float]
    ) -> None:
        assume(len({*before, *after}) == len(before) + len(after))
        interval = ratio_interval([(before, after)])
        rejected = p_value([(before, after)]) <= 0.05
        if interval is None:
            assert not rejected
        else:
            assert rejected == (not interval.low <= 1 <= interval.high)

    @given(TIMES, TIMES, st.floats(0.01, 100))
    def test_scales_with_the_unit(
        self, before: list[float], after: list[float], factor: float
    ) -> None:
        interval = ratio_interval([(before, after)])
        scaled = ratio_interval([(before, [time * factor for time in after])])
        assert (interval is None) == (scaled is None)
        if interval and scaled:
            assert scaled.low == pytest.approx(interval.low * factor)
            assert scaled.high == pytest.approx(interval.high * factor)

    def test_takes_four_values_on_either_side(self) -> None:
        assert ratio_interval([([1.0, 2, 3], [4.0, 5, 6])]) is None
        assert ratio_interval([([1.0, 2, 3, 4], [4.0, 5, 6, 7])]) is not None

    def test_is_none_relative_to_0(self) -> None:
        assert ratio_interval([([0.0] * 9, [1.0] * 9)]) is None

    def test_bisection_agrees_with_listing_all_pairs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        random = np.random.default_rng(2)
        strata = [
            (random.lognormal(0, 0.1, n).tolist(), random.lognormal(0.3, 0.1, n).tolist())
            for n in (40, 60)
        ]
        listed = ratio_interval(strata)
        monkeypatch.setattr(rank_test, "MAX_LISTED_PAIRS", 0)
        bisected = ratio_interval(strata)
        assert listed is not None
        assert bisected is not None
        assert (bisected.low, bisected.high) == pytest.approx((listed.low, listed.high))

    def test_contains_the_true_ratio_as_often_as_it_promises(self) -> None:
        random = np.random.default_rng(3)
        hits = 0
        for _ in range(2000):
            before, after = random.lognormal(0, 0.05, 8), random.lognormal(math.log(1.1), 0.05, 8)
            interval = known(ratio_interval([(before.tolist(), after.tolist())]))
            hits += interval.low <= 1.1 <= interval.high
        # With 8 values on either side the exact coverage lies between 95.0 % and 97.3 %.
        assert 0.945 <= hits / 2000 <= 0.985
