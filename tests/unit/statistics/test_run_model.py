"""The table of runs agrees with calculations by hand, and depends on nothing that it should not."""

import math
from collections.abc import Mapping, Sequence
from random import Random
from statistics import median
from typing import TypeVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import t, ttest_1samp, ttest_ind

from harness.model.run import MAX_WALL_S, MIN_WALL_S
from harness.statistics.run_model import (
    BATCHES,
    CLOCK_S,
    NORMAL_DF,
    PRIOR_RUN_SD,
    Estimate,
    RunMedian,
    RunModel,
    run_median,
)

T = TypeVar("T")
Side = Sequence[Mapping[str, Sequence[float]]]
"""The seconds of trials by workload, for each run."""

NAMES = ("a", "b", "c", "d")
CONTROLS = ("c", "d")
TIME_S = st.floats(0.5, 20)
TIMES_S = st.lists(TIME_S, min_size=1, max_size=4)
RUN_S = st.fixed_dictionaries({"a": TIMES_S}, optional=dict.fromkeys(NAMES[1:], TIMES_S))
SIDE = st.lists(RUN_S, min_size=1, max_size=4)
FACTORS = st.sampled_from([0.001, 0.5, 0.9, 1.1, 3.0, 1000.0])


def model_of(*sides: Side, clock_s: float = CLOCK_S) -> RunModel:
    return RunModel(
        [
            [{name: run_median(times, clock_s) for name, times in run.items()} for run in runs]
            for runs in sides
        ]
    )


def scaled(side: Side, factor: float) -> Side:
    return [{name: [time * factor for time in times] for name, times in r.items()} for r in side]


def assert_same(found: Estimate, expected: Estimate, rel: float = 1e-6) -> None:
    assert found.log == pytest.approx(expected.log, rel=rel, abs=1e-9)
    assert found.variance == pytest.approx(expected.variance, rel=rel, abs=1e-15)
    assert found.df == pytest.approx(expected.df, rel=rel)


def simulated(runs: int, seed: int, *, shared_sd: float = 0.02, trials: int = 5) -> Side:
    """Return runs that move all workloads together, and trials that differ by 1 %."""
    random = np.random.default_rng(seed)
    return [
        {
            name: (10 * np.exp(shift + 0.01 * random.standard_normal(trials))).tolist()
            for name in NAMES
        }
        for shift in shared_sd * random.standard_normal(runs)
    ]


class TestEstimate:
    def test_its_interval_and_p_value_are_those_of_students_t(self) -> None:
        estimate = Estimate(0.05, 0.0004, 4)
        low, high = t.interval(0.95, 4, 0.05, 0.02)
        assert estimate.interval == pytest.approx((math.exp(low), math.exp(high)))
        assert estimate.p() == pytest.approx(2 * t.sf(0.05 / 0.02, 4))

    @given(st.floats(-5, 5), st.floats(1e-6, 1), st.floats(1, 1000))
    def test_the_interval_excludes_1_exactly_if_p_is_at_most_5_percent(
        self, log: float, variance_: float, df: float
    ) -> None:
        estimate = Estimate(log, variance_, df)
        assume(abs(estimate.p() - 0.05) > 1e-6)
        assert (estimate.p() < 0.05) == (not estimate.interval.low <= 1 <= estimate.interval.high)

    def test_a_difference_of_independent_ones_has_the_degrees_of_freedom_of_welch(self) -> None:
        before, after = [1.0, 1.3], [2.0, 2.1, 2.5, 2.2]
        sides = [[{"a": [math.exp(log)]} for log in logs] for logs in (before, after)]
        table, expected = model_of(*sides), ttest_ind(after, before, equal_var=False)
        found = table.time(1, "a") - table.time(0, "a")
        assert (found.p(), found.df) == pytest.approx((expected.pvalue, expected.df))


