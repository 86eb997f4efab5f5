"""Which rounds a run plans, and why it stops. Only trials advance the clock."""

import math
from collections.abc import Callable, Container, Mapping
from dataclasses import replace

import pytest

from harness.model.run import Phase, Trial
from harness.trials.counting import DEFAULT_TRIALS
from harness.trials.rounds import MAX_FAILED_TRIALS, ROUNDS_PER_TRIAL, Rounds
from tests.unit.builders import failed, ok

Duration = Callable[[int], float | None]
"""Seconds of the n-th trial, warm-up included; None if it fails."""


class Bench:
    """Workloads with given times, run until they are steady or `warm_up` and `trials` are over.

    `disturbed` are the numbers of the rounds in which every trial is disturbed.
    """

    def __init__(
        self,
        workloads: Mapping[str, Duration],
        warm_up: int | None = None,
        trials: int = DEFAULT_TRIALS,
        *,
        max_s: float = 1e6,
        disturbed: Container[int] = (),
        profile: int | None = 0,
        fewer_after_s: float = math.inf,
    ) -> None:
        self.now_s = 0.0
        self.disturbed = disturbed
        self.trials: list[Trial] = []
        self.outlooks: list[str] = []
        self.until = Rounds(
            list(workloads),
            warm_up,
            trials,
            max_s=max_s,
            profile=profile,
            fewer_after_s=fewer_after_s,
            clock=lambda: self.now_s,
        )
        for run_before, (phase, round_) in enumerate(self.until.rounds()):
            for name, took in workloads.items():
                self._run(name, phase, round_, took(run_before + 1))

    def _run(self, workload: str, phase: Phase, round_: int, took: float | None) -> None:
        self.now_s += took or 1
        trial = (
            ok(workload, took, round_, phase) if took else failed(workload, "E: no", round_, phase)
        )
        if round_ in self.disturbed:
            trial = replace(trial, disturbed="n1: a busy neighbour")
        self.trials.append(trial)
        self.until.finished(trial)
        self.outlooks.append(self.until.outlook())

    @property
    def rounds(self) -> int:
        return max(trial.round for trial in self.trials if trial.phase is Phase.MEASURED)

    def times(self, workload: str) -> list[float]:
        measured = (t for t in self.trials if t.phase is Phase.MEASURED)
        return [t.wall_s for t in measured if t.workload == workload and t.wall_s is not None]


def steady(seconds: float) -> Duration:
    return lambda _: seconds


def failing(_: int) -> None:
    """Fail."""


@pytest.mark.parametrize(
    ("fewer_after_s", "made"),
    [
        (math.inf, (2, 2)),
        (55, (2, 2)),
        (51, (2, 1)),
        (50, (2, 1)),
        (49, (1, 2)),
        (44, (1, 2)),
        (43, (1, 1)),
        (0, (1, 1)),
    ],
)
def test_a_fixed_number_of_rounds_becomes_less_where_time_is_short_but_one_of_either_is_made(
    fewer_after_s: float, made: tuple[int, int]
) -> None:
    """The rounds take 20, 12, 11 and 10 s."""
    bench = Bench(
        {"a": [0.0, 20.0, 12.0, 11.0, 10.0].__getitem__}, 2, 2, fewer_after_s=fewer_after_s
    )
    phases = [trial.phase for trial in bench.trials]
    assert (phases.count(Phase.WARM_UP), phases.count(Phase.MEASURED)) == made
    assert bench.until.total == len(bench.trials)
    assert (bench.until.stopped is None) == (made == (2, 2))
    if made == (1, 1):
        assert bench.until.stopped == (
            "1 of 2 warm-up rounds and 1 of 2 measured rounds, so that more runs fit into the time"
        )


