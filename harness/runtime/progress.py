"""Progress for people, on the terminal's error stream: which of how many, the time left."""

from __future__ import annotations

import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from harness.model.run import Phase, Status, Trial
from harness.runtime.precision import UntilPrecise
from harness.runtime.trials import Clock, Plan

MINUTE, HOUR = 60, 3600


def duration(seconds: float) -> str:
    """Seconds as people say them: `42 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"


class TrialProgress(ABC):
    """A line a trial: which it is, how long it took, and what is to come.

    `rounds` says how many there are of a phase, as far as that is known.
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
        self._stream = stream or sys.stderr
        self._number = 0

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Say what runs now."""
        self._number += 1
        number = f"{self._number:{len(str(self._total or 100))}}"
        self._say(
            f"[{_of(number, self._total)}] {workload:{self._width}}  "
            f"{phase} {_of(round_, self._rounds.get(phase))}  "
        )

    def finished(self, trial: Trial) -> None:
        """Say how it went, and what is to come."""
        said = f"{trial.wall_s:8.3f} s" if trial.status is Status.OK else f"FAILED: {trial.error}"
        self._say(f"{said}   {self.outlook()}\n")

    @abstractmethod
    def outlook(self) -> str:
        """What is to come, as known after the trial that ended last."""

    def _say(self, text: str) -> None:
        # Whoever watched may have gone, with the terminal or with the JVM; the run goes on.
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()


def _of(number: object, total: int | None) -> str:
    return f"{number}/{total}" if total else str(number)


class PlanProgress(TrialProgress):
    """Of a plan: about how long the rest will take.

    That is the sum over the trials to come of each workload's latest time; a workload that has not
    run yet counts as the average of those that have.
    """

    def __init__(
        self,
        workloads: Sequence[str],
        plan: Plan,
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
        """Say what runs now."""
        self._started = self._clock()
        super().starting(workload, phase, round_)

    def finished(self, trial: Trial) -> None:
        """Say how it went, and how long the rest will take."""
        self._elapsed[trial.workload] = self._clock() - self._started
        self._left[trial.workload] -= 1
        super().finished(trial)

    def outlook(self) -> str:
        """The time that is left."""
        left = self.seconds_left()
        return f"{duration(left)} left" if left else "done"

    def seconds_left(self) -> float:
        """The estimate, in seconds; 0 when nothing is left."""
        average = sum(self._elapsed.values()) / max(1, len(self._elapsed))
        return sum(n * self._elapsed.get(name, average) for name, n in self._left.items())


class PrecisionProgress(TrialProgress):
    """Of rounds until all is precise: how precise it is, and how much time there is at most."""

    def __init__(
        self,
        workloads: Sequence[str],
        plan: UntilPrecise,
        stream: TextIO | None = None,
    ) -> None:
        super().__init__(workloads, {Phase.WARM_UP: plan.warm_up}, stream)
        self._plan = plan

    def outlook(self) -> str:
        """The median that is known worst, and the time that is left at most."""
        left = f"{duration(self._plan.seconds_left)} left at most"
        widest = self._plan.widest
        return f"widest is {widest}, {left}" if widest else left


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
    """While entered, say every `interval_s` how many of `total` tasks `done` counts.

    On a terminal the line is rewritten in place; elsewhere it comes at every tenth of the way.
    """
    out = stream or sys.stderr
    started = clock()
    over = threading.Event()

    def show() -> None:
        shown_tenths = 0
        while not over.wait(interval_s):
            count = done()
            tenths = 10 * count // max(1, total)
            if count == 0 or (not out.isatty() and tenths == shown_tenths):
                continue
            shown_tenths = tenths
            left = duration((clock() - started) / count * (total - count))
            line = f"{what}: {count} of {total} tasks, {left} left"
            out.write(f"\r\x1b[K{line}" if out.isatty() else f"{line}\n")
            out.flush()

    watcher = threading.Thread(target=show, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        if out.isatty():
            out.write("\r\x1b[K")
            out.flush()
