"""The time that a user gives for runs, and how much of it each run may take."""

from __future__ import annotations  # for Python 3.8

import math
import os
import time
from statistics import median

from harness.base.clock import Clock
from harness.model.limits import MIN_RUNS

END_BY = "CLUSTERLIFT_END_BY"
"""The environment variable with the time of `machine_clock`, in seconds, by which a run has to end."""
FEWER_ROUNDS_BY = "CLUSTERLIFT_FEWER_ROUNDS_BY"
"""The environment variable with the time of `machine_clock`, in seconds, by which the rounds of a run are to
end: rounds that would end later are left out, but for one warm-up and one measured round."""
WANTED_RUNS = 3
"""Runs that the time is to suffice for, with fewer rounds if need be: the interval of two is very wide."""


def machine_clock() -> float:
    """Return seconds that all processes of this machine count alike, whatever its time of day is set to."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def seconds_left() -> float:
    """Return the seconds until the process's run has to end; infinity if it has all the time it needs."""
    return _seconds_until(END_BY)


def seconds_for_rounds(once_s: float) -> float:
    """Return the seconds until the process's rounds are to end; infinity if it makes all of them.

    `once_s` is what this run, the first of WANTED_RUNS, did that the others need not do. All of them lose
    time by that, and not this one alone.
    """
    return _seconds_until(FEWER_ROUNDS_BY) + once_s * (WANTED_RUNS - 1) / WANTED_RUNS


def _seconds_until(variable: str) -> float:
    try:
        return max(0.0, float(os.environ[variable]) - machine_clock())
    except (KeyError, ValueError):
        return math.inf


class TimeBudget:
    """Plans turns of one or several runs within `total_s` seconds from now on.

    Runs differ more than trials, so time buys runs: a turn takes no longer than it must, and those that have
    ended show how long that is. Only the last one that fits has all the time that is left, for its profile.
    Where fewer than WANTED_RUNS would fit, or where time is left in the end, turns may become shorter.
    """

    def __init__(self, total_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + total_s
        self._took_s: list[float] = []
        self._least_s: list[float] = []
        self._turn_started = 0.0

    @property
    def left_s(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._clock())

    @property
    def turn_s(self) -> float | None:
        """How long a turn takes; None if none has shown it yet."""
        if not self._took_s:
            return None
        return median(self._took_s)

    def turns_left(self, complete: int) -> int:
        """Return how many more turns there will be, and before the first one has ended, at least.

        `complete` counts the runs that are there, from earlier commands, too.
        """
        fitting = 1
        if self.turn_s:
            shorter = int(self.left_s / median(self._least_s))
            wanted = max(1, WANTED_RUNS - complete)
            fitting = max(int(self.left_s / self.turn_s), min(shorter, wanted))
        return max(fitting, MIN_RUNS - complete)

    def share_s(self, complete: int) -> float:
        """Return the seconds that each of the turns may take which are to come."""
        turns = self.turns_left(complete) if self.turn_s else WANTED_RUNS - complete
        return self.left_s / max(1, turns)

    def begin_turn(self, complete: int) -> float | None:
        """Return the seconds that the next turn may take, 0 for no more than it must; None without one."""
        turns = self.turns_left(complete)
        self._turn_started = self._clock()
        if turns < 1:
            return None
        return self.left_s if turns == 1 and self.turn_s else 0.0

    def end_turn(self, once_s: float = 0.0, spare_s: float = 0.0) -> None:
        """Learn how long the turn took.

        `once_s` of it were for what further turns need not do, `spare_s` for rounds that they may leave out.
        """
        took_s = self._clock() - self._turn_started - once_s
        self._took_s.append(max(1.0, took_s))
        self._least_s.append(max(1.0, took_s - spare_s))
