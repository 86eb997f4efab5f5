"""The rank test is exact, and agrees with its interval and with SciPy's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import PermutationMethod, mannwhitneyu

from harness.statistics import rank_test
from harness.statistics.rank_test import least_p, p_value, ratio_interval

TIMES = st.lists(st.floats(0.1, 1e4), min_size=1, max_size=12)
TIED = st.lists(st.integers(1, 4).map(float), min_size=2, max_size=6)
UNTIED = st.lists(st.floats(0.1, 1e4), min_size=2, max_size=24, unique=True)


class TestPValue:
    @given(UNTIED, st.data())
    def test_without_ties_it_is_scipys_exact_one(
        self, values: list[float], data: st.DataObject
    ) -> None:
        cut = data.draw(st.integers(1, len(values) - 1))
        before, after = values[:cut], values[cut:]
        assert p_value([(before, after)]) == pytest.approx(
            mannwhitneyu(before, after, method="exact").pvalue
        )

    @settings(max_examples=30)
    @given(TIED, TIED)
    def test_with_ties_it_is_that_of_all_permutations(
        self, before: list[float], after: list[float]
    ) -> None:
        assume(len({*before, *after}) > 1)
        every = PermutationMethod(n_resamples=10**6)
        assert p_value([(before, after)]) == pytest.approx(
            mannwhitneyu(before, after, method=every).pvalue
        )

    @given(st.integers(1, 30), st.integers(1, 30))
    def test_nothing_but_equal_values_is_no_difference(self, before: int, after: int) -> None:
        assert p_value([([7.0] * before, [7.0] * after)]) == pytest.approx(1)

    @given(st.integers(1, 12), st.integers(1, 12))
    def test_the_least_is_that_of_samples_which_do_not_overlap(self, n: int, m: int) -> None:
        apart = p_value([([float(i) for i in range(n)], [100.0 + i for i in range(m)])])
        assert apart == pytest.approx(least_p(n, m))

    @given(TIMES, TIMES)
    def test_it_does_not_matter_which_is_first(
        self, before: list[float], after: list[float]
    ) -> None:
        assert p_value([(before, after)]) == pytest.approx(p_value([(after, before)]))

    def test_many_values_are_as_scipy_says(self) -> None:
        random = np.random.default_rng(1)
        before, after = random.lognormal(0, 0.02, 400), random.lognormal(0.002, 0.02, 300)
        assert p_value([(before.tolist(), after.tolist())]) == pytest.approx(
            mannwhitneyu(before, after, method="asymptotic").pvalue
        )

    @pytest.mark.parametrize("n", [49, 50, 51])
    def test_where_exact_ends_and_normal_begins_there_is_no_step(self, n: int) -> None:
        before, after = [float(i) for i in range(n)], [i + n / 6 + 0.5 for i in range(n)]
        exact = mannwhitneyu(before, after, method="exact").pvalue
        assert p_value([(before, after)]) == pytest.approx(exact, rel=0.1)

    def test_strata_are_stronger_together(self) -> None:
        one = ([1.0, 2.0, 4.0], [3.0, 5.0, 6.0])
        assert p_value([one]) == pytest.approx(0.2)
        # Of 20 x 20 pairs of orders 1, 2 and 5 have 18, 17 and 16 wins of 18; and as many the losses.
        assert p_value([one, one]) == pytest.approx(2 * (1 + 2 + 5) / 400)


class TestRatioInterval:
    @given(TIMES, TIMES)
    def test_it_holds_1_exactly_if_the_test_rejects_nothing(
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
    def test_it_goes_with_the_unit(
        self, before: list[float], after: list[float], factor: float
    ) -> None:
        interval = ratio_interval([(before, after)])
        scaled = ratio_interval([(before, [time * factor for time in after])])
        assert (interval is None) == (scaled is None)
        if interval and scaled:
            assert scaled.low == pytest.approx(interval.low * factor)
            assert scaled.high == pytest.approx(interval.high * factor)

    def test_three_a_side_give_none_and_four_do(self) -> None:
        assert ratio_interval([([1.0, 2, 3], [4.0, 5, 6])]) is None
        assert ratio_interval([([1.0, 2, 3, 4], [4.0, 5, 6, 7])]) is not None

    def test_no_ratio_to_nothing(self) -> None:
        assert ratio_interval([([0.0] * 9, [1.0] * 9)]) is None

    def test_many_pairs_are_counted_instead_of_laid_out(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        random = np.random.default_rng(2)
        strata = [
            (random.lognormal(0, 0.1, n).tolist(), random.lognormal(0.3, 0.1, n).tolist())
            for n in (40, 60)
        ]
        laid_out = ratio_interval(strata)
        monkeypatch.setattr(rank_test, "MOST_PAIRS", 0)
        counted = ratio_interval(strata)
        assert laid_out is not None
        assert counted is not None
        assert (counted.low, counted.high) == pytest.approx((laid_out.low, laid_out.high))

    def test_it_holds_the_truth_as_often_as_it_says(self) -> None:
        random = np.random.default_rng(3)
        held = 0
        for _ in range(2000):
            before, after = random.lognormal(0, 0.05, 8), random.lognormal(math.log(1.1), 0.05, 8)
            interval = ratio_interval([(before.tolist(), after.tolist())])
            assert interval is not None
            held += interval.low <= 1.1 <= interval.high
        # The next narrower interval of 8 a side is below 95 %: this one is 95.0 % to 97.3 %.
        assert 0.945 <= held / 2000 <= 0.985
