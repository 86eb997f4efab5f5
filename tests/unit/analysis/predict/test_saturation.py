"""The model of what a faster link saves."""

import math
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.predict.saturation import EFFECT, log_ratio, sufficient_slowness

shares = st.floats(0, 1)
slownesses = st.floats(0, 1)
effects = st.builds(lambda mean: NormalDist(mean, 0.05), st.floats(0.3, 1))


def ratio(share: float, slowness: float, effect: NormalDist = EFFECT) -> float:
    return math.exp(log_ratio(NormalDist(share, 0), slowness, effect).mean)


class TestTheRatio:
    @given(shares, effects)
    def test_of_the_same_link_is_1(self, share: float, effect: NormalDist) -> None:
        assert ratio(share, 1, effect) == pytest.approx(1)

    @given(slownesses, effects)
    def test_of_a_link_that_is_never_full_is_1(self, slowness: float, effect: NormalDist) -> None:
        assert ratio(0, slowness, effect) == 1

    @given(shares, slownesses, slownesses, effects)
    def test_falls_as_the_link_becomes_faster(
        self, share: float, one: float, other: float, effect: NormalDist
    ) -> None:
        slow, fast = max(one, other), min(one, other)
        assert ratio(share, fast, effect) <= ratio(share, slow, effect) + 1e-12

    def test_by_hand(self) -> None:
        assert ratio(0.5, 0.4, NormalDist(0.8, 0)) == pytest.approx(1 - 0.8 * 0.5 * 0.6)


class TestEnough:
    @given(st.floats(0.2, 1), effects)
    def test_is_within_5_percent_of_the_limit(self, share: float, effect: NormalDist) -> None:
        slowness = sufficient_slowness(share, effect.mean)
        if slowness is not None and slowness < 1:
            limit = ratio(share, 0, effect)
            assert ratio(share, slowness, effect) == pytest.approx(1.05 * limit, rel=1e-6)

    def test_is_the_present_link_if_it_is_hardly_ever_full(self) -> None:
        assert sufficient_slowness(0.01, EFFECT.mean) is None


class TestTheErrors:
    def test_of_the_full_share_counts(self) -> None:
        exact, unsure = (log_ratio(NormalDist(0.5, sd), 0.4) for sd in (0, 0.1))
        assert unsure.mean == exact.mean
        assert unsure.stdev > exact.stdev
