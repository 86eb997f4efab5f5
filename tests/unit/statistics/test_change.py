"""A comparison claims a change, calls it noise, or says that there are too few runs."""

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.limits import MIN_RUNS
from harness.statistics.change import (
    ALPHA,
    Change,
    ControlShift,
    Difference,
    Verdict,
    adjusted_changes,
    holm,
    shift_of_controls,
)
from harness.statistics.run_model import NORMAL_DF, Estimate, RunModel, run_median
from tests.unit.builders import known

PROBABILITIES = st.lists(st.floats(0, 1), min_size=1, max_size=20)
UNCHANGED = Difference(Estimate(0.0, 0.0001, 4), 3)


def difference(ratio: float, sd: float = 0.01, runs: int = 3) -> Difference:
    return Difference(
        Estimate(math.log(ratio), sd**2, 2 * (runs - 1) if runs > 1 else NORMAL_DF), runs
    )


def change(ratio: float, sd: float = 0.01, runs: int = 3, comparisons: int = 1) -> Change:
    """Return the change in a table with this number of comparisons, the others without change."""
    others = [UNCHANGED] * (comparisons - 1)
    return adjusted_changes([difference(ratio, sd, runs), *others])[0]


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


class TestVerdict:
    def test_a_difference_far_beyond_that_of_runs_is_a_change_among_eight_comparisons(self) -> None:
        found = change(0.9, comparisons=8)
        assert found.verdict is Verdict.CHANGED
        assert found.relative_change == pytest.approx(-0.1)

    def test_more_comparisons_need_stronger_evidence(self) -> None:
        assert change(0.965).verdict is Verdict.CHANGED
        assert change(0.965, comparisons=8).verdict is Verdict.NOISE

    def test_a_difference_like_that_of_runs_is_noise(self) -> None:
        assert change(0.99).verdict is Verdict.NOISE

    def test_an_exact_tie_is_noise(self) -> None:
        same = change(1, sd=1e-9)
        assert (same.verdict, same.adjusted_p) == (Verdict.NOISE, 1)

    @pytest.mark.parametrize("runs", range(MIN_RUNS))
    def test_one_run_on_a_side_shows_its_change_and_claims_nothing(self, runs: int) -> None:
        found = change(0.5, sd=0.001, runs=runs)
        assert found.verdict is Verdict.TOO_FEW
        assert found.relative_change == pytest.approx(-0.5)
        assert (found.interval, found.p, found.adjusted_p) == (None, None, None)

    def test_what_is_not_tested_does_not_weaken_the_other_comparisons(self) -> None:
        alone = change(0.965)
        found, untested = adjusted_changes([difference(0.965), difference(0.5, runs=1)])
        assert found == alone
        assert untested.verdict is Verdict.TOO_FEW

    @given(st.floats(0.01, 100), st.floats(1e-6, 1), st.integers(2, 20))
    def test_the_interval_of_a_single_comparison_excludes_0_exactly_if_it_is_claimed(
        self, ratio: float, sd: float, runs: int
    ) -> None:
        found = change(ratio, sd, runs)
        interval = known(found.interval)
        assert interval.low <= found.relative_change <= interval.high
        if abs(known(found.p) - ALPHA) > 1e-9:
            is_claimed = found.verdict is Verdict.CHANGED
            assert is_claimed == (not interval.low <= 0 <= interval.high)


class TestUncertainty:
    def test_of_a_change_is_the_distance_from_it_to_the_farther_end(self) -> None:
        found = change(0.5)
        assert found.uncertainty == pytest.approx(known(found.interval).high + 0.5)

    def test_of_a_single_run_is_unknown(self) -> None:
        assert change(0.5, runs=1).uncertainty is None


def control_shift(controls: Sequence[str], ratio: float, runs: int = 3) -> ControlShift:
    """Return the shift of controls by this ratio, where runs differ by 1 %."""
    sides = [
        [{name: run_median([time_s * 1.01**run]) for name in controls} for run in range(runs)]
        for time_s in (10.0, 10.0 * ratio)
    ]
    return known(shift_of_controls(RunModel(sides), 1, controls))


class TestControlShift:
    def test_that_is_significant_has_moved(self) -> None:
        shift = control_shift(["pi", "sha"], 1.1)
        assert shift.moved
        assert shift.workloads == ("pi", "sha")
        assert shift.change.relative_change == pytest.approx(0.1)
        interval = known(shift.change.interval)
        assert 0 < interval.low < 0.1 < interval.high

    def test_that_chance_explains_has_not(self) -> None:
        shift = control_shift(["pi"], 1.01)
        assert not shift.moved
        assert known(shift.change.p) > ALPHA

    def test_of_one_run_on_a_side_raises_no_alarm(self) -> None:
        shift = control_shift(["pi"], 2, runs=1)
        assert (shift.moved, shift.change.verdict) == (False, Verdict.TOO_FEW)
        assert shift.change.relative_change == pytest.approx(1)
