"""The model of what a faster link saves."""

import math
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.saturation import MISFIT, USUAL, Belief, Sensitivity

shares = st.floats(0, 1)
slownesses = st.floats(0, 1)
sensitivities = st.builds(
    lambda effect, fading: Sensitivity(Belief(effect, 0.05), Belief(fading, 0.1)),
    st.floats(0.3, 1),
    st.floats(0, 2),
)


def ratio(share: float, slowness: float, sensitivity: Sensitivity = USUAL) -> float:
    return math.exp(sensitivity.log_ratio(Belief(share, 0), slowness).mean)


class TestTheRatio:
    @given(shares, sensitivities)
    def test_of_the_same_link_is_1(self, share: float, sensitivity: Sensitivity) -> None:
        assert ratio(share, 1, sensitivity) == pytest.approx(1)

    @given(slownesses, sensitivities)
    def test_of_a_link_that_is_never_full_is_1(
        self, slowness: float, sensitivity: Sensitivity
    ) -> None:
        assert ratio(0, slowness, sensitivity) == 1

    @given(shares, slownesses, slownesses, sensitivities)
    def test_falls_as_the_link_becomes_faster(
        self, share: float, one: float, other: float, sensitivity: Sensitivity
    ) -> None:
        slow, fast = max(one, other), min(one, other)
        assert ratio(share, fast, sensitivity) <= ratio(share, slow, sensitivity) + 1e-12

    @given(shares, slownesses, sensitivities)
    def test_never_falls_by_more_than_the_time_of_the_full_link(
        self, share: float, slowness: float, sensitivity: Sensitivity
    ) -> None:
        assert ratio(share, slowness, sensitivity) >= 1 - share * (1 - slowness) - 1e-9 or (
            ratio(share, slowness, sensitivity) == pytest.approx(0.02)
        )

    @given(shares, slownesses, slownesses, st.floats(0, 1), sensitivities)
    def test_is_convex_in_the_seconds_for_a_bit(
        self, share: float, one: float, other: float, part: float, sensitivity: Sensitivity
    ) -> None:
        between = ratio(share, part * one + (1 - part) * other, sensitivity)
        chord = part * ratio(share, one, sensitivity) + (1 - part) * ratio(
            share, other, sensitivity
        )
        assert between <= chord + 1e-9


class TestEnough:
    @given(st.floats(0.2, 1), sensitivities)
    def test_is_within_5_percent_of_the_limit(self, share: float, sensitivity: Sensitivity) -> None:
        slowness = sensitivity.enough(share)
        if slowness is not None and slowness < 1:
            limit = ratio(share, 0, sensitivity)
            assert ratio(share, slowness, sensitivity) == pytest.approx(1.05 * limit, rel=1e-6)

    def test_is_the_present_link_if_it_is_hardly_ever_full(self) -> None:
        assert USUAL.enough(0.01) is None


class TestTheErrors:
    @pytest.mark.parametrize("share", [0.3, 0.8])
    def test_are_as_large_as_it_says(self, share: float) -> None:
        """Of many clusters like those that it knows, 80 % of times are in the 80 % interval."""
        random = Random(1)  # noqa: S311  noise, not a secret
        slowness, z = 0.4, []
        predicted = USUAL.log_ratio(Belief(share, 0), slowness)
        for _ in range(2000):
            exact = Sensitivity(
                Belief(random.gauss(USUAL.effect.mean, USUAL.effect.sd), 0),
                Belief(random.gauss(USUAL.fading.mean, USUAL.fading.sd), 0),
            ).log_ratio(Belief(share, 0), slowness)
            actual = exact.mean + random.gauss(0, MISFIT * share * (1 - slowness))
            z.append((actual - predicted.mean) / predicted.sd)
        inside = sum(abs(each) < NormalDist().inv_cdf(0.9) for each in z) / len(z)
        assert inside == pytest.approx(0.8, abs=0.03)

    def test_of_the_full_share_counts(self) -> None:
        exact, unsure = (USUAL.log_ratio(Belief(0.5, sd), 0.4) for sd in (0, 0.1))
        assert unsure.mean == exact.mean
        assert unsure.sd > exact.sd
