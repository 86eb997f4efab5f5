"""The waits for an experiment, the order of trials, their clock, and what happens if one fails.

This module does not depend on Spark: a `TrialRunner` is anything that can be prepared, run and checked.
"""

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, Self

from harness.base.clock import Clock
from harness.base.errors import BadInput, SparkLost
from harness.base.failure_reason import cause_or_first_line
from harness.base.terminal import say, show
from harness.model.answer import RowsDigest, distinct
from harness.model.interference import EarlierTrials
from harness.model.run import Ending, Phase, Status, Trial, timestamp
from harness.trials.disturbances import judged
from harness.trials.order import in_turns, shuffled
from harness.trials.rounds import Rounds

MAX_ERROR_LENGTH = 500

HOLD_FILE = "CLUSTERLIFT_HOLD_FILE"
"""The environment variable that names a file to create and to wait for."""
DROP_CACHES = "drop caches\n"
"""A request to put what hosts keep of files out of memory; names of configurations have no line ends."""
POLL_S = 0.05

MIN_TRIAL_S = 1.0
"""A trial executes its workload as often as it takes to last about this long.

One of 0.17 s varied by 19 % from trial to trial, eight of them by 11 %: docs/noise.md has the figures.
"""

MAX_EXECUTIONS = 10
"""Each execution is prepared and checked, outside the time that is measured; more would take too long."""


