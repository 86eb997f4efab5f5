"""The time that a user gives, and what of it a run may take."""

import subprocess
import sys
import time

import pytest

from harness.trials import time_budget
from harness.trials.time_budget import (
    END_BY,
    FEWER_ROUNDS_BY,
    TimeBudget,
    machine_clock,
    seconds_for_rounds,
    seconds_left,
)


def test_the_time_that_is_left_ends_at_nothing() -> None:
    now_s = 0.0
    budget = TimeBudget(300, lambda: now_s)
    now_s = 160.0
    assert budget.left_s == 140
    now_s = 301.0
    assert budget.left_s == 0


def test_what_the_first_run_does_once_is_shared_among_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(FEWER_ROUNDS_BY, "0")
    assert seconds_for_rounds(once_s=40) == 30
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
