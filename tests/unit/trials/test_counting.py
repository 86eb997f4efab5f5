"""Which trials count: what is warm-up, what is disturbed, and what never became steady."""

from collections.abc import Sequence

import pytest

from harness.model.executors import LostExecutor, TrialExecutors
from harness.model.interference import MIN_EARLIER, EarlierTrials, NodeInterference
from harness.model.run import Phase, Trial
from harness.trials.counting import (
    DEFAULT_TRIALS,
    WarmUp,
    counted_trials,
    doubts,
    find_warm_up,
    judged,
    needed_trials,
    with_phases,
)
from tests.unit.builders import a_run, failed, ok

STEADY = (10, 10.1, 9.9, 10, 10.1, 9.9, 10)
ENDLESS = tuple(100 * 0.9**number for number in range(12))


def trials_of(times_s: Sequence[float | None], workload: str = "w") -> list[Trial]:
    """Return the trials of rounds 1, 2, ...; None is a failure, and a negative time is disturbed."""
    return [
        failed(workload, round_=round_)
        if time_s is None
        else ok(
            workload, abs(time_s), round_, disturbed="n1: a busy neighbour" if time_s < 0 else None
        )
        for round_, time_s in enumerate(times_s, 1)
    ]


class TestFindWarmUp:
    def test_the_first_round_is_always_warm_up(self) -> None:
        assert find_warm_up(trials_of(STEADY), 6) == WarmUp(ends_before=2, usable=6)

    def test_it_lasts_as_long_as_trials_become_faster(self) -> None:
        assert find_warm_up(trials_of((40, 30, 20, *STEADY)), 6) == WarmUp(ends_before=4, usable=9)

    def test_if_it_never_ends_the_last_trials_are_the_sample(self) -> None:
        unsteady = "its last 6 trials still became faster"
        assert find_warm_up(trials_of(ENDLESS), 6) == WarmUp(7, unsteady, 11)

    def test_with_fewer_trials_than_needed_all_but_the_first_round_count(self) -> None:
        assert find_warm_up(trials_of(STEADY[:4]), 6) == WarmUp(2, "fewer than 6 trials count", 3)

    @pytest.mark.parametrize("fourth", [None, -99])
    def test_failed_and_disturbed_trials_do_not_show_anything(self, fourth: float | None) -> None:
        times_s = (*STEADY[:3], fourth, *STEADY[3:])
        assert find_warm_up(trials_of(times_s), 6) == WarmUp(2, usable=6)
        assert find_warm_up(trials_of(times_s[:-1]), 6) == WarmUp(2, "fewer than 6 trials count", 5)


class TestPhases:
    def test_each_workload_has_its_own_warm_up(self) -> None:
        trials = [*trials_of((40, 30, 20, *STEADY), "slow"), *trials_of(STEADY, "steady")]
        found, _ = counted_trials(trials, 6)
        assert [trial.workload for trial in found] == [trial.workload for trial in trials]
        warm_up = {(trial.workload, trial.round) for trial in found if trial.phase is Phase.WARM_UP}
        assert warm_up == {("slow", 1), ("slow", 2), ("slow", 3), ("steady", 1)}


class TestDoubts:
    @pytest.mark.parametrize(
        ("times_s", "found"),
        [
            (STEADY, []),
            (ENDLESS, ["its last 6 trials still became faster"]),
            (STEADY[:3], ["fewer than 6 trials count"]),
            # There is no sample that could be unsteady.
            ((None, None), []),
            ((10, None), []),
        ],
    )
    def test_name_what_never_became_steady_and_why(
        self, times_s: Sequence[float | None], found: list[str]
    ) -> None:
        assert list(doubts([trials_of(times_s)], [6], 1)) == found

    def test_are_none_of_a_fixed_warm_up(self) -> None:
        assert list(doubts([trials_of(ENDLESS)], [None], 1)) == []


@pytest.mark.parametrize(
    ("trials", "needed"), [(9, 9), ("auto", DEFAULT_TRIALS), (0, DEFAULT_TRIALS)]
)
def test_a_run_says_how_many_trials_it_needs(trials: object, needed: int) -> None:
    assert needed_trials(a_run(parameters={"trials": trials, "warmup": "auto"})) == needed
    assert needed_trials(a_run(parameters={"trials": trials, "warmup": 1})) is None


def test_trials_of_profile_rounds_show_nothing_and_never_count() -> None:
    trials = [*trials_of(STEADY), ok("w", 50, 1, phase=Phase.PROFILE)]
    *others, last = with_phases(trials, 6)
    assert others == with_phases(trials[:-1], 6)
    assert last.phase is Phase.PROFILE
    assert not last.counts
    assert list(doubts([trials], [6], 1)) == []


QUIET = (NodeInterference("n1", duration_s=10, processors=2, others_s=0.1),)
BUSY = (NodeInterference("n1", duration_s=10, processors=2, others_s=4.0),)
DISTURBED = "n1: other processes took processor time (20 %, usually 0 %)"


def verdicts(*trials: Trial) -> list[str | None]:
    earlier = EarlierTrials()
    return [judged(trial, earlier).disturbed for trial in trials]


def test_a_trial_is_compared_with_the_earlier_trials_of_its_workload() -> None:
    quiet = [ok("pi", 1.0, number, interference=QUIET) for number in range(1, MIN_EARLIER + 1)]
    others = [ok("join", 1.0, number, interference=BUSY) for number in range(1, MIN_EARLIER + 1)]
    late = [ok(name, 1.0, 9, interference=BUSY) for name in ("pi", "join")]
    assert verdicts(*quiet, *others, *late)[-2:] == [DISTURBED, None]


def test_no_trial_sees_a_later_one() -> None:
    quiet = [ok("pi", 1.0, number, interference=QUIET) for number in range(2, 2 + MIN_EARLIER)]
    assert verdicts(ok("pi", 1.0, 1, interference=BUSY), *quiet)[0] is None


def test_a_trial_that_lost_or_gained_an_executor_never_counts() -> None:
    changed = TrialExecutors({"n1": 1}, lost={"2": LostExecutor("n2", "exit code 137")})
    trials = [ok("w", 1.0, round_, executors=changed) for round_ in range(1, 4)]
    found, throughout = counted_trials(trials, None)
    assert [trial.disturbed for trial in found] == [changed.change] * 3
    assert throughout == {}
    same = [ok("w", 1.0, round_, executors=TrialExecutors({"n1": 2})) for round_ in range(1, 4)]
    assert all(trial.counts for trial in counted_trials(same, None)[0])


def test_a_trial_without_counters_keeps_what_was_recorded() -> None:
    assert verdicts(ok("pi", 1.0, disturbed=DISTURBED), failed("pi")) == [DISTURBED, None]
