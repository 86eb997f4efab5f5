"""The time that a user gives for runs, and how much of it each run may take."""

import math
import os
import time
from statistics import median

from harness.model.limits import MIN_RUNS
from harness.model.run import Phase, RecordedRun, moment_of
from harness.runtime.clock import Clock

END_BY = "CLUSTERLIFT_END_BY"
"""The environment variable with the Unix time, in seconds, by which a run has to end, if it has one."""

MAX_PLANNED_RUNS = 10
LEAST_ROUNDS = 2
"""The rounds of a run whose time is over before it began: a cold one, and one that is measured."""
RUN_TO_GENERATION = 4
"""The time of such a run, divided by that of `generate`, which starts Spark and goes through all rows."""
RUN_TO_ROUNDS = 1.35
"""The same, divided by the time from when its description is written until the end of LEAST_ROUNDS."""


def seconds_left() -> float:
    """Return the seconds until the process's run has to end; infinity if it has all the time it needs."""
    try:
        return max(0.0, float(os.environ[END_BY]) - time.time())
    except (KeyError, ValueError):
        return math.inf


def least_run_s(recorded: RecordedRun) -> float:
    """Return about how long a run of the same workloads takes at least, in seconds, with Spark's start.

    0 if that is not known, because a clock was set back.
    """
    ends = (
        moment_of(trial.started_at).timestamp() + (trial.wall_s or 0.0) * trial.executions
        for trial in recorded.trials
        if trial.round <= LEAST_ROUNDS and trial.phase is not Phase.PROFILE
    )
    started = moment_of(recorded.run.started_at).timestamp()
    return RUN_TO_ROUNDS * max(0.0, max(ends, default=started) - started)


class TimeBudget:
    """Plans turns, each of which is a run or several, within `total_s` seconds from now on.

    Runs differ more than trials, and a run has a start that costs time. So of the first plan a turn takes the
    square root of all minutes: two turns in 5 minutes, four in 20, ten in 100 or more. Later plans
    know how long turns take.
    """

    def __init__(self, total_s: float, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._total_s = total_s
        self._end = clock() + total_s
        self._took_s: list[float] = []
        self._turn_started = 0.0
        self._expected_s = 0.0

    def expect(self, least_s: float) -> None:
        """Expect each turn to take so many seconds at least, until one has shown how long it takes."""
        self._expected_s = least_s

    @property
    def least_s(self) -> float:
        """How long a turn takes at least, in seconds, as far as that is known; 0 if it is not."""
        return min(self._took_s, default=self._expected_s)

    @property
    def left_s(self) -> float:
        """The seconds that are left."""
        return max(0.0, self._end - self._clock())

    def turns_left(self, complete: int) -> int:
        """Return how many more turns are planned.

        `complete` is the number of runs that are there, those of earlier commands included.
        """
        if self._took_s:
            planned = round(self.left_s / median(self._took_s))
        else:
            planned = max(1, min(MAX_PLANNED_RUNS, round(math.sqrt(self._total_s / 60))))
            if self.least_s:
                planned = max(1, min(planned, int(self.left_s / self.least_s)))
        return max(planned, MIN_RUNS - complete)

    def expected_s(self, turns: int) -> float:
        """Return how long these turns will take, each as long as those before; 0 if nobody knows."""
        return turns * median(self._took_s or [self._expected_s])

    def remaining_s(self, complete: int) -> float:
        """Return the seconds until the last turn ends: those left, or more if too few turns fit.

        `complete` is the number of runs that are there. 0 if the time is over and nobody knows what a turn
        takes.
        """
        if self._took_s:
            return max(self.left_s, (MIN_RUNS - complete) * median(self._took_s))
        return max(self.left_s, self.turns_left(complete) * self.least_s)

    def begin_turn(self, complete: int) -> float | None:
        """Return the seconds that the next turn may take; None if there is no further turn."""
        turns = self.turns_left(complete)
        self._turn_started = self._clock()
        return self.left_s / turns if turns else None

    def end_turn(self) -> None:
        """Learn how long the turn took."""
        self._took_s.append(max(1.0, self._clock() - self._turn_started))
