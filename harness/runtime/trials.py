"""The wait before the first trial, the order of trials, their clock, and what happens if one fails.

This module does not depend on Spark: a `TrialRunner` is anything that can be prepared, run and checked.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from harness.model.errors import BadInput, SparkLost
from harness.model.interference import Nodes
from harness.model.run import Ending, Phase, Status, Trial, timestamp
from harness.model.task_metrics import TaskMetrics, WireBytes
from harness.model.timeline import Timeline
from harness.runtime.clock import Clock
from harness.runtime.rounds import Observer, Rounds
from harness.terminal import first_line, show

MAX_ERROR_LENGTH = 500

HOLD_FILE = "CLUSTERLIFT_HOLD_FILE"
"""The environment variable that names a file to create and to wait for."""
POLL_S = 0.05

MIN_TRIAL_S = 1.0
"""A trial executes its workload as often as it takes to last about this long.

One of 0.17 s varied by 19 % from trial to trial, eight of them by 11 %: docs/noise.md has the figures.
"""

MAX_EXECUTIONS = 10
"""Each execution is prepared and checked, outside the time that is measured; more would take too long."""


@dataclass(frozen=True)
class TrialMetrics:
    """What was observed while a trial ran; the fields are those of Trial."""

    tasks: TaskMetrics | None = None
    wire: WireBytes | None = None
    interference: Nodes | None = None
    disturbed: str | None = None
    timeline: Timeline | None = None


class PreparedTrial(Protocol):
    """Prepared executions of a workload, one or more."""

    def run(self) -> None:
        """Force the computation of every execution, one after the other. Only this is timed."""

    def metrics(self) -> TrialMetrics:
        """Return what was observed of `run`. It is called right after it.

        Quantities are averages over its executions; the timeline is that of all executions.
        """

    def check(self) -> None:
        """Compare the answer of every execution with the oracle. Raise WrongAnswer if they differ."""

    def note(self) -> str | None:
        """Return what was unusual during `run` and may explain its time; None if nothing was."""


class TrialRunner(Protocol):
    """A workload that can be executed again and again."""

    @property
    def name(self) -> str: ...

    def prepare(self, job_group: str, executions: int) -> PreparedTrial:
        """Do everything that is not timed. Raise SparkLost if no further trial is possible."""


def hold_message(file: str) -> str:
    """Return the line that says that everything is ready for the first trial."""
    return f"ready for the first trial; waiting until {file} is removed"


def wait_for_release() -> None:
    """Create the file that CLUSTERLIFT_HOLD_FILE names, print a line, and wait until it is removed.

    So whoever submits a benchmark can prepare what trials must find, as the lab limits the workers'
    processors once Spark has started. Without the variable there is nothing to wait for. Raises BadInput
    if the file cannot be created.
    """
    file = os.environ.get(HOLD_FILE)
    if not file:
        return
    try:
        Path(file).touch()
    except OSError as error:
        raise BadInput(f"{HOLD_FILE} is {file}: {error.strerror}") from error
    try:
        show(hold_message(file))
        while Path(file).exists():
            time.sleep(POLL_S)
    finally:
        Path(file).unlink(missing_ok=True)  # it is still there after an interrupt


def run_trials(
    runners: Sequence[TrialRunner],
    plan: Rounds,
    observers: Sequence[Observer],
    clock: Clock = time.perf_counter,
) -> Ending:
    """Run every workload once per round, so that drift of the machine affects all of them alike.

    The plan and the observers, in this order, receive failed trials, too, and the run continues after
    them. KeyboardInterrupt (Ctrl-C, or SIGTERM within `interruptible`) and SparkLost end the run; the
    observers keep the trials that ended before.
    """
    everyone = (plan, *observers)
    executions = {runner.name: 1 for runner in runners}
    try:
        for phase, round_ in plan.rounds():
            for runner in runners:
                for observer in everyone:
                    observer.starting(runner.name, phase, round_)
                trial, lost = _run_trial(runner, phase, round_, executions[runner.name], clock)
                for observer in everyone:
                    observer.finished(trial)
                if lost:
                    return Ending.SPARK_LOST
                executions[runner.name] = next_executions(trial)
    except KeyboardInterrupt:
        return Ending.INTERRUPTED
    return Ending.COMPLETED


def next_executions(trial: Trial) -> int:
    """Return how many executions the workload's next trial needs to last about MIN_TRIAL_S.

    The number never falls, so that it is the same for all trials as soon as the workload is warm.
    """
    if trial.wall_s is None:
        return trial.executions
    needed = math.ceil(MIN_TRIAL_S / max(trial.wall_s, MIN_TRIAL_S / MAX_EXECUTIONS))
    return max(trial.executions, needed)


def _run_trial(
    runner: TrialRunner, phase: Phase, round_: int, executions: int, clock: Clock
) -> tuple[Trial, bool]:
    """Return one trial, and whether it lost Spark."""
    group = f"{runner.name} {phase} {round_}"
    trial = partial(
        Trial,
        workload=runner.name,
        phase=phase,
        round=round_,
        started_at=timestamp(),
        job_group=group,
        executions=executions,
    )
    try:
        prepared = runner.prepare(group, executions)
        start = clock()
        prepared.run()
        wall_s = (clock() - start) / executions
        metrics = prepared.metrics()
        prepared.check()
        note = prepared.note()
    except Exception as error:  # noqa: BLE001  whatever a workload raises is that trial's outcome
        failed = trial(status=Status.FAILED, error=error_line(error))
        return failed, isinstance(error, SparkLost)
    return trial(status=Status.OK, wall_s=wall_s, note=note, **vars(metrics)), False


def error_line(error: BaseException) -> str:
    """Return an error's type and the first line of its message, cut to MAX_ERROR_LENGTH."""
    try:
        message = first_line(str(error))
    except Exception:  # noqa: BLE001  a Java error asks the JVM for its message, which may be gone
        message = ""
    line = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 1] + "…"