class TestAWorkloadAlone:
    @given(st.lists(st.tuples(TIME_S, TIME_S), min_size=2, max_size=BATCHES))
    def test_has_students_t_test_of_the_medians_of_runs(
        self, pairs: list[tuple[float, float]]
    ) -> None:
        before_s, after_s = zip(*pairs, strict=True)
        before, after = np.log(before_s), np.log(after_s)
        assume(np.var(before) + np.var(after) > 1e-6)
        found = model_of(
            *([{"a": [0.1, time_s, 99]} for time_s in side] for side in (before_s, after_s))
        ).ratio(0, 1, "a")
        expected = ttest_ind(after, before)
        assert found.p() == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-12)
        assert found.df == expected.df
        low, high = expected.confidence_interval(0.95)
        assert np.log(found.interval) == pytest.approx([low, high], rel=1e-6, abs=1e-9)

    def test_of_two_sides_that_vary_unlike_is_as_uncertain_as_each_by_itself(self) -> None:
        slow_run, steady = [{"a": [10.0]}, {"a": [12.0]}], [{"a": [10 + n / 1e4]} for n in range(6)]
        found, alone = model_of(slow_run, steady), model_of(slow_run).time(0, "a")
        assert found.ratio(0, 1, "a").variance == pytest.approx(alone.variance, rel=1e-3)

    def test_has_the_interval_of_its_own_runs_as_its_time(self) -> None:
        times_s = [9.8, 10.0, 10.3]
        found = model_of([{"a": [time_s]} for time_s in times_s]).time(0, "a")
        expected = ttest_1samp(np.log(times_s), 0).confidence_interval(0.95)
        assert np.log(found.interval) == pytest.approx([expected.low, expected.high])


class TestManyRuns:
    """Of more than BATCHES runs, batches of neighbours are compared, and not single runs."""

    SLOW_HOUR = [10.0] * 9 + [11.0] * 9
    IN_TURNS = [10.0, 11.0] * 9

    def test_that_have_good_and_bad_hours_are_less_certain_than_others_that_vary_as_much(
        self,
    ) -> None:
        hours, turns = (
            model_of([{"a": [time_s]} for time_s in times_s]).time(0, "a")
            for times_s in (self.SLOW_HOUR, self.IN_TURNS)
        )
        assert hours.log == pytest.approx(turns.log)
        assert hours.margin() > 2 * turns.margin()

    def test_have_the_variance_of_their_batches(self) -> None:
        of_batches = [10.0, 10.2, 9.9, 10.4, 10.1, 9.7]
        pairs = [{"a": [time_s]} for time_s in of_batches for _ in range(2)]
        found, expected = model_of(pairs), model_of([{"a": [time_s]} for time_s in of_batches])
        assert_same(found.time(0, "a"), expected.time(0, "a"))

    @given(st.permutations(range(BATCHES)))
    def test_of_the_number_of_batches_may_be_in_any_order(self, order: list[int]) -> None:
        sides = [[{"a": [10 + number / 7]} for number in each] for each in (order, sorted(order))]
        first, second = (model_of(side).time(0, "a") for side in sides)
        assert_same(first, second)


class TestInvariance:
    @given(SIDE, SIDE, FACTORS)
    def test_a_factor_of_a_side_scales_the_ratio_and_nothing_else(
        self, before: Side, after: Side, factor: float
    ) -> None:
        found = model_of(before, scaled(after, factor), clock_s=0).ratio(0, 1, "a")
        expected = model_of(before, after, clock_s=0).ratio(0, 1, "a")
        assert found.log == pytest.approx(expected.log + math.log(factor), abs=1e-9)
        assert found.variance == pytest.approx(expected.variance, rel=1e-6, abs=1e-14)
        if (
            expected.variance > 1e-14
        ):  # Rounding is no variance between runs, and has no degrees of freedom.
            assert found.df == pytest.approx(expected.df, rel=1e-6)

    @given(SIDE, SIDE, FACTORS)
    def test_a_factor_of_everything_leaves_p(
        self, before: Side, after: Side, factor: float
    ) -> None:
        plain = model_of(before, after, clock_s=0).ratio(0, 1, "a")
        assume(plain.variance > 1e-9)
        other_unit = model_of(scaled(before, factor), scaled(after, factor), clock_s=0).ratio(
            0, 1, "a"
        )
        assert other_unit.p() == pytest.approx(plain.p(), rel=1e-5, abs=1e-9)

    @given(SIDE, SIDE, st.randoms(use_true_random=False))
    def test_the_order_of_runs_workloads_and_trials_changes_nothing(
        self, before: Side, after: Side, random: Random
    ) -> None:
        def shuffled(items: Sequence[T]) -> list[T]:
            return random.sample(items, len(items))

        def reordered(side: Side) -> Side:
            return [
                {name: shuffled(run[name]) for name in shuffled(list(run))}
                for run in shuffled(side)
            ]

        found = model_of(reordered(before), reordered(after)).ratio(0, 1, "a")
        assert_same(found, model_of(before, after).ratio(0, 1, "a"), rel=1e-5)

    @given(SIDE, SIDE)
    def test_the_opposite_comparison_has_the_reciprocal_ratio_and_the_same_p(
        self, before: Side, after: Side
    ) -> None:
        model = model_of(before, after)
        there, back = model.ratio(0, 1, "a"), model.ratio(1, 0, "a")
        assert there.value * back.value == pytest.approx(1)
        assert there.p() == back.p()

    @given(SIDE, SIDE)
    def test_a_run_without_times_changes_nothing(self, before: Side, after: Side) -> None:
        found = model_of([*before, {}], [{}, *after, {}])
        expected = model_of(before, after)
        assert_same(found.ratio(0, 1, "a"), expected.ratio(0, 1, "a"))


