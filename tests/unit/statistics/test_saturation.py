"""The model of what a faster link saves."""

import math
from dataclasses import replace
from random import Random
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.saturation import (
    EFFECT,
    FADING,
    MISFIT,
    NOTHING,
    Belief,
    Sensitivity,
    Throttled,
    fit,
    learn,
)

PRIOR = Sensitivity(EFFECT, FADING)
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
    def test_without_observations_is_what_was_known_before(self) -> None:
        learned = learn([])
        assert (learned.effect.mean, learned.fading.mean) == (EFFECT.mean, FADING.mean)
        assert learned.effect.sd > EFFECT.sd, "one more workload may differ"

    @given(st.floats(0.4, 1))
    def test_draws_the_effect_towards_what_was_observed(self, effect: float) -> None:
        learned = learn([throttled(name, effect, FADING.mean) for name in "abcd"]).effect
        assert abs(learned.mean - effect) <= abs(EFFECT.mean - effect) + 1e-3
        assert learned.sd < learn([]).effect.sd or abs(EFFECT.mean - effect) > 2 * EFFECT.sd

    @given(st.floats(0, 1.5))
    def test_draws_the_fading_towards_what_was_observed(self, fading: float) -> None:
        learned = learn([throttled(name, EFFECT.mean, fading) for name in "abcd"]).fading
        assert abs(learned.mean - fading) <= abs(FADING.mean - fading) + 1e-9

    def test_of_a_link_that_was_never_full_is_nothing(self) -> None:
        never = Throttled("a", Belief(0, 0.01), Belief(0, 0.01), Belief(0, 0.01), 0.4)
        assert learn([never]) == learn([])


class TestFitting:
    def test_without_slower_links_is_what_others_show(self) -> None:
        fitted = fit(PRIOR, [])
        assert (fitted.sensitivity, fitted.shift) == (PRIOR, NOTHING)

    @given(st.floats(0.4, 1))
    def test_draws_the_effect_towards_what_was_observed(self, effect: float) -> None:
        fitted = fit(PRIOR, [throttled("a", effect, FADING.mean, share=0.9)]).sensitivity.effect
        assert abs(fitted.mean - effect) <= abs(EFFECT.mean - effect) + 1e-9
        assert fitted.sd < EFFECT.sd

    @given(st.floats(-0.2, 0.2).filter(lambda off: abs(off) > 0.01))
    def test_a_mean_that_is_off_by_chance_is_moved_back(self, off: float) -> None:
        exact = throttled("a", EFFECT.mean, FADING.mean)
        noisy = replace(exact, log_ratio=Belief(exact.log_ratio.mean + off, 0.1))
        fitted = fit(PRIOR, [noisy])
        assert fitted.shift.mean * off < 0
        assert abs(fitted.shift.mean) < abs(off)
        assert (fitted.sensitivity.effect.mean - EFFECT.mean) * off < 0, "it saves less, or more"

    def test_an_error_that_makes_the_mean_too_long_makes_the_effect_too_small(self) -> None:
        # The two errors of a prediction add up: it is less sure than if they were independent.
        exact = throttled("a", EFFECT.mean, FADING.mean)
        fitted = fit(PRIOR, [replace(exact, log_ratio=replace(exact.log_ratio, sd=0.1))])
        assert fitted.covariance < 0
        sure, unsure = (
            replace(fitted, covariance=covariance).log_ratio(Belief(0.5, 0), 0.4).sd
            for covariance in (0.0, fitted.covariance)
        )
        assert unsure > sure

    @given(st.lists(st.sampled_from([0.2, 0.4, 0.6]), min_size=1, max_size=3), st.floats(0.01, 0.2))
    def test_slower_links_never_make_the_present_time_less_sure(
        self, slownesses: list[float], sd: float
    ) -> None:
        exact = throttled("a", EFFECT.mean, FADING.mean)
        observed = [
            replace(exact, slowness=each, log_ratio=replace(exact.log_ratio, sd=sd))
            for each in slownesses
        ]
        fitted = fit(PRIOR, observed)
        assert fitted.shift.sd**2 <= fitted.noise + 1e-12
        assert fitted.sensitivity.effect.sd <= PRIOR.effect.sd + 1e-12

    @pytest.mark.parametrize("links", [0, 1, 2])
    def test_errors_are_as_large_as_it_says(self, links: int) -> None:
        """Of many clusters like those that it knows, 80 % of times are in the 80 % interval."""
        random = Random(links)  # noqa: S311  noise, not a secret
        share, slowness, noise, fading = Belief(0.8, 1e-6), 0.4, 0.05, Belief(0.15, 1e-6)
        prior = Sensitivity(PRIOR.effect, fading)
        z = []
        for _ in range(2000):
            effect = Sensitivity(Belief(random.gauss(EFFECT.mean, EFFECT.sd), 0), fading)
            exact = effect.log_ratio(share, slowness).mean
            off = random.gauss(0, noise)  # of the mean over the present link
            misfits = [random.gauss(0, MISFIT * share.mean * (1 - slowness)) for _ in range(links)]
            observed = [
                Throttled(
                    *("a", share, share),
                    Belief(exact + off - random.gauss(0, noise) + misfit, noise * math.sqrt(2)),
                    slowness,
                )
                for misfit in misfits
            ]
            fitted = fit(prior, observed).log_ratio(share, slowness)
            actual = exact + random.gauss(0, MISFIT * share.mean * (1 - slowness))
            actual -= off if links else 0.0
            z.append((actual - fitted.mean) / fitted.sd)
        inside = sum(abs(each) < NormalDist().inv_cdf(0.9) for each in z) / len(z)
        assert inside == pytest.approx(0.8, abs=0.03)
