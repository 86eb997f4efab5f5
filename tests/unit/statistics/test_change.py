"""A comparison claims a change, calls it noise, or says that there are too few trials."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.statistics.change import (
    ALPHA,
    Change,
    Verdict,
    adjusted_changes,
    control_shift,
    holm,
    min_trials,
    two_sample_test,
)
from harness.statistics.median import Interval
from harness.statistics.rank_test import min_p_value
from tests.unit.builders import known

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
SLOW = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]
FAST = [time * 0.9 for time in SLOW]


def change(
    before: list[float],
    after: list[float],
    comparisons: int = 1,
    relative_to: Interval | None = None,
) -> Change:
    """Return the change in a table with this number of comparisons, the others without change."""
    test = two_sample_test(-0.1, before, after, relative_to)
    unchanged = two_sample_test(0.0, SLOW, SLOW, None)
    return adjusted_changes([test, *([unchanged] * (comparisons - 1))])[0]


class TestHolm:
    def test_agrees_with_a_calculation_by_hand(self) -> None:
        assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])

    @given(PROBABILITIES)
    def test_never_lowers_a_p_value_nor_changes_the_order(self, p_values: list[float]) -> None:
        adjusted = holm(p_values)
        assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
        in_order = [a for _, a in sorted(zip(p_values, adjusted, strict=True))]
        assert in_order == sorted(in_order)

    @given(PROBABILITIES)
    def test_multiplies_the_smallest_by_their_number(self, p_values: list[float]) -> None:
        assert min(holm(p_values)) == pytest.approx(min(1, min(p_values) * len(p_values)))


class TestMinTrials:
    @pytest.mark.parametrize(("comparisons", "needed"), [(1, 4), (8, 6), (16, 6), (24, 7)])
    def test_for_equal_sides(self, comparisons: int, needed: int) -> None:
        assert min_trials(1, 1, comparisons) == needed

    def test_a_side_with_many_trials_helps_the_other(self) -> None:
        assert min_trials(100, 1, 8) == 2

    @given(st.integers(1, 12), st.integers(1, 12), st.integers(1, 30))
    def test_is_the_smallest_number_that_can_be_significant(
        self, before: int, after: int, comparisons: int
    ) -> None:
        needed = min_trials(before, after, comparisons)

        def can_be_significant(n: int) -> bool:
            return min_p_value(max(before, n), max(after, n)) * comparisons <= ALPHA

        assert can_be_significant(needed)
        assert needed == 1 or not can_be_significant(needed - 1)


class TestVerdict:
    def test_six_trials_without_overlap_are_a_change_among_eight_comparisons(self) -> None:
        assert change(SLOW, FAST, 8).verdict is Verdict.CHANGED

    def test_five_trials_are_too_few_among_eight_comparisons(self) -> None:
        of_eight = change(SLOW[:5], FAST[:5], 8)
        assert of_eight.verdict is Verdict.TOO_FEW
        assert of_eight.trials_needed == 6
        assert change(SLOW[:5], FAST[:5], 1).verdict is Verdict.CHANGED

    def test_overlapping_samples_are_noise(self) -> None:
        assert change(SLOW, [*FAST[:3], *SLOW[3:]], 8).verdict is Verdict.NOISE

    def test_identical_samples_are_noise(self) -> None:
        same = change(SLOW, SLOW, 8)
        assert same.verdict is Verdict.NOISE
        assert same.adjusted_p == 1

    @given(
        st.lists(st.floats(1, 2), min_size=4, max_size=9),
        st.lists(st.floats(1, 2), min_size=4, max_size=9),
    )
    def test_the_interval_of_a_claimed_change_excludes_0(
        self, before: list[float], after: list[float]
    ) -> None:
        found = change(before, after)
        if found.verdict is Verdict.CHANGED and len({*before, *after}) == len(before) + len(after):
            assert found.interval is not None
            test = two_sample_test(-0.1, before, after, None)
            assert test.interval == found.interval
            # The interval is widened to contain the relative change, here -0.1 for any samples.
            assert not found.interval.low < 0 < found.interval.high or found.relative_change == -0.1


class TestRelativeToControls:
    def test_a_change_that_the_controls_share_is_noise(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.89, 0.91)).verdict is Verdict.NOISE

    def test_a_change_beyond_that_of_the_controls_is_claimed(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.99, 1.01)).verdict is Verdict.CHANGED

    def test_a_change_within_the_interval_of_the_controls_is_noise(self) -> None:
        assert change(SLOW, FAST, relative_to=Interval(0.5, 1.5)).adjusted_p == 1


class TestControlShift:
    def test_is_significant_for_all_controls_together_though_not_for_each(self) -> None:
        after = [time * 1.025 for time in SLOW]
        single = known(control_shift({"pi": (SLOW, after)}))
        assert not single.moved
        shift = known(control_shift({str(i): (SLOW, after) for i in range(4)}))
        assert shift.moved
        assert shift.ratio == pytest.approx(1.025, abs=0.005)
        assert shift.interval is not None
        assert shift.interval.low < 1.025 < shift.interval.high

    def test_is_none_without_controls(self) -> None:
        assert control_shift({}) is None