class TestWhatIsThere:
    def test_a_workload_that_some_runs_lack_is_compared_in_the_others(self) -> None:
        first, *others = simulated(3, 1)
        model = model_of([{name: first[name] for name in NAMES[1:]}, *others], simulated(3, 2))
        assert (model.run_count(0, "a"), model.run_count(1, "a")) == (2, 3)
        logs = [np.mean(np.median(np.log([run["a"] for run in s]), axis=1)) for s in (others,)]
        assert model.time(0, "a").log == pytest.approx(logs[0])

    def test_single_runs_have_the_usual_variance(self) -> None:
        model = model_of(simulated(1, 1), simulated(1, 2))
        found = model.ratio(0, 1, "a")
        assert (found.variance, found.df) == pytest.approx((2 * PRIOR_RUN_SD**2, NORMAL_DF))
        assert found.margin() == pytest.approx(1.96 * PRIOR_RUN_SD * math.sqrt(2), rel=1e-4)
        shift = model.ratio(0, 1, *CONTROLS)
        assert (shift.variance, shift.df) == pytest.approx((2 * PRIOR_RUN_SD**2, NORMAL_DF))

    def test_other_configurations_tell_how_much_runs_differ(self) -> None:
        model = model_of(simulated(1, 1), simulated(1, 2), simulated(8, 3))
        assert model.run_sd("a") == pytest.approx(0.02, rel=0.5)

    def test_identical_times_are_no_change_and_another_time_is_one(self) -> None:
        side = [{name: [10.0] for name in NAMES}] * 3
        assert model_of(side, side).ratio(0, 1, "a").p() == pytest.approx(1)
        assert model_of(side, side).run_sd("a") == pytest.approx(CLOCK_S / 10.0)
        assert model_of(side, scaled(side, 2)).ratio(0, 1, "a").p() < 1e-6

    @given(
        st.lists(
            st.lists(
                st.dictionaries(
                    st.sampled_from(NAMES),
                    st.lists(
                        st.sampled_from([MIN_WALL_S, 1.0, MAX_WALL_S])
                        | st.floats(MIN_WALL_S, MAX_WALL_S),
                        min_size=1,
                        max_size=3,
                    ),
                ),
                min_size=1,
                max_size=3,
            ),
            min_size=2,
            max_size=3,
        )
    )
    def test_any_times_of_a_results_file_give_numbers(self, sides: list[Side]) -> None:
        model = model_of(*sides)
        for name in NAMES:
            if model.run_count(0, name) and model.run_count(1, name):
                controls = [c for c in CONTROLS if model.run_count(0, c) and model.run_count(1, c)]
                estimates = [model.ratio(0, 1, name), model.time(0, name)]
                if controls:
                    estimates.append(model.ratio(0, 1, *controls))
                    estimates.append(model.ratio(0, 1, name, controls=controls))
                for estimate in estimates:
                    assert 0 <= estimate.p() <= 1
                    assert all(map(math.isfinite, (estimate.value, *estimate.interval)))
                    assert 0 <= estimate.interval.low <= estimate.value <= estimate.interval.high


