"""The one loop of trials: their order, their clock, and what happens if one fails.

The loop knows neither Spark nor MPI: a `TrialRunner` is anything that can be prepared, run and checked.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Protocol

from harness.base.clock import Clock
from harness.base.errors import SparkLost
from harness.base.failure_reason import cause_or_first_line
from harness.base.terminal import say
from harness.model.interference import EarlierTrials
from harness.model.run import Ending, Phase, Status, Trial, timestamp
from harness.trials.counting import judged
from harness.trials.order import in_turns, shuffled
from harness.trials.rounds import Rounds

MAX_ERROR_LENGTH = 500

MIN_TRIAL_S = 1.0
"""A trial executes its workload as often as it takes to last about this long.

Trials of 0.17 s varied by 19 %, and trials of eight executions by 11 %: docs/noise.md has the figures.
"""

MAX_EXECUTIONS = 10
"""Each execution is prepared and checked, outside the time that is measured; more would take too long."""


class PreparedTrial(Protocol):
    """A workload that is ready to be executed. Leaving its `with` block removes what it wrote."""

    def __enter__(self) -> object: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> object: ...

    def run(self) -> None:
        """Execute the workload as often as was asked for. Only this is timed."""

    def trials(self, trial: Trial) -> Sequence[Trial]:
        """Return what came of `run`, right after it: checked trials, each with what was observed of it.

        Most runners return `trial` alone, which has the time of one execution. An execution of several
        workloads returns a trial of each. Raise WrongAnswer if an answer is wrong.
        """


class TrialRunner(Protocol):
    """One or several workloads that can be executed again and again."""

    @property
    def workloads(self) -> Sequence[str]:
        """The workloads that have failed if an execution fails. The first one also names the jobs of it."""

    @property
    def max_executions(self) -> int:
        """How often a trial may execute them at most."""

    @property
    def unproven(self) -> Collection[str]:
        """The workloads whose answers a proof round has still to prove."""

    def prepare(
        self, job_group: str, executions: int, *, profiled: bool, proving: bool
    ) -> PreparedTrial:
        """Do everything that is not timed. Raise SparkLost if no further trial is possible.

        A `profiled` trial is asked for the stacks of its tasks. A `proving` one looks at every row of the
        answer. If it raises WrongAnswer, later trials of the workload do, too.
        """


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
    rounds: Rounds,
    seed: str,
    progress: Callable[[Trial], object] = lambda _: None,
    clock: Clock = time.perf_counter,
) -> Ending:
    """Run every workload of every side once per round, so that drift of the machine affects all alike.

    The seed gives each round another order of the workloads, which is the same for every side. The sides take
    turns there and back. A side receives each trial as it was measured. Then the rounds and `progress`
    receive it with the verdict whether something disturbed it, under label and name. The run continues after
    failed trials. KeyboardInterrupt (Ctrl-C, or SIGTERM within `interruptible`) and SparkLost end it.
    """
    turns = [_Turn(side, clock) for side in sides]
    current: _Turn | None = None
    try:
        for number, (phase, round_) in enumerate(rounds.rounds(), 1):
            for turn in in_turns(turns, seed, number):
                if turn is not current:
                    turn.side.begin()
                    current = turn
                for runner in shuffled(turn.side.runners, seed, number):
                    if phase is Phase.PROOF and not runner.unproven:
                        continue
                    proving = rounds.proves(phase, round_)
                    trials, is_lost = turn.execute(runner, phase, round_, proving=proving)
                    for trial in trials:
                        rounds.finished(trial)
                        progress(trial)
                    if is_lost:
                        return Ending.SPARK_LOST
    except KeyboardInterrupt:
        return Ending.INTERRUPTED
    except SparkLost as error:
        say(error_line(error))
        return Ending.SPARK_LOST
    return Ending.COMPLETED


class _Turn:
    """A side of the loop, with what its earlier trials tell of the next."""

    def __init__(self, side: Side, clock: Clock) -> None:
        self.side = side
        self._clock = clock
        self._earlier = EarlierTrials()
        self._executions = {runner.workloads[0]: 1 for runner in side.runners}

    def execute(
        self, runner: TrialRunner, phase: Phase, round_: int, *, proving: bool
    ) -> tuple[Sequence[Trial], bool]:
        """Execute workloads, and hand their trials to the side.

        Return the trials with verdicts under the names of the side, and whether Spark was lost.
        """
        name = runner.workloads[0]
        label = self.side.label
        group = f"{label}{name} {phase} {round_}"
        executions = self._executions[name]
        if phase is Phase.PROOF:
            executions = 1
        trials, is_lost = _trials(
            runner, group, phase, round_, executions, self._clock, proving=proving
        )
        self._executions[name] = next_executions(trials[0], runner.max_executions)
        verdicts = []
        for trial in trials:
            self.side.finished(trial)
            verdict = judged(trial, self._earlier)
            verdicts.append(replace(verdict, workload=label + trial.workload))
        return verdicts, is_lost


def next_executions(trial: Trial, most: int) -> int:
    """Return how many executions the workload's next trial needs to last about MIN_TRIAL_S.

    The number never falls, so that it is the same for all trials as soon as the workload is warm.
    """
    if trial.wall_s is None:
        return trial.executions
    needed = math.ceil(MIN_TRIAL_S / max(trial.wall_s, MIN_TRIAL_S / most))
    return max(trial.executions, needed)


def _trials(
    runner: TrialRunner,
    group: str,
    phase: Phase,
    round_: int,
    executions: int,
    clock: Clock,
    *,
    proving: bool,
) -> tuple[Sequence[Trial], bool]:
    """Return the trials of an execution, whose jobs are in this group, and whether it lost Spark."""
    started_at = timestamp()

    def trial(workload: str, wall_s: float | None = None, error: str | None = None) -> Trial:
        return Trial(
            workload,
            phase,
            round_,
            Status.FAILED if error else Status.OK,
            started_at,
            wall_s,
            error,
            job_group=group,
            executions=executions,
        )

    trials: Sequence[Trial] = ()
    try:
        prepared = runner.prepare(
            group, executions, profiled=phase is Phase.PROFILE, proving=proving
        )
        with prepared:
            start = clock()
            prepared.run()
            wall_s = (clock() - start) / executions
            trials = prepared.trials(trial(runner.workloads[0], wall_s))
    except Exception as error:  # noqa: BLE001  any error of a workload is that trial's outcome
        line = error_line(error)
        failed = [trial(name, error=line) for name in runner.workloads]
        others = [each for each in trials if each.workload not in runner.workloads]
        return [*failed, *others], isinstance(error, SparkLost)
    return trials, False


def error_line(error: BaseException) -> str:
    """Return an error's type and the reason in its message, in one line, cut to MAX_ERROR_LENGTH.

    The reason is the innermost cause if the message has a stack of Java or Python, and else the first line.
    """
    try:
        text = str(error)
        message = cause_or_first_line(text)
    except Exception:  # noqa: BLE001  a Java error asks the JVM for its message, which may be gone
        message = ""
    line = type(error).__name__
    if message:
        line += f": {message}"
    if len(line) > MAX_ERROR_LENGTH:
        line = line[: MAX_ERROR_LENGTH - 1] + "…"
    return line
