"""The time that a user gives for runs, and how much of it each run may take."""

import math
import os
import time
from statistics import median

from harness.model.limits import MIN_RUNS
from harness.runtime.clock import Clock

END_BY = "CLUSTERLIFT_END_BY"
"""The environment variable with the Unix time, in seconds, by which a run has to end, if it has one."""

MAX_PLANNED_RUNS = 10


def seconds_left() -> float:
    """Return the seconds until the process's run has to end; infinity if it has all the time it needs."""
    try:
        return max(0.0, float(os.environ[END_BY]) - time.time())
    except (KeyError, ValueError):
        return math.inf


class TimeBudget:
    """Plans turns of one or several runs within `total_s` seconds from now on.

    Runs differ more than trials, and a run has a start that costs time. So in the first plan a turn takes the
    square root of all minutes: two turns in 5 minutes, four in 20, ten in 100 or more. Later plans
    know how long turns take.
    """

    def __init__(self, total_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._total_s = total_s
        self._end = clock() + total_s
        self._took_s: list[float] = []
        self._turn_started = 0.0

    @property
    def left_s(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._clock())

    def turns_left(self, complete: int) -> int:
        """Return how many more turns are planned.

        `complete` counts the runs that are there, from earlier commands, too.
        """
        if self._took_s:
            planned = round(self.left_s / median(self._took_s))
        else:
            planned = max(1, min(MAX_PLANNED_RUNS, round(math.sqrt(self._total_s / 60))))
        return max(planned, MIN_RUNS - complete)

    def expected_s(self, turns: int) -> float:
        """Return how long these turns will take, each as long as those before; 0 if there was none."""
        return turns * median(self._took_s or [0.0])

    def begin_turn(self, complete: int) -> float | None:
        """Return the seconds that the next turn may take; None if there is no further turn."""
        turns = self.turns_left(complete)
        self._turn_started = self._clock()
        return self.left_s / turns if turns else None

    def end_turn(self) -> None:
        """Learn how long the turn took."""
        self._took_s.append(max(1.0, self._clock() - self._turn_started))
