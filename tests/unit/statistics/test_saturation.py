"""The model of what a faster link saves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.saturation import (
    EFFECT,
    FADING,
    PRIOR,
    Belief,
    Sensitivity,
    Throttled,
    learn,
)

shares = st.floats(0, 1)
slownesses = st.floats(0, 1)
sensitivities = st.builds(
    lambda effect, fading: Sensitivity(Belief(effect, 0.05), Belief(fading, 0.1)),
    st.floats(0.3, 1),
    st.floats(0, 2),
)


def ratio(share: float, slowness: float, sensitivity: Sensitivity = PRIOR) -> float:
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
        assert PRIOR.enough(0.01) is None


def throttled(workload: str, effect: float, fading: float, share: float = 0.6) -> Throttled:
    """Return what a cluster with this sensitivity shows without any noise, of a link 2.5 times as fast."""
    exact = Sensitivity(Belief(effect, 0), Belief(fading, 0))
    change = exact.log_ratio(Belief(share, 0), 0.4).mean
    # As many bits as 0.4 ** fading of the former cross the faster link while it is full.
    faster = share * 0.4 ** (1 + fading) / math.exp(change)
    return Throttled(workload, Belief(share, 0.01), Belief(faster, 0.01), Belief(change, 0.01), 0.4)


class TestLearning:
    def test_without_observations_changes_nothing(self) -> None:
        assert learn([]).common == PRIOR

    @given(st.floats(0.4, 1))
    def test_draws_the_effect_towards_what_was_observed(self, effect: float) -> None:
        learned = learn([throttled(name, effect, FADING.mean) for name in "abcd"])
        for sensitivity in (learned.common, *(learned.of(name) for name in "abcd")):
            assert abs(sensitivity.effect.mean - effect) <= abs(EFFECT.mean - effect) + 1e-3
            assert sensitivity.effect.sd < EFFECT.sd

    @given(st.floats(0, 1.5))
    def test_draws_the_fading_towards_what_was_observed(self, fading: float) -> None:
        learned = learn([throttled(name, EFFECT.mean, fading) for name in "abcd"])
        for sensitivity in (learned.common, *(learned.of(name) for name in "abcd")):
            assert abs(sensitivity.fading.mean - fading) <= abs(FADING.mean - fading) + 1e-9

    def test_a_workload_of_its_own_kind_keeps_to_itself(self) -> None:
        same = [throttled(name, 0.9, 0.2) for name in "abcd"]
        learned = learn([*same, throttled("e", 0.4, 0.2)])
        assert learned.of("e").effect.mean < 0.6
        assert learned.of("a").effect.mean > 0.8

    def test_of_a_link_that_was_never_full_is_nothing(self) -> None:
        never = Throttled("a", Belief(0, 0.01), Belief(0, 0.01), Belief(0, 0.01), 0.4)
        assert learn([never]).common == PRIOR
