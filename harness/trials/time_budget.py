"""The time that a user gives for runs, and how much of it each run may take."""

from __future__ import annotations  # for Python 3.8

import math
import os
import time

from harness.base.clock import Clock

END_BY = "CLUSTERLIFT_END_BY"
"""The environment variable with the time of `machine_clock`, in seconds, by which a run has to end."""
FEWER_ROUNDS_BY = "CLUSTERLIFT_FEWER_ROUNDS_BY"
"""The environment variable with the time of `machine_clock`, in seconds, by which the rounds of a run are to
end: rounds that would end later are left out, but for one warm-up and one measured round."""
WANTED_RUNS = 4
"""Runs that the time is to suffice for, with fewer rounds if need be: the interval of few is very wide."""
NEEDED_RUNS = 3
"""Runs that are made however long they take: by the interval of two, a time may be anything."""


def machine_clock() -> float:
    """Return seconds that all processes of this machine count alike, whatever its time of day is set to."""
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def seconds_left() -> float:
    """Return the seconds until the process's run has to end; infinity if it has all the time it needs."""
    return _seconds_until(END_BY)


def seconds_for_rounds(once_s: float) -> float:
    """Return the seconds until the process's rounds are to end; infinity if it makes all of them.

    `once_s` is the time of work that only the first of WANTED_RUNS has to do. All of them lose time by that,
    and not this one alone.
    """
    return _seconds_until(FEWER_ROUNDS_BY) + once_s * (WANTED_RUNS - 1) / WANTED_RUNS


def _seconds_until(variable: str) -> float:
    try:
        return max(0.0, float(os.environ[variable]) - machine_clock())
    except (KeyError, ValueError):
        return math.inf


class TimeBudget:
    """`total_s` seconds from now on."""

    def __init__(self, total_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + total_s

    @property
    def left_s(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._clock())

    def now_s(self) -> float:
        """Return the time of the clock that is counted by."""
        return self._clock()
