"""Progress on standard error: which trial or task of how many, and how much time is left."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TextIO

from harness.model.run import Phase, Status, Trial
from harness.runtime.precision import UntilPrecise
from harness.runtime.trials import Clock, FixedRounds, Observer
from harness.terminal import begin_line, continue_line, end_line, replace_line, say

MINUTE, HOUR = 60, 3600


def duration_text(seconds: float) -> str:
    """Return seconds as text for people: `42 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"


class TrialProgress(Observer, ABC):
    """An observer that prints a line for each trial: which it is, how long it took, what follows.

    `rounds` is the number of rounds of each phase; a phase without a known number is left out.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        rounds: Mapping[Phase, int],
        stream: TextIO | None = None,
    ) -> None:
        self._rounds = rounds
        self._total = len(workloads) * sum(rounds.values()) if len(rounds) == len(Phase) else None
        self._width = max(map(len, workloads), default=0)
        self._stream = stream
        self._number = 0

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Print which trial starts."""
        self._number += 1
        number = f"{self._number:{len(str(self._total or 100))}}"
        begin_line(
            f"[{_of_total(number, self._total)}] {workload:{self._width}}  "
            f"{phase} {_of_total(round_, self._rounds.get(phase))}  ",
            self._stream,
        )

    def finished(self, trial: Trial) -> None:
        """Print the time or the error, and the outlook."""
        failed = trial.status is Status.FAILED
        outcome = f"FAILED: {trial.error}" if failed else f"{trial.wall_s:8.3f} s"
        continue_line(f"{outcome}   {self.outlook()}", self._stream)

    @abstractmethod
    def outlook(self) -> str:
        """Return what is to come after the trial that ended last."""


def _of_total(number: object, total: int | None) -> str:
    return f"{number}/{total}" if total else str(number)


class PlanProgress(TrialProgress):
    """Progress of a plan, with an estimate of the time that is left.

    Each trial to come is expected to last as long as the workload's latest one. A workload that has
    not run yet is expected to last as long as the others on average.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        plan: FixedRounds,
        clock: Clock = time.perf_counter,
        stream: TextIO | None = None,
    ) -> None:
        rounds = {Phase.WARM_UP: plan.warm_up, Phase.MEASURED: plan.trials}
        super().__init__(workloads, rounds, stream)
        self._clock = clock
        self._left = dict.fromkeys(workloads, plan.total_rounds)
        self._elapsed: dict[str, float] = {}
        self._started = 0.0

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Print which trial starts."""
        self._started = self._clock()
        super().starting(workload, phase, round_)

    def finished(self, trial: Trial) -> None:
        """Print the time or the error, and the time that is left."""
        self._elapsed[trial.workload] = self._clock() - self._started
        self._left[trial.workload] -= 1
        super().finished(trial)

    def outlook(self) -> str:
        """Return the time that is left."""
        left = self.seconds_left()
        return f"{duration_text(left)} left" if left else "done"

    def seconds_left(self) -> float:
        """Return the estimate in seconds; 0 after the last trial."""
        average = sum(self._elapsed.values()) / max(1, len(self._elapsed))
        return sum(n * self._elapsed.get(name, average) for name, n in self._left.items())


class PrecisionProgress(TrialProgress):
    """Progress of rounds until all medians are precise, with the time limit."""

    def __init__(
        self,
        workloads: Sequence[str],
        plan: UntilPrecise,
        stream: TextIO | None = None,
    ) -> None:
        super().__init__(workloads, {Phase.WARM_UP: plan.warm_up}, stream)
        self._plan = plan

    def outlook(self) -> str:
        """Return the least precise median, and the time that is left at most."""
        left = f"{duration_text(self._plan.seconds_left)} left at most"
        widest = self._plan.widest
        return f"widest is {widest}, {left}" if widest else left


class StatusLine:
    """A line on a stream, by default standard error, that a terminal shows in place of the line before."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._is_terminal = self._stream is not None and self._stream.isatty()

    def show(self, line: str, *, is_news: bool) -> None:
        """Show the line; where lines cannot be replaced, only if it is news."""
        if self._is_terminal:
            replace_line(line, self._stream)
        elif is_news:
            say(line, self._stream)

    def erase(self) -> None:
        """Remove the line from a terminal."""
        end_line()


@contextmanager
def task_progress(
    what: str,
    total: int,
    done: Callable[[], int],
    *,
    clock: Clock = time.perf_counter,
    stream: TextIO | None = None,
    interval_s: float = 1.0,
) -> Iterator[None]:
    """Print how many of `total` tasks are `done`, every `interval_s` inside the `with` block.

    On a terminal the line is rewritten in place; elsewhere a line is printed for every tenth of the
    tasks.
    """
    status = StatusLine(stream)
    started = clock()
    ended = threading.Event()

    def show() -> None:
        shown_tenths = 0
        while not ended.wait(interval_s):
            count = done()
            tenths = 10 * count // max(1, total)
            if count:
                left = duration_text((clock() - started) / count * (total - count))
                line = f"{what}: {count} of {total} tasks, {left} left"
                status.show(line, is_news=tenths != shown_tenths)
                shown_tenths = tenths

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        status.erase()
