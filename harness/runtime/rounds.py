"""The plan of a run: which round over the workloads comes next, and why none does."""

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from statistics import fmean, median

from harness.model.limits import MAX_TRIALS
from harness.model.run import Phase, Trial
from harness.runtime.clock import Clock, duration_text
from harness.runtime.warm_up import DEFAULT_TRIALS, find_warm_up
from harness.statistics.median import median_interval
from harness.words import count_of

MAX_FAILED_TRIALS = 6
"""A workload that has failed this often, and never succeeded, is not waited for any longer."""

ROUNDS_PER_TRIAL = 4
"""How many rounds a run lasts at most, for each trial that it needs, to find steady ones."""

AFTER_COLD = 0.5
"""The second round's time as a part of the first's, which loads classes and compiles: from 0.35 to 0.75."""


class Observer:
    """Follows each trial: a plan, a progress display, a results file. This one ignores them."""

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """A trial is about to start."""

    def finished(self, trial: Trial) -> None:
        """A trial ended, ok or failed."""


class Rounds(Observer, ABC):
    """The rounds to run over all workloads; it observes the trials.

    `totals` has the number of rounds of each phase, as far as it is known beforehand. `stopped` is, in
    one line, why there are no more rounds; None if their number was fixed. `gave_up` is true if that is
    because trials fail.
    """

    totals: Mapping[Phase, int]
    stopped: str | None = None
    gave_up: bool = False

    @abstractmethod
    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield each round's phase and number from 1; the next is requested when one has ended."""

    @abstractmethod
    def outlook(self) -> str:
        """Return what is to come, in a few words."""


class FixedRounds(Rounds):
    """A fixed number of rounds over all workloads: first warm-up, then measured, then of the profile.

    Each trial to come is expected to last as long as the workload's latest one. A workload that has
    not run yet is expected to last as long as the others on average.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        trials: int,
        warm_up: int,
        clock: Clock = time.perf_counter,
        *,
        profile: int = 0,
    ) -> None:
        self.totals = {Phase.WARM_UP: warm_up, Phase.MEASURED: trials}
        if profile:
            self.totals[Phase.PROFILE] = profile
        self._clock = clock
        self._left = dict.fromkeys(workloads, sum(self.totals.values()))
        self._elapsed_s: dict[str, float] = {}
        self._started = 0.0

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield each round's phase and number from 1, in order."""
        for phase, total in self.totals.items():
            for number in range(1, total + 1):
                yield phase, number

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Remember when the trial started."""
        self._started = self._clock()

    def finished(self, trial: Trial) -> None:
        """Learn how long the workload takes, with all that is not timed."""
        self._elapsed_s[trial.workload] = self._clock() - self._started
        self._left[trial.workload] -= 1

    def outlook(self) -> str:
        """Return the time that is left."""
        if not any(self._left.values()):
            return "done"
        if not self._elapsed_s:
            return "nobody knows yet how long it takes"
        average_s = fmean(self._elapsed_s.values())
        left_s = sum(n * self._elapsed_s.get(name, average_s) for name, n in self._left.items())
        return f"{duration_text(left_s)} left"


@dataclass(frozen=True)
class Goal:
    """What the trials of every workload have to reach.

    - `warm_up`: the number of warm-up rounds; None if the trials have to be steady instead.
    - `trials`: how many trials have to count; None for as many as the precision takes.
    - `precision`: the distance of the median from the ends of its 95 % interval, at most, as a
      fraction of the median; None if any distance will do.
    """

    warm_up: int | None = None
    trials: int | None = DEFAULT_TRIALS
    precision: float | None = None

    def __str__(self) -> str:
        steady = "every workload is steady" if self.warm_up is None else None
        precise = self.precision and f"every median is known to ±{percent(self.precision)}"
        return " and ".join(text for text in (steady, precise) if text)

    def missing(self, trials: Sequence[Trial]) -> str | None:
        """Return what a workload's measured trials have not reached; None if they reached everything."""
        first = 1
        if self.warm_up is None:
            needed = self.trials or DEFAULT_TRIALS
            warm_up = find_warm_up(trials, needed)
            if warm_up.usable < needed:
                return f"{warm_up.usable} of {count_of(needed, 'trial')}"
            if warm_up.unsteady:
                return warm_up.unsteady
            first = warm_up.ends_before
        if self.precision is None:
            return None
        width = half_width(
            [
                trial.undisturbed_s
                for trial in trials
                if trial.undisturbed_s is not None and trial.round >= first
            ]
        )
        if width <= self.precision:
            return None
        return f"±{percent(width)}" if math.isfinite(width) else "no interval"


