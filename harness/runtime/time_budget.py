"""The time that a user gives for runs, and how much of it each run may take."""

import math
import os
import time
from statistics import median

from harness.model.limits import MIN_RUNS
from harness.runtime.clock import Clock

END_BY = "CLUSTERLIFT_END_BY"
"""The environment variable with the Unix time, in seconds, by which a run has to end, if it has one."""


def seconds_left() -> float:
    """Return the seconds until the process's run has to end; infinity if it has all the time it needs."""
    try:
        return max(0.0, float(os.environ[END_BY]) - time.time())
    except (KeyError, ValueError):
        return math.inf


class TimeBudget:
    """Plans turns of one or several runs within `total_s` seconds from now on.

    Runs differ more than trials, so time buys runs: a turn takes no longer than it must, and those that have
    ended show how long that is. Only the last one that fits has all the time that is left, for its profile.
    """

    def __init__(self, total_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._end = clock() + total_s
        self._took_s: list[float] = []
        self._turn_started = 0.0

    @property
    def left_s(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._clock())

    @property
    def turn_s(self) -> float | None:
        """How long a turn takes; None if none has shown it yet."""
        return median(self._took_s) if self._took_s else None

    def turns_left(self, complete: int) -> int:
        """Return how many more turns there will be, and before the first one has ended, at least.

        `complete` counts the runs that are there, from earlier commands, too.
        """
        fitting = int(self.left_s / self.turn_s) if self.turn_s else 1
        return max(fitting, MIN_RUNS - complete)

    def begin_turn(self, complete: int) -> float | None:
        """Return the seconds that the next turn may take, 0 for no more than it must; None without one."""
        turns = self.turns_left(complete)
        self._turn_started = self._clock()
        if turns < 1:
            return None
        return self.left_s if turns == 1 and self.turn_s else 0.0

    def end_turn(self, once_s: float = 0.0) -> None:
        """Learn how long the turn took; `once_s` of it were for what further turns need not do."""
        self._took_s.append(max(1.0, self._clock() - self._turn_started - once_s))
