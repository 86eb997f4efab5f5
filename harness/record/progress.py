"""Progress for people, on the terminal's error stream: which of how many, the time left."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from harness.model import Phase, Status, Trial
from harness.record.runner import Clock, Plan

MINUTE, HOUR = 60, 3600


def duration(seconds: float) -> str:
    """Seconds as people say them: `42 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"


class TrialProgress:
    """A line a trial: its number of all, how long it took, about how long the rest will.

    The time left is the sum over the trials to come of each workload's latest time; a workload that
    has not run yet counts as the average of those that have.
    """

    def __init__(
        self,
        workloads: tuple[str, ...],
        plan: Plan,
        clock: Clock = time.perf_counter,
        stream: TextIO | None = None,
    ) -> None:
        self._left = dict.fromkeys(workloads, plan.total_rounds)
        self._total = len(workloads) * plan.total_rounds
        self._warm_up = len(workloads) * plan.warm_up
        self._rounds = {Phase.WARM_UP: plan.warm_up, Phase.MEASURED: plan.trials}
        self._elapsed: dict[str, float] = {}
        self._width = max(map(len, workloads), default=0)
        self._clock = clock
        self._stream = stream or sys.stderr
        self._started = 0.0
        self._number = 0

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """Say what runs now."""
        self._number += 1
        self._started = self._clock()
        self._say(
            f"[{self._number:{len(str(self._total))}}/{self._total}] {workload:{self._width}}  "
            f"{phase} {round_}/{self._rounds[phase]}  "
        )

    def finished(self, trial: Trial) -> None:
        """Say how it went, and how long the rest will take."""
        self._elapsed[trial.workload] = self._clock() - self._started
        self._left[trial.workload] -= 1
        said = f"{trial.wall_s:8.3f} s" if trial.status is Status.OK else f"FAILED: {trial.error}"
        left = self.seconds_left()
        self._say(f"{said}   {f'{duration(left)} left' if left else 'done'}\n")

    def _say(self, text: str) -> None:
        # Whoever watched may have gone, with the terminal or with the JVM; the run goes on.
        with suppress(OSError):
            self._stream.write(text)
            self._stream.flush()

    def seconds_left(self) -> float:
        """The estimate, in seconds; 0 when nothing is left."""
        average = sum(self._elapsed.values()) / max(1, len(self._elapsed))
        return sum(n * self._elapsed.get(name, average) for name, n in self._left.items())


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