class PreparedTrial(Protocol):
    """Prepared executions of a workload, one or more. Leaving its `with` block removes what they wrote."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None: ...

    def run(self) -> None:
        """Force the computation of every execution, one after the other. Only this is timed."""

    def observed(self, trial: Trial) -> Trial:
        """Return the trial with what was observed of `run`. It is called right after it.

        Quantities are averages over its executions; timeline and profile are of all executions.
        """

    def parts(self, trial: Trial) -> Sequence[Trial]:
        """Return the checked trials of what ran within this one; none of most. `check` comes next."""

    def check(self) -> Iterable[RowsDigest] | None:
        """Compare the answer of every execution with the oracle. Raise WrongAnswer if they differ.

        What no oracle knows is returned, to be compared with other trials.
        """


class TrialRunner(Protocol):
    """A workload that can be executed again and again."""

    @property
    def name(self) -> str: ...

    def prepare(self, job_group: str, executions: int, *, profiled: bool = False) -> PreparedTrial:
        """Do everything that is not timed. Raise SparkLost if no further trial is possible.

        A `profiled` trial is asked for the stacks of its tasks.
        """


def wait_for_release(request: str) -> bool:
    """Wait until the file that CLUSTERLIFT_HOLD_FILE names, with a request in it, is removed.

    So an experiment can do what is needed before trials: set the links for the turn of a configuration, whose
    name is the request, or DROP_CACHES. Return False if no experiment has set the variable. Raises BadInput
    if the file cannot be written.
    """
    file = os.environ.get(HOLD_FILE)
    if not file:
        return False
    try:
        written = Path(f"{file}.new")
        written.write_text(request)
        written.replace(file)  # never seen half-written
    except OSError as error:
        raise BadInput(f"{HOLD_FILE} is {file}: {error.strerror}") from error
    try:
        if request != DROP_CACHES:
            show(f"ready for trials of {request}; waiting until {file} is removed")
        while Path(file).exists():
            time.sleep(POLL_S)
    finally:
        Path(file).unlink(missing_ok=True)  # it is still there after an interrupt
    return True


class Side(Protocol):
    """A configuration with its workloads, which takes its turn in every round."""

    @property
    def runners(self) -> Sequence[TrialRunner]: ...

    @property
    def label(self) -> str:
        """The prefix of the names of workloads if there are several sides; else empty."""

    def begin(self) -> None:
        """Wait until the configuration is in force. Raise SparkLost if no trial is possible."""

    def finished(self, trial: Trial) -> None:
        """A trial of this side ended, ok or failed."""


def run_trials(
    sides: Sequence[Side],
    plan: Rounds,
    seed: str,
    progress: Callable[[Trial], object] = lambda _: None,
    clock: Clock = time.perf_counter,
) -> Ending:
    """Run every workload of every side once per round, so that drift of the machine affects all alike.

    The seed has another order of the workloads for each round, which is that of every side; the sides take
    turns there and back. A side receives each trial as it was measured; then the plan and `progress` receive
    it with the verdict whether something disturbed it, under label and name. The run continues after failed
    trials. KeyboardInterrupt (Ctrl-C, or SIGTERM within `interruptible`) and SparkLost end it.
    """
    executions = {side.label + runner.name: 1 for side in sides for runner in side.runners}
    turns = [(side, EarlierTrials()) for side in sides]
    current: Side | None = None
    try:
        for number, (phase, round_) in enumerate(plan.rounds(), 1):
            for side, earlier in in_turns(turns, seed, number):
                if side is not current:
                    side.begin()
                    current = side
                for runner in shuffled(side.runners, seed, number):
                    name = side.label + runner.name
                    group = f"{name} {phase} {round_}"
                    trials, lost = _run_trial(runner, group, phase, round_, executions[name], clock)
                    for trial in trials:
                        side.finished(trial)
                        workload = side.label + trial.workload
                        verdict = replace(judged(trial, earlier), workload=workload)
                        plan.finished(verdict)
                        progress(verdict)
                    if lost:
                        return Ending.SPARK_LOST
                    executions[name] = next_executions(trials[0])
    except KeyboardInterrupt:
        return Ending.INTERRUPTED
    except SparkLost as error:
        say(error_line(error))
        return Ending.SPARK_LOST
    return Ending.COMPLETED


def next_executions(trial: Trial) -> int:
    """Return how many executions the workload's next trial needs to last about MIN_TRIAL_S.

    The number never falls, so that it is the same for all trials as soon as the workload is warm.
    """
    if (
        trial.wall_s is None or trial.to_be_cold
    ):  # what the first one read, the next would find in memory
        return trial.executions
    needed = math.ceil(MIN_TRIAL_S / max(trial.wall_s, MIN_TRIAL_S / MAX_EXECUTIONS))
    return max(trial.executions, needed)


def _run_trial(
    runner: TrialRunner, group: str, phase: Phase, round_: int, executions: int, clock: Clock
) -> tuple[list[Trial], bool]:
    """Return one trial, whose jobs are in this group, and its parts; and whether it lost Spark."""
    started_at = timestamp()

    def trial(status: Status, wall_s: float | None = None, error: str | None = None) -> Trial:
        return Trial(
            runner.name,
            phase,
            round_,
            status,
            started_at,
            wall_s,
            error,
            job_group=group,
            executions=executions,
        )

    parts: Sequence[Trial] = ()
    try:
        with runner.prepare(group, executions, profiled=phase is Phase.PROFILE) as prepared:
            start = clock()
            prepared.run()
            wall_s = (clock() - start) / executions
            found = prepared.observed(trial(Status.OK, wall_s))
            parts = prepared.parts(found)
            found = replace(found, answers=distinct(prepared.check() or ()))
    except Exception as error:  # noqa: BLE001  any error of a workload is that trial's outcome
        found = trial(Status.FAILED, error=error_line(error))
        return [found, *parts], isinstance(error, SparkLost)
    return [found, *parts], False


def error_line(error: BaseException) -> str:
    """Return an error's type and the reason in its message, in one line, cut to MAX_ERROR_LENGTH.

    The reason is the innermost cause if the message has a stack of Java or Python, and else the first line.
    """
    try:
        text = str(error)
        message = cause_or_first_line(text)
    except Exception:  # noqa: BLE001  a Java error asks the JVM for its message, which may be gone
        message = ""
    line = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return line if len(line) <= MAX_ERROR_LENGTH else line[: MAX_ERROR_LENGTH - 1] + "…"
