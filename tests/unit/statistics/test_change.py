"""A change is claimed, called noise, or refused for want of trials."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.change import (
    ALPHA,
    Change,
    Verdict,
    adjusted_changes,
    holm,
    trials_for_any_result,
    two_sample_test,
)
from harness.statistics.controls import control_shift
from harness.statistics.rank_test import Interval, least_p

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
SLOW = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]
FAST = [time * 0.9 for time in SLOW]


def change(
    before: list[float],
    after: list[float],
    comparisons: int = 1,
    relative_to: Interval | None = None,
) -> Change:
    """One of a table of so many in which nothing else happened."""
    one = two_sample_test(-0.1, before, after, relative_to)
    quiet = two_sample_test(0.0, SLOW, SLOW, None)
    return adjusted_changes([one, *([quiet] * (comparisons - 1))])[0]


class TestHolm:
    def test_as_worked_out_by_hand(self) -> None:
        assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])

    @given(PROBABILITIES)
    def test_it_never_makes_surer_nor_changes_the_order(self, p_values: list[float]) -> None:
        adjusted = holm(p_values)
        assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
        in_order = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
        assert in_order == sorted(in_order)

    @given(PROBABILITIES)
    def test_the_least_is_multiplied_by_all(self, p_values: list[float]) -> None:
        assert min(holm(p_values)) == pytest.approx(min(1, min(p_values) * len(p_values)))


class TestTrialsNeeded:
    @pytest.mark.parametrize(("comparisons", "needed"), [(1, 4), (8, 6), (16, 6), (24, 7)])
    def test_equal_sides(self, comparisons: int, needed: int) -> None:
        assert trials_for_any_result(1, 1, comparisons) == needed

    def test_a_side_that_has_many_helps_the_other(self) -> None:
        assert trials_for_any_result(100, 1, 8) == 2

    @given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 30))
    def test_it_is_the_least_that_can_be_significant(
        self, before: int, after: int, comparisons: int
    ) -> None:
        needed = trials_for_any_result(before, after, comparisons)

        def possible(n: int) -> bool:
            return least_p(max(before, n), max(after, n)) * comparisons <= ALPHA

        assert possible(needed)
        assert needed == 1 or not possible(needed - 1)


class TestVerdict:
    def test_six_that_do_not_overlap_are_a_change_among_eight(self) -> None:
        assert change(SLOW, FAST, 8).verdict is Verdict.CHANGED

    def test_five_can_never_be(self) -> None:
        of_eight = change(SLOW[:5], FAST[:5], 8)
        assert of_eight.verdict is Verdict.TOO_FEW
        assert of_eight.trials_needed == 6
        assert change(SLOW[:5], FAST[:5], 1).verdict is Verdict.CHANGED

    def test_what_overlaps_is_noise(self) -> None:
        assert change(SLOW, [*FAST[:3], *SLOW[3:]], 8).verdict is Verdict.NOISE

    def test_identical_samples_are_noise(self) -> None:
        same = change(SLOW, SLOW, 8)
        assert same.verdict is Verdict.NOISE
        assert same.adjusted_p == 1

    @given(
        st.lists(st.floats(1, 2), min_size=4, max_size=9),
        st.lists(st.floats(1, 2), min_size=4, max_size=9),
    )
    def test_a_change_that_is_claimed_is_not_0_by_its_interval_either(
        self, before: list[float], after: list[float]
    ) -> None:
        found = change(before, after)
        if found.verdict is Verdict.CHANGED and len({*before, *after}) == len(before) + len(after):
            assert found.interval is not None
            one = two_sample_test(-0.1, before, after, None)
            assert one.interval == found.interval
            assert not found.interval.low < 0 < found.interval.high or found.share == -0.1


class TestBeyondTheControls:
    def test_what_the_controls_did_too_is_no_change(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.89, 0.91)).verdict is Verdict.NOISE

    def test_what_goes_beyond_them_is(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.99, 1.01)).verdict is Verdict.CHANGED

    def test_one_that_lies_between_all_they_may_have_done_is_noise(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.5, 1.5)).adjusted_p == 1

    def test_they_are_told_apart_from_noise_together(self) -> None:
        # Each by itself overlaps; all four moved by a twentieth.
        after = [time * 1.025 for time in SLOW]
        shift = control_shift({str(i): (SLOW, after) for i in range(4)})
        assert shift is not None
        assert control_shift({"one": (SLOW, after)}).moved is False  # type: ignore[union-attr]
        assert shift.moved
        assert shift.ratio == pytest.approx(1.025, abs=0.005)
        assert shift.interval is not None
        assert shift.interval.low < 1.025 < shift.interval.high

    def test_without_controls_there_is_no_shift(self) -> None:
        assert control_shift({}) is None