class TestRounding:
    @staticmethod
    def rounded(times_s: Sequence[float], to_s: float = 0.1) -> list[dict[str, RunMedian]]:
        return [{"a": run_median([time_s], rounded_to_s=to_s)} for time_s in times_s]

    @pytest.mark.parametrize("runs", [2, 5, 50])
    def test_a_time_to_a_tenth_of_a_second_is_known_to_half_of_it_at_best(self, runs: int) -> None:
        table = RunModel([self.rounded([10.8] * runs), self.rounded([10.9] * runs)])
        time = table.time(0, "a")
        assert time.interval.high - time.value > 0.05
        assert table.ratio(0, 1, "a").p() > 0.01

    def test_runs_that_differ_by_more_average_it_out(self) -> None:
        times_s = (10.1, 10.4, 10.8, 11.1)
        found = RunModel([self.rounded(times_s)]).time(0, "a")
        assert_same(found, RunModel([self.rounded(times_s, 0.0)]).time(0, "a"))


class TestControls:
    def test_their_ratio_is_what_they_have_in_common(self) -> None:
        before, after = simulated(5, 1), scaled(simulated(5, 2), 1.2)
        found = model_of(before, after).ratio(0, 1, *CONTROLS)
        assert found.value == pytest.approx(1.2, abs=0.03)
        assert found.interval.low < 1.2 < found.interval.high
        assert found.df == 8

    def test_their_interval_is_that_of_a_t_test_for_a_single_control(self) -> None:
        before, after = simulated(4, 1), simulated(4, 2)
        logs = [np.median(np.log([run["c"] for run in s]), axis=1) for s in (after, before)]
        found = model_of(before, after).ratio(0, 1, "c")
        assert found.p() == pytest.approx(ttest_ind(*logs).pvalue)

    def test_other_workloads_have_no_part_in_it(self) -> None:
        before, after = simulated(3, 1), simulated(3, 2)
        changed = [{**run, "a": [time * 2 for time in run["a"]]} for run in after]
        assert_same(
            model_of(before, changed).ratio(0, 1, *CONTROLS),
            model_of(before, after).ratio(0, 1, *CONTROLS),
        )

    @pytest.mark.parametrize("runs", [1, 3])
    @pytest.mark.parametrize("factor", [0.5, 1.1])
    def test_a_shift_that_all_workloads_share_is_removed(self, runs: int, factor: float) -> None:
        before = [
            {name: [10 * (1 + run / 100)] * 3 for number, name in enumerate(NAMES)}
            for run in range(runs)
        ]
        model = model_of(before, scaled(before, factor))
        for name in NAMES[:2]:
            beyond = model.ratio(0, 1, name, controls=CONTROLS)
            assert beyond.value == pytest.approx(1)
            assert beyond.p() == pytest.approx(1)

    def test_a_run_without_any_control_is_relative_to_those_of_the_others(self) -> None:
        before, after = simulated(4, 1), simulated(4, 2)
        without = [{n: times for n, times in after[0].items() if n not in CONTROLS}, *after[1:]]
        found = model_of(before, without).ratio(0, 1, "a", controls=CONTROLS)
        assert found.value == pytest.approx(1, abs=0.05)

    def test_a_change_of_a_workload_alone_remains(self) -> None:
        before, after = simulated(4, 1), simulated(4, 2)
        changed = [{**run, "a": [time * 0.5 for time in run["a"]]} for run in after]
        beyond = model_of(before, scaled(changed, 1.1)).ratio(0, 1, "a", controls=CONTROLS)
        assert beyond.value == pytest.approx(0.5, rel=0.05)
        assert beyond.p() < 0.001


def in_turns(*sides: Side, applications: Sequence[Sequence[str | None]] | None = None) -> RunModel:
    """Return a model of sides whose runs took turns in applications."""
    names = [f"application {number}" for number in range(len(sides[0]))]
    return RunModel(model_of(*sides).configurations, applications or [names] * len(sides))


