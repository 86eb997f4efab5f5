"""How long the next run may be, so that enough runs fit into the time that is left.

Runs differ more than trials, so time buys runs before rounds, and rounds before workloads. The cost of a
configuration's runs so far tells the cost of a shorter run.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import fmean, median

from harness.model.run import Phase, RecordedRun, Trial, moment_of
from harness.trials.time_budget import NEEDED_RUNS, WANTED_RUNS

RECENT_RUNS = 3
"""How many of the last runs say what the next one costs: a machine may become slower or faster."""
_ROUNDS = (Phase.WARM_UP, Phase.MEASURED)


@dataclass(frozen=True)
class RunPlan:
    """The rounds of a run, and its workloads in the order in which they were named."""

    warm_up: int
    trials: int
    workloads: tuple[str, ...] = ()

    @property
    def rounds(self) -> int:
        """The number of all rounds."""
        return self.warm_up + self.trials


@dataclass(frozen=True)
class RunCost:
    """What a run took, in seconds, without what further runs need not do.

    `start_s` is all that is no round: the start of Spark, checks, the end. `first_s` has the first round of
    each workload, in which Java compiles, and `later_s` a further round on average.
    """

    start_s: float
    first_s: Mapping[str, float]
    later_s: Mapping[str, float]

    def of(self, plan: RunPlan) -> float:
        """Return what a run of this plan costs."""
        total_s = self.start_s
        for name in plan.workloads:
            total_s += self.first_s.get(name, 0.0)
            total_s += (plan.rounds - 1) * self.later_s.get(name, 0.0)
        return total_s


@dataclass(frozen=True)
class NextRun:
    """The plan of the next run, and how many such runs fit into the time that is left: this one, at least.

    The plan is None if the run is as long as it likes.
    """

    plan: RunPlan | None
    fitting: int


def next_run(
    usual: RunPlan,
    cost: RunCost,
    left_s: float,
    complete: int,
    *,
    wanted: int = WANTED_RUNS,
    fewer_rounds: bool = True,
    fewer_workloads: bool = True,
) -> NextRun | None:
    """Return what the next run is; None if there are enough runs, and no other fits.

    `usual` is the plan of the runs before. `complete` is how many complete runs there are. A run becomes
    shorter, by rounds and then by workloads, if else fewer than `wanted` would fit, or fewer than
    NEEDED_RUNS. If not even those fit, the shortest is made in spite of the time. Once there are enough runs,
    the last one may have fewer rounds.
    """
    by_rounds = [usual]
    if fewer_rounds:
        by_rounds += _with_fewer_rounds(usual)
    every = list(by_rounds)
    if fewer_workloads:
        every += _with_fewer_workloads(by_rounds[-1])
    for goal in (wanted, NEEDED_RUNS):
        missing = goal - complete
        if missing > 0:
            for plan in every:
                if missing * cost.of(plan) <= left_s:
                    return NextRun(plan, _fitting(plan, cost, left_s))
    if complete < NEEDED_RUNS:
        return NextRun(every[-1], NEEDED_RUNS - complete)
    for plan in by_rounds:
        if cost.of(plan) <= left_s:
            return NextRun(plan, _fitting(plan, cost, left_s))
    return None


def _fitting(plan: RunPlan, cost: RunCost, left_s: float) -> int:
    return max(1, int(left_s / max(1.0, cost.of(plan))))


def _with_fewer_rounds(plan: RunPlan) -> Iterator[RunPlan]:
    """Yield plans, each shorter than the one before, down to a round of each kind."""
    while plan.trials > 1:
        plan = replace(plan, trials=plan.trials - 1)
        yield plan
    while plan.warm_up > 1:
        plan = replace(plan, warm_up=plan.warm_up - 1)
        yield plan


def _with_fewer_workloads(plan: RunPlan) -> Iterator[RunPlan]:
    """Yield plans, each without the last workload of the one before, down to the first workload."""
    while len(plan.workloads) > 1:
        plan = replace(plan, workloads=plan.workloads[:-1])
        yield plan


def plan_of(recorded: RecordedRun, workloads: Sequence[str]) -> RunPlan:
    """Return the plan that a run followed. `workloads` are all that it may have, in their order.

    Rounds in place of disturbed trials were not planned.
    """
    rounds: dict[Phase, set[int]] = {phase: set() for phase in _ROUNDS}
    found: set[str] = set()
    for trial in recorded.trials:
        if trial.phase in rounds:
            rounds[trial.phase].add(trial.round)
            found.add(trial.workload)
    named = [name for name in workloads if name in found]
    measured = len(rounds[Phase.MEASURED])
    asked_for = recorded.run.parameters.get("trials")
    if isinstance(asked_for, int):
        measured = min(measured, asked_for)
    return RunPlan(len(rounds[Phase.WARM_UP]), measured, tuple(named))


def usual_plan(plans: Iterable[RunPlan]) -> RunPlan | None:
    """Return the plan that most of these runs have, the shortest of those; None without runs."""
    counts = Counter(plans)
    if not counts:
        return None
    return min(counts, key=lambda plan: (-counts[plan], len(plan.workloads), plan.rounds))


def cost_of(recorded: RecordedRun, took_s: float) -> RunCost:
    """Return what a run of `took_s` seconds took, by its parts.

    A profile is left out, and what was done for the first use of the dataset: no further run needs it.
    """
    start_s = took_s - seconds_once(recorded)
    first_s: dict[str, float] = {}
    later_s: dict[str, list[float]] = {}
    durations = list(_durations(recorded.trials))
    if sum(trial_s for _, trial_s in durations) > took_s:  # the machine slept, or its clock was set
        durations = [(trial, _own_s(trial)) for trial in recorded.trials]
    for trial, trial_s in durations:
        start_s -= trial_s
        if trial.phase not in _ROUNDS:
            continue
        if trial.workload in first_s:
            later_s.setdefault(trial.workload, []).append(trial_s)
        else:
            first_s[trial.workload] = trial_s
    means = {name: fmean(values) for name, values in later_s.items()}
    return RunCost(max(0.0, start_s), first_s, means)


def seconds_once(recorded: RecordedRun) -> float:
    """Return how long a run took to generate and prove its dataset, which further runs need not do."""
    return (recorded.run.dataset or {}).get("first_use_s") or 0.0


def _durations(trials: Sequence[Trial]) -> Iterator[tuple[Trial, float]]:
    """Yield each trial with the seconds until the next one began; the last one with those that it took."""
    in_order = sorted(trials, key=lambda trial: trial.started_at)
    for trial, following in pairwise(in_order):
        took = moment_of(following.started_at) - moment_of(trial.started_at)
        yield trial, took.total_seconds()
    for trial in in_order[-1:]:
        yield trial, _own_s(trial)


def _own_s(trial: Trial) -> float:
    """Return the seconds of a trial's executions, by a clock that counts no sleep and is never set."""
    return (trial.wall_s or 0.0) * trial.executions


def recent_cost(costs: Sequence[RunCost]) -> RunCost:
    """Return what the last few of one run or more took, each part by its median."""
    start_s = median(cost.start_s for cost in costs[-RECENT_RUNS:])
    first_s = _recent_medians([cost.first_s for cost in costs])
    later_s = _recent_medians([cost.later_s for cost in costs])
    return RunCost(start_s, first_s, {**first_s, **later_s})


def _recent_medians(parts: Sequence[Mapping[str, float]]) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for part in parts:
        for name, seconds in part.items():
            values.setdefault(name, []).append(seconds)
    return {name: median(found[-RECENT_RUNS:]) for name, found in values.items()}