class TestAFixedNumber:
    @pytest.mark.parametrize(
        ("disturbed", "fewer_after_s", "measured"),
        [
            ((), 1000, 2),
            ((2,), 1000, 3),
            ((2, 3), 1000, 4),
            (range(10), 1000, 4),
            ((2,), 39, 2),
            ((2,), math.inf, 2),
        ],
        ids=["quiet", "one", "two", "always", "no-time", "time-does-not-matter"],
    )
    def test_becomes_more_if_trials_were_disturbed_and_there_is_time(
        self, disturbed: Container[int], fewer_after_s: float, measured: int
    ) -> None:
        """A round of two workloads takes 10 s; the first is the warm-up."""
        workloads = {"a": steady(5), "b": steady(5)}
        bench = Bench(workloads, 1, 2, disturbed=disturbed, fewer_after_s=fewer_after_s)
        phases = [trial.phase for trial in bench.trials]
        assert phases.count(Phase.MEASURED) == 2 * measured
        assert bench.until.total == len(bench.trials)

    def test_comes_in_order_warm_up_first_and_the_profile_last(self) -> None:
        plan = Rounds(["a"], 1, 2, profile=1)
        assert list(plan.rounds()) == [
            (Phase.WARM_UP, 1),
            (Phase.MEASURED, 1),
            (Phase.MEASURED, 2),
            (Phase.PROFILE, 1),
        ]
        assert plan.stopped is None

    def test_leaves_as_much_time_as_the_trials_before_took_on_average(self) -> None:
        bench = Bench({"a": lambda number: (10, 20, 3)[number - 1]}, 1, 1, profile=1)
        assert bench.outlooks == ["this run: 20 s left", "this run: 15 s left", "done"]


class TestProfileRounds:
    @pytest.mark.parametrize(
        ("number", "max_s", "measured", "profiled"),
        [
            *((0, 500, 2, 0), (2, math.inf, 2, 2), (None, math.inf, 2, 0)),
            *((None, 0, 2, 0), (None, 29, 2, 0), (None, 30, 2, 1), (None, 500, 2, 1)),
        ],
    )
    def test_come_last_where_they_are_wanted_or_time_is_left(
        self, number: int | None, max_s: float, measured: int, profiled: int
    ) -> None:
        bench = Bench({"a": steady(10)}, 0, 2, max_s=max_s, profile=number)
        phases = [trial.phase for trial in bench.trials]
        assert phases == [Phase.MEASURED] * measured + [Phase.PROFILE] * profiled

    def test_do_not_follow_in_what_is_left_of_the_time_if_all_trials_fail(self) -> None:
        bench = Bench({"a": failing, "b": failing}, 1, 2, max_s=500, profile=None)
        assert {trial.phase for trial in bench.trials} == {Phase.WARM_UP, Phase.MEASURED}

    @pytest.mark.parametrize(("workloads", "rounds"), [("ab", 1), ("a", MAX_FAILED_TRIALS)])
    def test_do_not_follow_if_all_trials_fail(self, workloads: str, rounds: int) -> None:
        bench = Bench(dict.fromkeys(workloads, failing), profile=2)
        assert {trial.phase for trial in bench.trials} == {Phase.MEASURED}
        assert bench.rounds == rounds


class TestFailedTrials:
    def test_end_a_run_that_has_no_others(self) -> None:
        bench = Bench({"failing": failing})
        assert bench.rounds == MAX_FAILED_TRIALS
        assert bench.until.stopped == "after 6 rounds, no workload has had a trial that counts"

    def test_of_all_workloads_in_a_round_end_the_run_if_their_reason_is_the_same(self) -> None:
        lost = {"a": lambda number: 10 if number < 3 else None}
        bench = Bench({**lost, "b": lost["a"]})
        assert bench.rounds == 3
        assert bench.until.stopped == (
            "after 3 rounds, the last trial of every workload failed with E: no; "
            "not reached: a, b (1 of 6 trials)"
        )

    def test_are_made_up_for(self) -> None:
        bench = Bench({"shaky": lambda number: 10 if number % 2 else None})
        assert len(bench.times("shaky")) == 7
        assert bench.rounds == 13


