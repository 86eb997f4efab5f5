"""Plans the runs of a command that was given minutes, by what those before them had and cost."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.base.words import count_of, join_names
from harness.experiments.run_plan import (
    NextRun,
    RunCost,
    RunPlan,
    cost_of,
    next_run,
    plan_of,
    recent_cost,
    seconds_once,
    usual_plan,
)
from harness.model.run import RecordedRun
from harness.trials.time_budget import NEEDED_RUNS, WANTED_RUNS


@dataclass(frozen=True)
class Shaping:
    """How runs may be made shorter, so that enough of them fit: by fewer rounds, and by fewer workloads.

    `workloads` are those that were named. The last of them go first, but none if `keeps_workloads`. `copied`
    are the runs of a configuration to compare with, whose rounds and workloads the new runs have, too.
    """

    workloads: tuple[str, ...]
    keeps_workloads: bool = False
    copied: Sequence[RecordedRun] = ()

    def plan_of(self, recorded: RecordedRun) -> RunPlan:
        """Return the plan that a run followed."""
        return plan_of(recorded, self.workloads or recorded.run.workloads)

    def next_plan(self, own: Sequence[RecordedRun]) -> RunPlan | None:
        """Return what a run after these has unless it must be shorter; None if nothing says so."""
        copied = [self.plan_of(recorded) for recorded in self.copied]
        if len(own) < len(copied):
            return copied[len(own)]
        return usual_plan([*copied, *map(self.plan_of, own)])


class PlannedRuns:
    """Plans turns of one or several runs. Without `shaping`, all of them are alike."""

    def __init__(self, shaping: Shaping | None) -> None:
        self._shaping = shaping
        self._costs: list[RunCost] = []
        self._usual = RunPlan(0, 0)

    @property
    def is_cost_known(self) -> bool:
        """Whether a turn of this command has shown what one costs."""
        return bool(self._costs)

    @property
    def usual_s(self) -> float:
        """What the usual turn costs, once that is known."""
        return recent_cost(self._costs).of(self._usual)

    def following(self, own: Sequence[RecordedRun], left_s: float) -> NextRun | None:
        """Return what follows these complete runs in the seconds that are left; None if nothing does."""
        complete = len(own)
        planned = self._shaping.next_plan(own) if self._shaping else None
        if not self._costs:
            return NextRun(planned, max(1, WANTED_RUNS - complete))
        self._usual = planned or self._usual
        return next_run(
            self._usual,
            recent_cost(self._costs),
            left_s,
            complete,
            wanted=NEEDED_RUNS if self._shaping and self._shaping.copied else WANTED_RUNS,
            fewer_rounds=self._shaping is not None,
            fewer_workloads=self._shaping is not None and not self._shaping.keeps_workloads,
        )

    def learn(self, made: Sequence[RecordedRun], took_s: float) -> None:
        """Learn from the runs of a turn, and the seconds that they took together."""
        if self._shaping:
            self._costs.append(cost_of(made[-1], took_s))
            return
        once_s = sum(map(seconds_once, made))
        self._costs.append(RunCost(max(1.0, took_s - once_s), {}, {}))

    def change_of_plan(self, plan: RunPlan | None, own: Sequence[RecordedRun]) -> str | None:
        """Return in words what a run has that differs from the run before it; None if nothing does."""
        if self._shaping is None or plan is None:
            return None
        every = self._shaping.workloads
        if own:
            before = self._shaping.plan_of(own[-1])
            every = before.workloads
            if plan == before:
                return None
        rounds = (
            f"{count_of(plan.warm_up, 'warm-up round')} and "
            f"{count_of(plan.trials, 'measured round')}"
        )
        dropped = [name for name in every if name not in plan.workloads]
        without = f", without {join_names(dropped)}" if dropped else ""
        reason = "for the time that is left"
        copied = self._shaping.copied[len(own) :]
        if copied and plan == self._shaping.plan_of(copied[0]):
            reason = f"as in {copied[0].run.configuration}"
        return f"{rounds}{without}: {reason}"
