"""The model of what a faster link saves."""

import math
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.saturation import EFFECT, MISFIT, enough, log_ratio

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

    @given(shares, slownesses, effects)
    def test_never_falls_by_more_than_the_time_of_the_full_link(
        self, share: float, slowness: float, effect: NormalDist
    ) -> None:
        assert ratio(share, slowness, effect) >= 1 - share * (1 - slowness) - 1e-9 or (
            ratio(share, slowness, effect) == pytest.approx(0.02)
        )

    def test_by_hand(self) -> None:
        assert ratio(0.5, 0.4, NormalDist(0.8, 0)) == pytest.approx(1 - 0.8 * 0.5 * 0.6)


class TestEnough:
    @given(st.floats(0.2, 1), effects)
    def test_is_within_5_percent_of_the_limit(self, share: float, effect: NormalDist) -> None:
        slowness = enough(share, effect.mean)
        if slowness is not None and slowness < 1:
            limit = ratio(share, 0, effect)
            assert ratio(share, slowness, effect) == pytest.approx(1.05 * limit, rel=1e-6)

    def test_is_the_present_link_if_it_is_hardly_ever_full(self) -> None:
        assert enough(0.01, EFFECT.mean) is None


class TestTheErrors:
    @pytest.mark.parametrize("share", [0.3, 0.8])
    def test_are_as_large_as_it_says(self, share: float) -> None:
        """Of many clusters like those that it knows, 80 % of times are in the 80 % interval."""
        random = Random(1)  # noqa: S311  noise, not a secret
        slowness, z = 0.4, []
        predicted = log_ratio(NormalDist(share, 0), slowness)
        for _ in range(2000):
            effect = NormalDist(random.gauss(EFFECT.mean, EFFECT.stdev), 0)
            exact = log_ratio(NormalDist(share, 0), slowness, effect)
            actual = exact.mean + random.gauss(0, MISFIT * share * (1 - slowness))
            z.append((actual - predicted.mean) / predicted.stdev)
        inside = sum(abs(each) < NormalDist().inv_cdf(0.9) for each in z) / len(z)
        assert inside == pytest.approx(0.8, abs=0.03)

    def test_of_the_full_share_counts(self) -> None:
        exact, unsure = (log_ratio(NormalDist(0.5, sd), 0.4) for sd in (0, 0.1))
        assert unsure.mean == exact.mean
        assert unsure.stdev > exact.stdev
