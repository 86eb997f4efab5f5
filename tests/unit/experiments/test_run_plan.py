"""How a given time is divided among runs. Only simulated runs advance the clock."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.experiments.planned_runs import PlannedRuns, Shaping
from harness.experiments.run_plan import RunCost, RunPlan, cost_of, next_run, plan_of, usual_plan
from harness.model.run import Phase, RecordedRun, Trial, moment_of
from harness.trials.time_budget import NEEDED_RUNS, WANTED_RUNS
from tests.unit.builders import a_run, ok

NAMES = ("a", "b", "c", "d", "e", "f")
LONGEST = RunPlan(2, 2, NAMES)


def run_of(plan: RunPlan, cost: RunCost, configuration: str = "x") -> tuple[RecordedRun, float]:
    """Return what a run of this plan records on a machine of this cost, and how long it took."""
    trials: list[Trial] = []
    now_s = 0.0
    phases = [(Phase.WARM_UP, n + 1) for n in range(plan.warm_up)]
    phases += [(Phase.MEASURED, n + 1) for n in range(plan.trials)]
    for count, (phase, number) in enumerate(phases):
        for name in plan.workloads:
            trial_s = cost.later_s[name] if count else cost.first_s[name]
            trial = ok(name, trial_s, number, phase)
            minute, second = divmod(now_s, 60)
            at = f"2026-01-02T{int(minute // 60):02}:{int(minute % 60):02}:{second:09.6f}+00:00"
            trials.append(replace(trial, started_at=at))
            now_s += trial_s
    run = a_run(configuration, parameters={"trials": plan.trials}, workloads=plan.workloads)
    return RecordedRun(run, tuple(trials)), cost.start_s + now_s


@dataclass
class Machine:
    """Makes the runs that are planned. `cost_of_run` says what parts of the run of a number take."""

    total_s: float
    cost_of_run: Callable[[int], RunCost]
    shaping: Shaping = field(default_factory=lambda: Shaping(NAMES))
    own: list[RecordedRun] = field(default_factory=list)
    plans: list[RunPlan] = field(default_factory=list)
    took_s: list[float] = field(default_factory=list)
    now_s: float = 0.0

    @property
    def left_s(self) -> float:
        return max(0.0, self.total_s - self.now_s)

    def make_runs(self) -> None:
        planned = PlannedRuns(self.shaping)
        while (following := planned.following(self.own, self.left_s)) is not None:
            plan = following.plan or LONGEST
            recorded, took_s = run_of(plan, self.cost_of_run(len(self.own)))
            self.own.append(recorded)
            self.plans.append(plan)
            self.took_s.append(took_s)
            self.now_s += took_s
            planned.learn([recorded], took_s)


def cost(start_s: float, first_s: float, later_s: float) -> RunCost:
    return RunCost(start_s, dict.fromkeys(NAMES, first_s), dict.fromkeys(NAMES, later_s))


def steady(start_s: float, first_s: float, later_s: float) -> Callable[[int], RunCost]:
    return lambda _: cost(start_s, first_s, later_s)


SMALL = st.floats(0.1, 25)


@pytest.mark.parametrize(
    ("costs", "plans"),
    [
        ((12, 2, 1), [RunPlan(2, 2, NAMES)] * 7),
        ((15, 4, 2.5), [RunPlan(2, 2, NAMES), *[RunPlan(2, 1, NAMES)] * 3]),
        ((20, 4, 2.5), [RunPlan(2, 2, NAMES), *[RunPlan(1, 1, NAMES)] * 3]),
        ((15, 8, 4.1), [RunPlan(2, 2, NAMES), *[RunPlan(1, 1, NAMES[:3])] * 3]),
        ((90, 4, 4), [RunPlan(2, 2, NAMES), RunPlan(1, 1, ("a",)), RunPlan(1, 1, ("a",))]),
    ],
    ids=["all", "fewer-measured", "fewer-warm-up", "fewer-workloads", "three-in-spite-of-the-time"],
)
def test_four_runs_fit_by_fewer_rounds_and_then_by_fewer_workloads(
    costs: tuple[float, float, float], plans: list[RunPlan]
) -> None:
    machine = Machine(300, steady(*costs))
    machine.make_runs()
    assert machine.plans == plans


@given(start_s=st.floats(1, 30), first_s=SMALL, later_s=st.floats(0.1, 4.1))
def test_four_runs_fit_wherever_a_shortest_run_leaves_time_for_them(
    start_s: float, first_s: float, later_s: float
) -> None:
    own_cost = cost(start_s, first_s, later_s)
    machine = Machine(300, lambda _: own_cost)
    machine.make_runs()
    shortest_s = own_cost.of(RunPlan(1, 1, ("a",)))
    longest_s = own_cost.of(LONGEST)
    if longest_s + (WANTED_RUNS - 1) * shortest_s <= 300:
        assert len(machine.plans) >= WANTED_RUNS
        assert machine.now_s <= 300 + 1e-6
    assert len(machine.plans) >= NEEDED_RUNS


@given(
    start_s=st.floats(1, 60),
    first_s=SMALL,
    later_s=SMALL,
    total_s=st.floats(60, 900),
    drift=st.floats(0.9, 1.1),
)
def test_whatever_runs_cost_and_however_that_drifts(
    start_s: float, first_s: float, later_s: float, total_s: float, drift: float
) -> None:
    def drifting(number: int) -> RunCost:
        factor = drift ** min(number, 20)
        return cost(start_s * factor, first_s * factor, later_s * factor)

    machine = Machine(total_s, drifting)
    machine.make_runs()
    plans = machine.plans
    assert len(plans) >= NEEDED_RUNS
    for plan in plans:
        assert plan.warm_up >= 1
        assert plan.trials >= 1
        assert plan.workloads == NAMES[: len(plan.workloads)]
    for before, after in pairwise(plans):
        has_fewer_workloads = len(after.workloads) < len(NAMES)
        assert len(after.workloads) <= len(before.workloads) or len(plans) > NEEDED_RUNS
        assert not has_fewer_workloads or after.rounds == 2
    if len(plans) > NEEDED_RUNS:
        # The last run was planned by what the three before it took.
        assert machine.now_s <= total_s + machine.took_s[-1] * abs(drift**3 - 1) + 1e-6


@given(start_s=st.floats(1, 60), first_s=SMALL, later_s=SMALL, total_s=st.floats(60, 900))
def test_no_time_is_left_in_which_a_run_with_fewer_rounds_would_fit(
    start_s: float, first_s: float, later_s: float, total_s: float
) -> None:
    own_cost = cost(start_s, first_s, later_s)
    machine = Machine(total_s, lambda _: own_cost)
    machine.make_runs()
    if machine.left_s:
        shortest = RunPlan(1, 1, machine.plans[-1].workloads)
        assert own_cost.of(shortest) > machine.left_s - 1e-6


class TestTheSecondConfiguration:
    def copying(self, total_s: float, slower: float) -> tuple[Machine, Machine]:
        before = Machine(300, steady(15, 4, 2.5))
        before.make_runs()
        shaping = Shaping(NAMES, copied=tuple(before.own))
        after = Machine(total_s, steady(15 * slower, 4 * slower, 2.5 * slower), shaping)
        after.make_runs()
        return before, after

    def test_has_the_rounds_and_workloads_of_the_first_run_by_run(self) -> None:
        before, after = self.copying(300, 1.0)
        assert after.plans == before.plans

    def test_has_them_too_if_it_is_slower_and_three_fit(self) -> None:
        before, after = self.copying(300, 1.3)
        assert after.plans == before.plans[:NEEDED_RUNS]

    def test_has_less_if_else_not_even_three_would_fit(self) -> None:
        before, after = self.copying(300, 2.0)
        assert after.plans[0] == before.plans[0]
        assert len(after.plans) == NEEDED_RUNS
        assert after.now_s <= 300

    def test_has_more_runs_of_the_usual_kind_in_more_time(self) -> None:
        before, after = self.copying(900, 1.0)
        assert after.plans[:4] == before.plans
        assert set(after.plans[4:-1]) == {RunPlan(2, 1, NAMES)}


def test_workloads_and_rounds_that_the_user_chose_stay() -> None:
    costs = cost(60, 10, 10)
    kept = next_run(LONGEST, costs, 100, NEEDED_RUNS, fewer_rounds=False, fewer_workloads=False)
    assert kept is None
    same = next_run(LONGEST, costs, 100, 1, fewer_rounds=False, fewer_workloads=False)
    assert same
    assert same.plan == LONGEST
    rounds = next_run(LONGEST, costs, 10, 1, fewer_workloads=False)
    assert rounds
    assert rounds.plan == RunPlan(1, 1, NAMES)


def test_a_cost_is_told_from_what_a_run_recorded() -> None:
    own_cost = cost(14, 3, 1.5)
    recorded, took_s = run_of(LONGEST, own_cost)
    found = cost_of(recorded, took_s)
    for plan in (LONGEST, RunPlan(1, 1, NAMES), RunPlan(1, 2, ("a", "b"))):
        assert found.of(plan) == pytest.approx(own_cost.of(plan))


@pytest.mark.parametrize("hours", [1, -1], ids=["forward, or the machine slept", "back"])
def test_a_clock_that_was_set_during_a_run_makes_no_trial_longer(hours: int) -> None:
    own_cost = cost(14, 3, 1.5)
    recorded, took_s = run_of(LONGEST, own_cost)
    moved = []
    for trial in recorded.trials[3:]:
        at = moment_of(trial.started_at) + timedelta(hours=hours)
        moved.append(replace(trial, started_at=at.isoformat()))
    found = cost_of(replace(recorded, trials=(*recorded.trials[:3], *moved)), took_s)
    for plan in (LONGEST, RunPlan(1, 1, NAMES), RunPlan(1, 2, ("a", "b"))):
        assert found.of(plan) == pytest.approx(own_cost.of(plan))


def test_what_a_run_did_for_the_first_use_of_its_data_costs_no_other_run() -> None:
    recorded, took_s = run_of(LONGEST, cost(14, 3, 1.5))
    dataset = {"uri": "d", "layout": {}, "first_use_s": 40.0}
    first = replace(recorded, run=replace(recorded.run, dataset=dataset))
    assert cost_of(first, took_s + 40).of(LONGEST) == pytest.approx(took_s)


def test_a_profile_and_rounds_for_disturbed_trials_are_in_no_plan() -> None:
    recorded, _ = run_of(RunPlan(1, 3, ("a",)), cost(1, 1, 1))
    asked = replace(recorded.run, parameters={"trials": 2})
    profile = replace(recorded.trials[-1], phase=Phase.PROFILE, round=1)
    with_profile = RecordedRun(asked, (*recorded.trials, profile))
    assert plan_of(with_profile, NAMES) == RunPlan(1, 2, ("a",))


def test_the_usual_plan_is_that_of_most_runs() -> None:
    short = RunPlan(1, 1, NAMES)
    assert usual_plan([LONGEST, short, short]) == short
    assert usual_plan([LONGEST, LONGEST, short]) == LONGEST
    assert usual_plan([LONGEST, short]) == short
    assert usual_plan([]) is None
