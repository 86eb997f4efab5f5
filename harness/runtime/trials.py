"""The order of trials, the clock, and what happens when one fails.

Knows nothing of Spark: a `TrialRunner` is anything that can be prepared, run and checked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

from harness.model.errors import SparkLost
from harness.model.run import Ending, Phase, Status, Trial, timestamp
from harness.model.task_metrics import TaskMetrics, WireBytes

Clock = Callable[[], float]
"""Seconds from an arbitrary origin, never going back."""

MAX_ERROR_LENGTH = 500


class PreparedTrial(Protocol):
    """One prepared execution of a workload."""

    def run(self) -> None:
        """Force the computation. This alone is timed."""

    def metrics(self) -> tuple[TaskMetrics | None, WireBytes | None]:
        """Where the time of `run` went, and what went over the links; asked for right after it."""

    def check(self) -> None:
        """Hold the answer that `run` left against the oracle; raises WrongAnswer."""

    def note(self) -> str | None:
        """What was odd while it ran and may explain its time; None if nothing."""


class TrialRunner(Protocol):
    """A workload as the runner sees it."""

    @property
    def name(self) -> str: ...

    def prepare(self, job_group: str) -> PreparedTrial:
        """Everything that is not to be timed. Raises SparkLost if no trial can follow."""


class Rounds(Protocol):
    """Which rounds to run over all workloads: first warm-up, then measured."""

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Each round's phase and number from 1; it is asked for the next when one has ended."""

    @property
    def stopped(self) -> str | None:
        """Why no more rounds came, in a line; None if their number was known from the start."""


@dataclass(frozen=True)
class Plan:
    """How many rounds over all workloads, whatever they bring."""

    trials: int
    warm_up: int
    stopped: ClassVar[None] = None

    def rounds(self) -> Iterator[tuple[Phase, int]]:
        """Each round's phase and number from 1, in order."""
        for number in range(1, self.warm_up + 1):
            yield Phase.WARM_UP, number
        for number in range(1, self.trials + 1):
            yield Phase.MEASURED, number

    @property
    def total_rounds(self) -> int:
        """Warm-up and measured rounds together."""
        return self.warm_up + self.trials


class Observer(Protocol):
    """Is told of each trial: a progress display, a results file."""

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        """A trial is about to start."""

    def finished(self, trial: Trial) -> None:
        """A trial ended, ok or failed."""


def run_trials(
    jobs: Sequence[TrialRunner],
    plan: Rounds,
    observers: Sequence[Observer],
    clock: Clock = time.perf_counter,
) -> Ending:
    """Run every job once a round, so that drift of the machine hits all of them alike.

    A trial that fails is told to the observers and the others go on. KeyboardInterrupt (Ctrl-C, or
    SIGTERM through `interruptible`) and SparkLost end the run; the observers have what was measured.
    """
    try:
        for phase, round_ in plan.rounds():
            for job in jobs:
                for observer in observers:
                    observer.starting(job.name, phase, round_)
                trial, lost = _run_trial(job, phase, round_, clock)
                for observer in observers:
                    observer.finished(trial)
                if lost:
                    return Ending.SPARK_LOST
    except KeyboardInterrupt:
        return Ending.INTERRUPTED
    return Ending.COMPLETED


def _run_trial(job: TrialRunner, phase: Phase, round_: int, clock: Clock) -> tuple[Trial, bool]:
    """One trial, and whether Spark was lost in it."""
    started_at = timestamp()
    group = f"{job.name} {phase} {round_}"
    wall_s = None
    try:
        attempt = job.prepare(group)
        start = clock()
        attempt.run()
        wall_s = clock() - start
        tasks, wire = attempt.metrics()
        attempt.check()
        note = attempt.note()
    except Exception as error:  # noqa: BLE001  whatever a workload raises is that trial's outcome
        failed = Trial(
            job.name, phase, round_, Status.FAILED, started_at, None, one_line(error), group
        )
        return failed, isinstance(error, SparkLost)
    trial = Trial(
        job.name, phase, round_, Status.OK, started_at, wall_s, None, group, note, tasks, wire
    )
    return trial, False


def one_line(error: BaseException) -> str:
    """An error's type and the first line that says something, cut to a readable length."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001  a Java error asks the JVM for its text, which may be gone
        text = ""
    said = next((line.strip() for line in text.splitlines() if line.strip()), "")
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return text if len(text) <= MAX_ERROR_LENGTH else text[: MAX_ERROR_LENGTH - 1] + "…"