class TestUntilSteady:
    """By default, six trials have to be steady."""

    def test_a_workload_that_is_warm_from_the_start_takes_one_round_more_than_it_needs(
        self,
    ) -> None:
        bench = Bench({"steady": steady(10)})
        assert bench.rounds == 7
        assert bench.until.stopped == "after 7 rounds, every workload is steady"
        assert {trial.phase for trial in bench.trials} == {Phase.MEASURED}

    def test_a_workload_that_becomes_faster_for_ever_ends_at_the_limit_of_rounds(self) -> None:
        bench = Bench({"steady": steady(10), "endless": lambda n: 100 * 0.9**n})
        assert bench.rounds == 6 * ROUNDS_PER_TRIAL
        assert bench.until.stopped == (
            "after 24 rounds, which is the limit; "
            "not reached: endless (its last 6 trials still became faster)"
        )

    def test_the_trials_are_run_whatever_time_they_take_but_no_more(self) -> None:
        bench = Bench({"endless": lambda n: 100 * 0.9**n}, trials=3, max_s=1)
        assert bench.rounds == 4
        assert str(bench.until.stopped).startswith("after 4 rounds, another would not have ended")

    def test_disturbed_trials_are_repeated_and_counted(self) -> None:
        bench = Bench({"a": steady(10), "b": steady(10)}, disturbed={3, 7})
        assert bench.rounds == 9
        assert bench.until.stopped == (
            "after 9 rounds, every workload is steady; 4 disturbed trials left out"
        )

    def test_a_workload_that_is_always_disturbed_ends_at_the_limit(self) -> None:
        bench = Bench({"a": steady(10)}, trials=2, disturbed=range(100))
        assert bench.until.stopped == (
            "after 8 rounds, which is the limit; not reached: a (0 of 2 trials); "
            "8 disturbed trials left out"
        )


def test_the_outlook_is_what_is_missing_and_the_time_left() -> None:
    bench = Bench({"fast": lambda number: 1 + number / 1000, "dead": failing}, trials=2)
    both = (
        "2 workloads need more trials (such as fast: {} of 2 trials); this run: {} s left at most"
    )
    assert bench.outlooks[:5] == [
        *(both.format(*each) for each in ((0, 15), (0, 14), (1, 13), (1, 12))),
        "dead needs more trials (0 of 2 trials); this run: 11 s left at most",
    ]
    assert bench.outlooks[-1] == "no workload is waited for"


@pytest.mark.parametrize(
    ("max_s", "left"), [(1e6, ["30 s", "20 s"]), (25, ["20 s", "10 s"]), (1, ["20 s", "10 s"])]
)
def test_the_time_left_is_at_least_that_of_the_trials_that_are_run_in_any_case(
    max_s: float, left: list[str]
) -> None:
    bench = Bench({"a": steady(10)}, trials=1, max_s=max_s, disturbed={2})
    if max_s < 1e6:
        bench = Bench({"a": steady(10)}, trials=2, max_s=max_s)
    assert [outlook.split("run: ")[1] for outlook in bench.outlooks[:2]] == [
        f"{time} left at most" for time in left
    ]


class TestProofRounds:
    """A round that cannot count proves answers: the first one, or else one after those that count."""

    @pytest.mark.parametrize(("warm_up", "first"), [(1, Phase.WARM_UP), (None, Phase.MEASURED)])
    def test_the_first_round_proves_if_it_does_not_count(
        self, warm_up: int | None, first: Phase
    ) -> None:
        rounds = Rounds(["pi"], warm_up, 2)
        assert rounds.proves(first, 1)
        assert not rounds.proves(first, 2)
        assert not rounds.proves(Phase.PROFILE, 1)

    def test_without_one_a_round_after_the_measured_ones_proves(self) -> None:
        unproven = ["sort", "pi"]
        rounds = Rounds(unproven, 0, 2, profile=1, unproven=lambda: len(unproven))
        assert rounds.total == 8
        assert not rounds.proves(Phase.MEASURED, 1)
        phases = []
        for phase, _ in rounds.rounds():
            phases.append(phase)
            if phase is Phase.PROOF:
                unproven.clear()
        assert phases == [Phase.MEASURED] * 2 + [Phase.PROOF, Phase.PROFILE]

    def test_there_is_none_if_everything_is_proven(self) -> None:
        rounds = Rounds(["pi"], 1, 1)
        assert [phase for phase, _ in rounds.rounds()] == [Phase.WARM_UP, Phase.MEASURED]