class UntilReached(Rounds):
    """Runs rounds until every workload has reached the goal, or a limit of rounds or of time is met.

    No round starts after `max_rounds`, and none that would end later than `max_s` seconds after the
    first one began if it lasted as long as the last one. But the trials that the goal requires are
    always run, unless the run `has_deadline`; and one round at least is measured. `expected_s` is how long
    that takes according to earlier runs; what is left is told by it until the first round shows more.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        goal: Goal,
        max_s: float,
        clock: Clock = time.perf_counter,
        *,
        has_deadline: bool = False,
        expected_s: float = math.inf,
    ) -> None:
        self.totals = {} if goal.warm_up is None else {Phase.WARM_UP: goal.warm_up}
        self._goal = goal
        self._trials: dict[str, list[Trial]] = {name: [] for name in workloads}
        self._missing: dict[str, str | None] = dict.fromkeys(workloads, "no trial")
        self._max_s = max_s
        self._expected_s = expected_s
        self._max_rounds = ROUNDS_PER_TRIAL * goal.trials if goal.trials else MAX_TRIALS
        required = 1 if has_deadline else goal.trials or 1
        self._min_rounds = required + (goal.warm_up is None)
        self._clock = clock
        self._started = 0.0
        self._round, self._round_started, self._round_s = 0, 0.0, 0.0
        self._trial_started = 0.0
        self._took_s: dict[str, float] = {}
        self._took_before_s: dict[str, float] = {}

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield each round's phase and number from 1; a request for the next decides whether to stop."""
        self._started = self._clock()
        for number in range(1, self.totals.get(Phase.WARM_UP, 0) + 1):
            yield Phase.WARM_UP, number
        for number in count(1):
            self._round, self._round_started = number, self._clock()
            self._took_before_s, self._took_s = self._took_s, {}
            yield Phase.MEASURED, number
            self._round_s = self._clock() - self._round_started
            if reason := self._reason_to_stop(number):
                self.stopped = "; ".join(
                    (f"after {count_of(number, 'round')}, {reason}", *self._remarks())
                )
                return

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Remember when the trial started."""
        self._trial_started = self._clock()

    def finished(self, trial: Trial) -> None:
        """Judge the workload anew, and learn how long it takes with all that is not timed."""
        if trial.phase is Phase.MEASURED:
            self._took_s[trial.workload] = self._clock() - self._trial_started
            own = self._trials[trial.workload]
            own.append(trial)
            self._missing[trial.workload] = self._goal.missing(own)

    def outlook(self) -> str:
        """Return which workloads have not reached the goal, and the time that is left."""
        waiting = self._waiting()
        if not waiting:
            return "no workload is waited for"
        name, missing = next(iter(waiting.items()))
        if len(waiting) == 1:
            return f"{name} needs more trials ({missing}){self._time_left()}"
        return f"{len(waiting)} workloads need more trials (such as {name}: {missing}){self._time_left()}"

    def _reason_to_stop(self, number: int) -> str | None:
        if failure := self._failure():
            self.gave_up = True
            return failure
        if not self._waiting():
            return str(self._goal)
        return self._limit_met(number) if number >= self._min_rounds else None

    def _limit_met(self, number: int) -> str | None:
        if number >= self._max_rounds:
            return "which is the limit"
        if self._round_s > self._seconds_left():
            return "another would not have ended in time"
        return None

    def _remarks(self) -> Iterator[str]:
        if waiting := self._waiting():
            reasons = dict.fromkeys(waiting.values())
            yield "not reached: " + ", ".join(
                f"{', '.join(name for name, why in waiting.items() if why == reason)} ({reason})"
                for reason in reasons
            )
        disturbed = sum(bool(t.disturbed) for own in self._trials.values() for t in own)
        if disturbed:
            yield f"{count_of(disturbed, 'disturbed trial')} left out"

    def _waiting(self) -> dict[str, str]:
        """Return what each workload that has not reached the goal has not reached."""
        return {
            name: missing
            for name, missing in self._missing.items()
            if missing and not self._is_hopeless(name)
        }

    def _is_hopeless(self, workload: str) -> bool:
        trials = self._trials[workload]
        return len(trials) >= MAX_FAILED_TRIALS and all(t.wall_s is None for t in trials)

    def _failure(self) -> str | None:
        """Return why further trials are expected to fail, too; None if they are not."""
        if all(map(self._is_hopeless, self._trials)):
            return "no workload has had a successful trial"
        errors = {own[-1].error for own in self._trials.values() if own}
        if len(self._trials) > 1 and len(errors) == 1 and (error := errors.pop()):
            return f"the last trial of every workload failed with {error}"
        return None

    def _seconds_left(self) -> float:
        return max(0.0, self._started + self._max_s - self._clock())

    def _time_left(self) -> str:
        """Return how long the run goes on at most, or when it stops because its time is over."""
        left_s, rest_s = self._seconds_left(), self._rest_of_round_s()
        round_s = self._clock() - self._round_started + rest_s if self._took_s else 0.0
        required = max(0, self._min_rounds - self._round)
        required_s = self._required_s(rest_s, required * round_s)
        if not left_s:
            rounds = count_of(required, "more round") if required else "this round"
            duration = f", in about {duration_text(required_s)}" if required_s else ""
            return f". Time is up: the run stops after {rounds}{duration}"
        if required_s > left_s:
            return f", about {duration_text(required_s)} left"
        if round_s:
            left_s = min(left_s, rest_s + (self._max_rounds - self._round) * round_s)
        return f", {duration_text(left_s)} left at most"

    def _required_s(self, rest_s: float, later_s: float) -> float:
        """Return how long this round and those required will take, which take `later_s` if they are alike."""
        if not self._is_cold(self._round):
            return rest_s + later_s
        known_s = rest_s + later_s * AFTER_COLD
        expected_s = known_s
        if math.isfinite(self._expected_s):  # the machine may be slower now than it was then
            expected_s = max(known_s / 2, self._started + self._expected_s - self._clock())
        shown = len(self._took_s) / len(self._trials)
        return shown * known_s + (1 - shown) * expected_s

    def _is_cold(self, round_: int) -> bool:
        return round_ == 1 and not self.totals

    def _rest_of_round_s(self) -> float:
        """Return how long the workloads will take that have not run in this round.

        In the first round they are expected to take as long as the others on average. Later they are expected
        to be faster than in the last round by the same factor as the others; those to come count for that,
        too, with what is usual, since some become faster by much and others by nothing.
        """
        before_s, now_s = self._took_before_s, self._took_s
        if not before_s:
            return fmean(now_s.values()) * (len(self._trials) - len(now_s)) if now_s else 0.0
        as_before_s = sum(took_s for name, took_s in before_s.items() if name not in now_s)
        usual_s = as_before_s * (AFTER_COLD if self._is_cold(self._round - 1) else 1.0)
        factor = (sum(now_s.values()) + usual_s) / (sum(before_s.values()) or 1.0)
        return factor * as_before_s


class ThenProfiled(Rounds):
    """Runs rounds, and then, unless these gave up, profile rounds, of which they know nothing.

    Without a number of them, there is one if time is limited and as much is left as the last round took.
    """

    def __init__(
        self,
        before: Rounds,
        workloads: Sequence[str],
        number: int | None,
        seconds_left: Callable[[], float],
        clock: Clock = time.perf_counter,
    ) -> None:
        self.totals = before.totals
        self._current = before
        self._workloads = workloads
        self._number = number
        self._seconds_left = seconds_left
        self._clock = clock

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Yield the rounds before, and then the profile rounds."""
        round_s = 0.0
        for round_ in self._current.rounds():
            started = self._clock()
            yield round_
            round_s = self._clock() - started
        self.stopped = self._current.stopped
        if self._current.gave_up:
            return
        number = self._number
        if number is None:
            left_s = self._seconds_left()
            number = int(math.isfinite(left_s) and round_s <= left_s)
        self._current = FixedRounds(self._workloads, 0, 0, self._clock, profile=number)
        yield from self._current.rounds()

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Tell the rounds that are running."""
        self._current.starting(workload, phase, round_)

    def finished(self, trial: Trial) -> None:
        """Tell the rounds that are running."""
        self._current.finished(trial)

    def outlook(self) -> str:
        """Return what is to come of the rounds that are running."""
        return self._current.outlook()


def half_width(times_s: Sequence[float]) -> float:
    """Return how far the end of a median's 95 % interval is from it, as a fraction of the median.

    It is infinite if there are too few times for an interval.
    """
    ordered = sorted(times_s)
    interval = median_interval(ordered)
    if interval is None:
        return math.inf
    middle = median(ordered)
    return interval.max_distance(middle) / middle if middle else 0.0


def percent(fraction: float) -> str:
    """Return `2%` or `3.4%`, rounded up, so that a value above a limit never looks equal to it."""
    return f"{math.ceil(round(fraction * 1000, 6)) / 10:.1f}".removesuffix(".0") + "%"
