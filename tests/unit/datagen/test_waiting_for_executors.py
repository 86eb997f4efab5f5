"""A run waits for the executors that it asked for, and not for ever."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from datagen import spark as session
from datagen.spark import LATE_EXECUTOR_S, wait_for_all_executors


class Clock:
    """A clock that sleeping moves, and executors that come at these seconds."""

    def __init__(self, come_s: Sequence[float]) -> None:
        self.now_s = 1000.0
        self._began_s = self.now_s
        self._come_s = come_s

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds

    @property
    def waited_s(self) -> float:
        return self.now_s - self._began_s

    def executors(self, _: object) -> list[str]:
        return ["n1" for each in self._come_s if each <= self.waited_s]


def waiting(
    monkeypatch: pytest.MonkeyPatch, come_s: Sequence[float], given_s: float | None
) -> Clock:
    clock = Clock(come_s)
    monkeypatch.setattr(session, "time", clock)
    monkeypatch.setattr(session, "executors", clock.executors)
    monkeypatch.setattr(session, "_given_waiting_time_s", lambda _: given_s)
    return clock


SPARK: Any = SimpleNamespace()


@pytest.mark.parametrize(
    ("come_s", "given_s", "come", "waited_s"),
    [
        ([0, 0, 0], None, 3, 0),
        ([0, 75, 110], None, 3, 110),
        # Each that comes shows that more may follow.
        ([0, 100, 200], None, 3, 200),
        ([0, 50], None, 2, 50 + LATE_EXECUTOR_S),
        ([], None, 0, LATE_EXECUTOR_S),
        # The user's own time.
        ([0, 75, 110], 30.0, 1, 30),
        ([0, 20, 29], 30.0, 3, 29),
        ([0, 300, 310], 400.0, 3, 310),
    ],
)
def test_it_waits_as_long_as_others_may_come(
    monkeypatch: pytest.MonkeyPatch,
    come_s: Sequence[float],
    given_s: float | None,
    come: int,
    waited_s: float,
) -> None:
    clock = waiting(monkeypatch, come_s, given_s)
    assert wait_for_all_executors(SPARK, 3) == come
    assert clock.waited_s == pytest.approx(waited_s, abs=0.5)


def test_it_says_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waiting(monkeypatch, [0, 75], None)
    wait_for_all_executors(SPARK, 2)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "waiting for executors: 1 of 2 have come, for 2 min 00 s more"
    assert len(lines) == 3


def test_all_that_come_slowly_end_it_after_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = waiting(monkeypatch, [100.0 * number for number in range(99)], None)
    wait_for_all_executors(SPARK, 99)
    assert clock.waited_s == pytest.approx(600, abs=0.5)


def test_it_does_not_wait_for_executors_of_which_none_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = waiting(monkeypatch, [], None)
    assert wait_for_all_executors(SPARK, 2, lambda: clock.waited_s > 60) == 0
    assert clock.waited_s == pytest.approx(60, abs=0.5)
