"""The one maker of runs: which one comes next, how long it takes, and when there are enough.

`clusterlift run`, `bench` and `program` make runs of series by it. Each says by a `Make` how a single run is
made, of Spark or of a program of MPI.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.base.clock import duration_text
from harness.base.errors import ClusterliftError
from harness.base.terminal import say, show
from harness.base.words import count_of
from harness.experiments.planned_runs import PlannedRuns, Shaping
from harness.experiments.run_plan import RunPlan
from harness.model.run import RecordedRun
from harness.records.series import Series, is_complete, missing_runs
from harness.trials.time_budget import (
    END_BY,
    FEWER_ROUNDS_BY,
    NEEDED_RUNS,
    TimeBudget,
    machine_clock,
)

T = TypeVar("T")


@dataclass(frozen=True)
class Made:
    """The exit code of what made a run, and the run; None if it recorded nothing."""

    code: int
    recorded: RecordedRun | None


Make = Callable[[int, Mapping[str, str], RunPlan | None], Made]
"""Makes the run of a number. The environment variables say when it has to end, if its time is limited.

Without a plan, the arguments decide its rounds and workloads.
"""


def with_outlook(steps: Sequence[T]) -> Iterator[tuple[T, str]]:
    """Yield each step, and how long all that are left will take, by those that are done."""
    started = time.monotonic()
    for done, step in enumerate(steps):
        outlook = ""
        if done:
            left_s = (time.monotonic() - started) / done * (len(steps) - done)
            outlook = f"; about {duration_text(left_s)} left"
        yield step, outlook


def make_runs(
    makers: Mapping[Series, Make], runs: int, before_first: Callable[[], None] = lambda: None
) -> int:
    """Make the runs that are not complete yet, in turns, and return the exit code.

    After a failed trial, or if Spark was lost, the other runs follow; after a run that recorded nothing they
    do not. `before_first` is called if there is a run to make. Raise KeyboardInterrupt if a signal ended a
    run, and ClusterliftError if a run is not complete at the end.
    """
    every = list(makers)
    for series in every:
        _say_what_is_there(series, runs)
    missing = list(missing_runs(every, runs))
    if missing:
        before_first()
    code = 0
    for (series, number), outlook in with_outlook(missing):
        say(f"{series.configuration}, run {number} of {runs}{outlook}")
        made = makers[series](number, {}, None)
        if made.recorded is None:
            return made.code
        code = max(code, made.code)
    short = len(list(missing_runs(every, runs)))
    if short:
        raise ClusterliftError(
            f"{count_of(short, 'run')} of {runs * len(every)} ended early, or all their trials failed: "
            "the reasons are above; the same command makes the missing runs"
        )
    return code


def _say_what_is_there(series: Series, runs: int) -> None:
    complete = 0
    for recorded in series.recorded():
        if is_complete(recorded):
            complete += 1
        else:
            source = recorded.source
            say(f"{source} ended early, or all its trials failed: it does not count as a run")
    if complete >= runs:
        show(
            f"{series.configuration} has {count_of(complete, 'complete run')} with these arguments; "
            f"for one more: --runs {complete + 1}"
        )


def make_runs_within(
    makers: Mapping[Series, Make],
    budget: TimeBudget,
    precision: float | None = None,
    shaping: Shaping | None = None,
) -> int:
    """Make runs of each series in turns until the time is over, and return the exit code.

    With `precision`, none is made once every time is known to that fraction of it. `shaping`, of a single
    series, says how runs may become shorter so that enough of them fit. A run that recorded nothing is the
    last. Raise KeyboardInterrupt if a signal ended a run, and ClusterliftError if one is not complete.
    """
    every = list(makers)
    planned = PlannedRuns(shaping)
    code = 0
    while True:
        own = min((series.complete() for series in every), key=len)
        complete = len(own)
        if precision and _judge_precision(every, precision) and complete >= NEEDED_RUNS:
            return code
        following = planned.following(own, budget.left_s)
        if following is None:
            runs = count_of(complete, "run")
            left = duration_text(budget.left_s)
            say(f"{runs}: {left} left, and one takes {duration_text(planned.usual_s)}")
            return code
        # An earlier command may have ended amid this turn.
        turn = list(missing_runs(every, complete + 1))
        is_last = following.fitting == 1 and planned.is_cost_known
        limits_s = {END_BY: budget.left_s / len(turn) if is_last else 0.0}
        if shaping:
            limits_s[FEWER_ROUNDS_BY] = budget.left_s / following.fitting
        change = planned.change_of_plan(following.plan, own)
        began_s = budget.now_s()
        recorded: list[RecordedRun] = []
        for series, number in turn:
            outlook = _outlook(budget, complete, following.fitting, planned)
            say(f"{series.configuration}, run {number} of {outlook}")
            if change:
                say(change)
            made = makers[series](number, _times(limits_s), following.plan)
            if made.recorded is None:
                return made.code
            code = max(code, made.code)
            _require_complete(series, complete + 1)
            recorded.append(made.recorded)
        if len(turn) == len(every):  # a part of one does not show how long it takes
            planned.learn(recorded, budget.now_s() - began_s)


def _times(limits_s: Mapping[str, float]) -> dict[str, str]:
    """Return the environment variables of a run, with the moment of each limit: seconds from now."""
    now_s = machine_clock()
    return {variable: str(now_s + limit_s) for variable, limit_s in limits_s.items()}


def _require_complete(series: Series, runs: int) -> None:
    """Raise ClusterliftError if a series has fewer complete runs than these."""
    if len(series.complete()) < runs:
        raise ClusterliftError(
            "the run ended early, or all its trials failed: the reasons are above; the same command makes "
            "new ones"
        )


def _outlook(budget: TimeBudget, complete: int, fitting: int, planned: PlannedRuns) -> str:
    """Return how many runs there will be: `about 4; 2 min 00 s left`."""
    runs = f"about {complete + fitting}"
    if not planned.is_cost_known:
        runs = f"{max(NEEDED_RUNS, complete + 1)} or more"
    if not budget.left_s:
        return f"{runs}; the time is over, but a table needs {NEEDED_RUNS} runs"
    return f"{runs}; {duration_text(budget.left_s)} left"


def _judge_precision(every: Sequence[Series], precision: float) -> bool:
    """Say which time is known least well, and return whether that is known to this fraction of it."""
    # Runs need no statistics otherwise, and a cluster's master may lack scipy.
    from harness.analysis.compare.comparison import widest  # noqa: PLC0415
    from harness.analysis.observed.configuration import ConfigurationRuns  # noqa: PLC0415
    from harness.present.quantities import TOO_FEW_RUNS, is_too_wide, uncertainty  # noqa: PLC0415

    least_known = ""
    greatest = 0.0
    for series in every:
        found = widest(ConfigurationRuns(series.configuration, tuple(series.complete())))
        if found is None:
            return False
        name, width = found
        if not least_known or width > greatest:
            least_known = name
            greatest = width
    if is_too_wide(greatest):
        say(f"{TOO_FEW_RUNS} to know the time of {least_known}")
    else:
        known_to = uncertainty(greatest)
        say(f"every time is known to {known_to} or better; {least_known} is known least well")
    return greatest <= precision
