"""How a given time is divided among runs. Only turns advance the clock."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.limits import MIN_RUNS
from harness.trials import time_budget
from harness.trials.time_budget import (
    END_BY,
    FEWER_ROUNDS_BY,
    TimeBudget,
    machine_clock,
    seconds_for_rounds,
    seconds_left,
)


class Turns:
    """Takes turns as long as the budget plans some: each of `least_s` and rounds of `round_s` that fit."""

    def __init__(
        self, total_s: float, least_s: float, round_s: float = 1e9, complete: int = 0
    ) -> None:
        self.now_s = 0.0
        self.shares_s: list[float] = []
        self.rounds = 0
        budget = TimeBudget(total_s, lambda: self.now_s)
        while (share_s := budget.begin_turn(complete + len(self.shares_s))) is not None:
            self.shares_s.append(share_s)
            more = max(0, int((share_s - least_s) / round_s))
            self.rounds += more
            self.now_s += least_s + more * round_s
            budget.end_turn()


@pytest.mark.parametrize(
    ("minutes", "least_s", "turns", "rounds"),
    [(5, 60, 5, 0), (5, 66, 4, 2), (5, 45, 6, 1), (5, 400, 2, 0), (20, 50, 24, 0), (1, 20, 3, 0)],
)
def test_time_buys_turns_and_what_is_left_more_rounds(
    minutes: float, least_s: float, turns: int, rounds: int
) -> None:
    taken = Turns(minutes * 60, least_s, round_s=17)
    assert (len(taken.shares_s), taken.rounds) == (turns, rounds)
    assert not any(taken.shares_s[:-1])


def test_what_the_first_turn_does_once_is_not_expected_of_the_others() -> None:
    now_s = 0.0
    budget = TimeBudget(300, lambda: now_s)
    budget.begin_turn(0)
    now_s = 160.0
    budget.end_turn(once_s=100)
    assert (budget.turn_s, budget.turns_left(1)) == (60, 2)


def test_the_same_command_again_adds_a_turn_even_if_there_is_little_time() -> None:
    assert Turns(30, least_s=60, complete=MIN_RUNS).shares_s == [0]


@given(st.floats(1, 1e4), st.floats(1, 1e4), st.floats(1, 1e3), st.integers(0, 5))
def test_there_are_always_runs_enough_for_a_claim_and_the_time_is_kept(
    total_s: float, least_s: float, round_s: float, complete: int
) -> None:
    taken = Turns(total_s, least_s, round_s, complete)
    least = max(1, MIN_RUNS - complete)
    assert len(taken.shares_s) >= least
    assert taken.now_s <= max(total_s, least * least_s) * (1 + 1e-9)


class ShorterTurns:
    """Takes turns that are `whole_s` long, or as long as their share of the time, but at least `least_s`."""

    def __init__(self, total_s: float, whole_s: float, least_s: float, once_s: float = 0.0) -> None:
        self.now_s = 0.0
        self.took_s: list[float] = []
        budget = TimeBudget(total_s, lambda: self.now_s)
        while budget.begin_turn(len(self.took_s)) is not None:
            share_s = budget.share_s(len(self.took_s))
            took_s = min(whole_s, max(least_s, share_s))
            self.now_s += took_s + once_s
            budget.end_turn(once_s, took_s - least_s)
            self.took_s.append(took_s)
            once_s = 0.0


@pytest.mark.parametrize(
    ("whole_s", "least_s", "once_s", "turns"),
    [
        (98, 70, 0, [98, 98, 98]),
        (99, 70, 20, [99, 90.5, 90.5]),
        (110, 70, 0, [100, 100, 100]),
        (80, 60, 0, [80, 80, 80, 60]),
        (140, 100, 0, [100, 100, 100]),
        (160, 140, 0, [140, 160]),
        (400, 350, 0, [350, 350]),
        (30, 30, 0, [30] * 10),
    ],
    ids=[
        *(
            "three-fit",
            "after-generating",
            "three-fit-with-fewer-rounds",
            "a-shorter-one-in-the-end",
        ),
        *("the-shortest-three", "two-and-no-three", "longer-than-the-time", "many"),
    ],
)
def test_turns_become_shorter_so_that_three_fit_and_no_time_is_left_for_another(
    whole_s: float, least_s: float, once_s: float, turns: list[float]
) -> None:
    assert ShorterTurns(300, whole_s, least_s, once_s).took_s == pytest.approx(turns)


def test_what_the_first_run_does_once_is_shared_among_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(FEWER_ROUNDS_BY, "0")
    assert seconds_for_rounds(once_s=30) == 20
    monkeypatch.delenv(FEWER_ROUNDS_BY)
    assert seconds_for_rounds(once_s=30) == float("inf")


class TestTheLimitOfARun:
    def test_is_what_is_left_until_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(time_budget, "machine_clock", lambda: 5000.0)
        monkeypatch.setenv(END_BY, "6000")
        assert seconds_left() == 1000

    def test_is_the_same_for_another_process_and_when_the_time_of_day_is_set(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before_s = machine_clock()
        monkeypatch.setattr(time, "time", lambda: 4e9)
        program = "from harness.trials.time_budget import machine_clock; print(machine_clock())"
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        assert before_s <= float(done.stdout) <= machine_clock()

    def test_is_nothing_once_that_time_is_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(END_BY, "0")
        assert seconds_left() == 0

    @pytest.mark.parametrize("value", [None, "", "soon"])
    def test_is_infinite_without_such_a_time(
        self, value: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(END_BY, raising=False)
        if value is not None:
            monkeypatch.setenv(END_BY, value)
        assert seconds_left() == float("inf")
