"""How a given time is divided among runs. Only turns advance the clock."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.limits import MIN_RUNS
from harness.runtime.time_budget import END_BY, TimeBudget, seconds_left


class Turns:
    """Takes turns as long as the budget plans some; each takes `wanted_s`, at most its share."""

    def __init__(self, total_s: float, wanted_s: float, complete: int = 0) -> None:
        self.now_s = 0.0
        self.shares_s: list[float] = []
        budget = TimeBudget(total_s, lambda: self.now_s)
        while (share_s := budget.begin_turn(complete + len(self.shares_s))) is not None:
            self.shares_s.append(share_s)
            self.now_s += min(wanted_s, max(share_s, 1.0))
            budget.end_turn()


@pytest.mark.parametrize(
    ("minutes", "turns"), [(1, 2), (5, 2), (10, 3), (20, 4), (60, 8), (600, 10)]
)
def test_the_first_plan_has_more_turns_if_there_is_more_time(minutes: float, turns: int) -> None:
    taken = Turns(minutes * 60, wanted_s=1e9)
    assert len(taken.shares_s) == turns
    assert taken.shares_s[0] == pytest.approx(minutes * 60 / turns)
    assert taken.now_s == pytest.approx(minutes * 60)


def test_turns_that_end_early_leave_time_for_more() -> None:
    taken = Turns(20 * 60, wanted_s=100)
    assert len(taken.shares_s) == 12


def test_the_same_command_again_adds_a_turn_even_if_there_is_little_time() -> None:
    assert len(Turns(30, wanted_s=1e9, complete=MIN_RUNS).shares_s) == 1


@given(st.floats(1, 1e4), st.floats(300, 1e5), st.integers(0, 5))
def test_there_are_always_runs_enough_for_a_claim_and_the_time_is_kept(
    total_s: float, wanted_s: float, complete: int
) -> None:
    taken = Turns(total_s, wanted_s, complete)
    assert len(taken.shares_s) + complete >= MIN_RUNS
    assert taken.now_s <= total_s + 2 * MIN_RUNS + wanted_s / 2


class TestTheLimitOfARun:
    def test_is_what_is_left_until_a_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(END_BY, str(time.time() + 1000))
        assert 900 < seconds_left() <= 1000

    def test_is_nothing_once_that_time_is_over(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(END_BY, "1")
        assert seconds_left() == 0

    @pytest.mark.parametrize("value", [None, "", "soon"])
    def test_is_infinite_without_such_a_time(
        self, value: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(END_BY, raising=False)
        if value is not None:
            monkeypatch.setenv(END_BY, value)
        assert seconds_left() == float("inf")