class TestTurns:
    def test_of_one_workload_it_is_the_paired_t_test(self) -> None:
        before, after = simulated(5, 1, shared_sd=0.1), simulated(5, 2, shared_sd=0.1)
        sides = [[{"a": run["a"]} for run in runs] for runs in (before, after)]
        logs = [[math.log(median(run["a"])) for run in runs] for runs in sides]
        differences = np.subtract(logs[1], logs[0])
        found = in_turns(*sides).ratio(0, 1, "a")
        assert found.log == pytest.approx(differences.mean())
        assert found.df == 4
        assert found.p() == pytest.approx(ttest_1samp(differences, 0).pvalue)

    def test_what_an_application_does_to_all_configurations_cancels(self) -> None:
        sides = simulated(4, 1), simulated(4, 2), simulated(4, 3)
        factors = (0.1, 1.0, 7.0, 50.0)
        moved = [
            [scaled([run], factor)[0] for run, factor in zip(side, factors, strict=True)]
            for side in sides
        ]
        for after in (1, 2):
            found = in_turns(*moved).ratio(0, after, "a")
            assert_same(found, in_turns(*sides).ratio(0, after, "a"))
            shift = in_turns(*moved).ratio(0, after, *CONTROLS)
            assert_same(shift, in_turns(*sides).ratio(0, after, *CONTROLS))

    def test_the_order_of_the_runs_does_not_matter(self) -> None:
        before, after = simulated(3, 1), simulated(3, 2)
        names = ["x", "y", "z"]
        other = in_turns(before, after[::-1], applications=[names, names[::-1]])
        expected = in_turns(before, after).ratio(0, 1, "a")
        assert_same(other.ratio(0, 1, "a"), expected)

    @pytest.mark.parametrize(
        "applications",
        [
            [["x", "y", "z"], ["x", "y", "other"]],
            [["x", "x", "y"], ["x", "x", "y"]],
            [["x", None, "y"], ["x", None, "y"]],
        ],
    )
    def test_without_the_same_applications_on_both_sides_nothing_cancels(
        self, applications: Sequence[Sequence[str | None]]
    ) -> None:
        model = in_turns(simulated(3, 1), simulated(3, 2), applications=applications)
        assert not model.is_in_turns(0, 1)

    def test_a_single_application_says_nothing_of_applications(self) -> None:
        model = in_turns(simulated(1, 1), simulated(1, 2))
        assert not model.is_in_turns(0, 1)

    def test_a_workload_that_an_application_lacks_on_a_side_is_left_out_there(self) -> None:
        before, after = simulated(4, 1), simulated(4, 2)
        without = [*after[:3], {name: times for name, times in after[3].items() if name != "a"}]
        found = in_turns(before, without)
        assert found.runs_of_either(0, 1, "a") == 3
        assert found.ratio(0, 1, "a").variance > 0

    def test_an_application_that_lacks_a_workload_on_a_side_moves_its_ratio_on_neither(
        self,
    ) -> None:
        """It was 50 times as slow as the others, and `a` failed on one side of it."""
        before, after = simulated(4, 1), simulated(4, 2)
        slow = [[*side[:3], *scaled(side[3:], 50.0)] for side in (before, after)]
        without = [*slow[1][:3], {name: s for name, s in slow[1][3].items() if name != "a"}]
        found = in_turns(slow[0], without).ratio(0, 1, "a")
        assert found.log == pytest.approx(in_turns(before[:3], after[:3]).ratio(0, 1, "a").log)

    def test_without_an_application_that_has_a_workload_on_both_sides_it_is_not_paired(
        self,
    ) -> None:
        def only(side: Side, numbers: range) -> Side:
            return [
                {name: times for name, times in run.items() if name != "a" or number in numbers}
                for number, run in enumerate(side)
            ]

        sides = only(simulated(4, 1), range(2)), only(simulated(4, 2), range(2, 4))
        found = in_turns(*sides)
        assert found.runs_of_either(0, 1, "a") == 2
        assert found.ratio(0, 1, "a").log == model_of(*sides).ratio(0, 1, "a").log

    @given(st.integers(2, 5), st.integers(2, 4), st.integers(0, 99))
    def test_it_is_never_more_certain_than_trials_allow(
        self, runs: int, sides: int, seed: int
    ) -> None:
        made = [simulated(runs, 10 * seed + number) for number in range(sides)]
        found = in_turns(*made).ratio(0, 1, "a")
        assert found.variance > 0
        assert found.df >= 1
