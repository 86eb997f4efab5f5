"""The plan of a run: which round over the workloads comes next, and why none does."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean

from harness.base.clock import Clock, duration_text
from harness.base.words import count_of, names_by_text
from harness.model.cache import why_not_cold
from harness.model.run import Phase, Trial
from harness.trials.counting import DEFAULT_TRIALS, find_warm_up

MAX_FAILED_TRIALS = 6
"""A workload is not waited for after this many trials, if all failed, or were warm and had to be cold."""

AFTER_WARM_UP = 1.5
"""How long two further rounds take at most, in lengths of the warm-up round before them."""

ROUNDS_PER_TRIAL = 4
"""How many rounds a run lasts at most, for each trial that it needs, to find steady ones."""

MAX_ROUNDS_FOR_ONE = 2
"""How many rounds a run has at most for each of a fixed number, to replace disturbed trials."""


class Rounds:
    """The rounds over all workloads: warm-up, then measured, then of the profile.

    Their number is fixed if `warm_up` is, the number of warm-up rounds. Else they go on until `trials` of
    every workload count and are steady, or a limit of rounds or of time is met: no round starts that would
    end later than `max_s` seconds after the first one began if it lasted as long as the last one, except for
    those that this many trials take in any case. A fixed number becomes less if the rounds would end later
    than `fewer_after_s` seconds after the first one began, but one of either kind is always made. The number
    grows, to at most twice as many, if trials were disturbed and further rounds fit into that time.

    If the answers of some workloads are still `unproven` then (this function returns their number), a proof
    round of these workloads follows. `profile` is the number of profile rounds. None means one if the number
    of the others is fixed, and time is left.

    `total` is the number of all trials, None if it is not known yet. `stopped` is, in one line, why there are
    no more rounds; None if their number was fixed, and none was left out.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        warm_up: int | None = None,
        trials: int = DEFAULT_TRIALS,
        *,
        max_s: float = math.inf,
        profile: int | None = 0,
        fewer_after_s: float = math.inf,
        unproven: Callable[[], int] = lambda: 0,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.is_fixed = warm_up is not None
        self.stopped: str | None = None
        self.total: int | None = None
        self._trials: dict[str, list[Trial]] = {name: [] for name in workloads}
        self._missing: dict[str, str | None] = dict.fromkeys(workloads, "no trial")
        self._warm_up = warm_up or 0
        self._needed = trials
        self._max_s = max_s
        self._fewer_after_s = fewer_after_s
        self._profile = profile
        self._unproven = unproven
        self._clock = clock
        self._started = clock()
        self._last_end = self._started
        self._took_s: list[float] = []
        self._round = 0
        if self.is_fixed:
            self.total = len(workloads) * (self._warm_up + trials + (profile or 0))
            if not self._warm_up:
                self.total += unproven()

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield each round's phase and number from 1. A request for the next decides whether to stop."""
        self._started = self._clock()
        self._last_end = self._started
        warm_up = 0
        round_s = 0.0
        while warm_up < self._warm_up and self._has_time_for_warm_up(round_s):
            warm_up += 1
            began = self._clock()
            yield Phase.WARM_UP, warm_up
            round_s = self._clock() - began
        while not self._is_over(round_s):
            self._round += 1
            if self.is_fixed and self._round > self._needed:
                self.total = (self.total or 0) + len(self._trials)
            began = self._clock()
            yield Phase.MEASURED, self._round
            round_s = self._clock() - began
        if self.is_fixed and (warm_up < self._warm_up or self._round < self._needed):
            self.stopped = (
                f"{warm_up} of {count_of(self._warm_up, 'warm-up round')} and {self._round} of "
                f"{count_of(self._needed, 'measured round')}, so that more runs fit into the time"
            )
        unproven = self._unproven()
        if unproven:
            self.total = len(self._took_s) + unproven + (self._profile or 0) * len(self._trials)
            yield Phase.PROOF, 1
        profile = self._profile_rounds(round_s)
        self.total = len(self._took_s) + profile * len(self._trials)
        for number in range(1, profile + 1):
            yield Phase.PROFILE, number

    def proves(self, phase: Phase, number: int) -> bool:
        """Return whether trials of this round, which never count, are to prove every row of the answers."""
        first = Phase.WARM_UP if self.is_fixed else Phase.MEASURED
        return phase is Phase.PROOF or (phase is first and number == 1)

    def _profile_rounds(self, round_s: float) -> int:
        """Return how many rounds of the profile there are after a last round of this length."""
        is_asked_for = self._profile is not None
        if self._failure() and not (is_asked_for and self.is_fixed):
            return 0
        if self._profile is not None:
            return self._profile
        has_time = round_s <= self._seconds_left() < math.inf
        return int(self.is_fixed and has_time)

    def finished(self, trial: Trial) -> None:
        """Judge the workload anew, and learn how long a trial takes with all that is not timed."""
        now = self._clock()
        self._took_s.append(now - self._last_end)
        self._last_end = now
        if trial.phase is Phase.MEASURED:
            own = self._trials[trial.workload]
            own.append(trial)
            self._missing[trial.workload] = self._lack(own)

    def _lack(self, trials: Sequence[Trial]) -> str | None:
        """Return what a workload's measured trials lack to be steady; None if they are."""
        found = find_warm_up(trials, self._needed)
        if found.usable < self._needed:
            return f"{found.usable} of {count_of(self._needed, 'trial')}"
        return found.unsteady

    def outlook(self) -> str:
        """Return which workloads need more trials, and the time that is left."""
        left = duration_text(self._left_s())
        if self.total == len(self._took_s):
            return "done"
        if self.total is not None:
            return f"this run: {left} left"
        waiting = self._waiting()
        if not waiting:
            return "no workload is waited for"
        name, missing = next(iter(waiting.items()))
        needy = f"{name} needs more trials ({missing})"
        if len(waiting) > 1:
            needy = f"{len(waiting)} workloads need more trials (such as {name}: {missing})"
        return f"{needy}; this run: {left} left at most"

    def _left_s(self) -> float:
        """Return how long the rounds go on at most, if all trials take as long as the others on average."""
        if self.total is not None:
            return fmean(self._took_s) * (self.total - len(self._took_s))
        longest_s = min(self._seconds_left(), self._seconds_until(self._max_rounds))
        return max(longest_s, self._seconds_until(max(self._round, self._min_rounds)))

    def _seconds_until(self, rounds: int) -> float:
        """Return how long the trials take that are to come until the end of this many rounds."""
        trials = len(self._trials) * rounds - len(self._took_s)
        return fmean(self._took_s) * max(0, trials)

    @property
    def _min_rounds(self) -> int:
        return self._needed + 1

    @property
    def _max_rounds(self) -> int:
        return ROUNDS_PER_TRIAL * self._needed

    def _is_over(self, round_s: float) -> bool:
        """Return whether no further round is measured after one that took `round_s` seconds."""
        if not self._round:
            return False
        if self.is_fixed:
            is_enough = self._round >= self._needed and not self._may_replace_trials()
            return is_enough or round_s > self._seconds_left_for_rounds()
        reason = self._reason_to_stop(round_s)
        if reason:
            rounds = f"after {count_of(self._round, 'round')}, {reason}"
            self.stopped = "; ".join([rounds, *self._remarks()])
        return reason is not None

    def _may_replace_trials(self) -> bool:
        """Return whether a further round may take the place of disturbed trials, if it fits into the time."""
        if math.isinf(self._fewer_after_s) or self._round >= MAX_ROUNDS_FOR_ONE * self._needed:
            return False
        for name, trials in self._trials.items():
            has_some = any(trial.disturbed is not None for trial in trials)
            counting = sum(trial.undisturbed_s is not None for trial in trials)
            if has_some and counting < self._needed and not self._is_hopeless(name):
                return True
        return False

    def _has_time_for_warm_up(self, round_s: float) -> bool:
        """Return whether another warm-up round, after one of this length, leaves time to measure one.

        The first one is always made. Java's compiler is at work for most of it, so the next two rounds take
        little more than it alone.
        """
        return not round_s or AFTER_WARM_UP * round_s <= self._seconds_left_for_rounds()

    def _seconds_left_for_rounds(self) -> float:
        return max(0.0, self._started + self._fewer_after_s - self._clock())

    def _seconds_left(self) -> float:
        return max(0.0, self._started + self._max_s - self._clock())

    def _reason_to_stop(self, round_s: float) -> str | None:
        failure = self._failure()
        if failure:
            return failure
        if not self._waiting():
            return "every workload is steady"
        if self._round >= self._max_rounds:
            return "which is the limit"
        if self._round >= self._min_rounds and round_s > self._seconds_left():
            return "another would not have ended in time"
        return None

    def _remarks(self) -> Iterator[str]:
        waiting = names_by_text(self._waiting())
        if waiting:
            found = [f"{', '.join(names)} ({why})" for why, names in waiting.items()]
            yield f"not reached: {', '.join(found)}"
        disturbed = 0
        for trials in self._trials.values():
            disturbed += sum(trial.disturbed is not None for trial in trials)
        if disturbed:
            yield f"{count_of(disturbed, 'disturbed trial')} left out"

    def _waiting(self) -> dict[str, str]:
        """Return what each workload lacks that needs more trials."""
        return {
            name: missing
            for name, missing in self._missing.items()
            if missing and not self._is_hopeless(name)
        }

    def _is_hopeless(self, workload: str) -> bool:
        trials = self._trials[workload]
        can_count = [trial.wall_s is not None and not why_not_cold(trial) for trial in trials]
        return len(trials) >= MAX_FAILED_TRIALS and not any(can_count)

    def _failure(self) -> str | None:
        """Return why further trials are expected to fail, too; None if they are not."""
        if all(map(self._is_hopeless, self._trials)):
            return "no workload has had a trial that counts"
        errors = {own[-1].error for own in self._trials.values() if own}
        error = errors.pop() if len(errors) == 1 else None
        if error and len(self._trials) > 1:
            return f"the last trial of every workload failed with {error}"
        return None
