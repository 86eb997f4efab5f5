"""The order of trials, what is timed, and what happens when one fails; no Spark, no real time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from harness.model.errors import SparkLost, WrongAnswer
from harness.model.run import Ending, Phase, Status, Trial
from harness.model.task_metrics import TaskMetrics, WireBytes
from harness.runtime.trials import MAX_ERROR_LENGTH, Plan, one_line, run_trials

Step = Callable[[], None]


def nothing() -> None:
    """A step that takes no time and cannot fail."""


def raising(error: BaseException) -> Step:
    def step() -> None:
        raise error

    return step


class FakeClock:
    """Seconds that pass only when a job says so."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s

    def passing(self, seconds: float) -> Step:
        def step() -> None:
            self.now_s += seconds

        return step


@dataclass
class FakeJob:
    """A job, and its own only attempt, made of steps."""

    name: str
    prepare_step: Step = nothing
    run: Step = nothing
    check: Step = nothing
    noted: str | None = None
    metrics_step: Step = nothing
    wire: WireBytes | None = None
    groups: list[str] = field(default_factory=list)

    def metrics(self) -> tuple[TaskMetrics | None, WireBytes | None]:
        self.metrics_step()
        return None, self.wire

    def note(self) -> str | None:
        return self.noted

    def prepare(self, job_group: str) -> FakeJob:
        self.groups.append(job_group)
        self.prepare_step()
        return self


@dataclass
class Witness:
    """An observer that remembers."""

    started: list[tuple[str, Phase, int]] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)

    def starting(self, workload: str, phase: Phase, round_: int) -> None:
        self.started.append((workload, phase, round_))

    def finished(self, trial: Trial) -> None:
        self.trials.append(trial)


def run(*jobs: FakeJob, plan: Plan, clock: FakeClock | None = None) -> tuple[Ending, list[Trial]]:
    witness = Witness()
    ending = run_trials(jobs, plan, [witness], clock or FakeClock())
    return ending, witness.trials


ONCE = Plan(trials=1, warm_up=0)


class TestOrder:
    def test_rounds_over_all_workloads_warm_up_first(self) -> None:
        witness = Witness()
        ending = run_trials([FakeJob("a"), FakeJob("b")], Plan(2, 1), [witness], FakeClock())
        order = [
            ("a", Phase.WARM_UP, 1),
            ("b", Phase.WARM_UP, 1),
            ("a", Phase.MEASURED, 1),
            ("b", Phase.MEASURED, 1),
            ("a", Phase.MEASURED, 2),
            ("b", Phase.MEASURED, 2),
        ]
        assert ending is Ending.COMPLETED
        assert witness.started == order
        assert [(t.workload, t.phase, t.round) for t in witness.trials] == order

    def test_every_observer_is_told(self) -> None:
        witnesses = [Witness(), Witness()]
        run_trials([FakeJob("a")], ONCE, witnesses, FakeClock())
        assert witnesses[0] == witnesses[1]
        assert len(witnesses[0].trials) == 1

    def test_each_trial_has_a_job_group_of_its_own(self) -> None:
        job = FakeJob("a")
        _, trials = run(job, plan=Plan(2, 1))
        assert [trial.job_group for trial in trials] == job.groups
        assert len(set(job.groups)) == 3

    def test_a_plan_counts_its_rounds(self) -> None:
        plan = Plan(trials=3, warm_up=2)
        assert plan.total_rounds == len(list(plan.rounds())) == 5


class TestClock:
    def test_only_the_run_is_timed(self) -> None:
        clock = FakeClock()
        job = FakeJob("a", clock.passing(100), clock.passing(2.5), clock.passing(1000))
        job.metrics_step = clock.passing(7)
        _, [trial] = run(job, plan=ONCE, clock=clock)
        assert (trial.status, trial.wall_s) == (Status.OK, 2.5)


class TestFailure:
    @pytest.mark.parametrize("step", ["prepare_step", "run", "check"])
    def test_is_recorded_without_a_time_and_the_others_go_on(self, step: str) -> None:
        broken = FakeJob("broken")
        setattr(broken, step, raising(OSError("disk gone\nstack...")))
        ending, trials = run(broken, FakeJob("well"), plan=Plan(2, 0))
        assert ending is Ending.COMPLETED
        assert [trial.status for trial in trials] == [Status.FAILED, Status.OK] * 2
        assert trials[0].wall_s is None
        assert trials[0].error == "OSError: disk gone"

    def test_a_wrong_answer_is_a_failure_never_a_time(self) -> None:
        clock = FakeClock()
        wrong = FakeJob("a", run=clock.passing(2), check=raising(WrongAnswer("3 is not 4")))
        _, [trial] = run(wrong, plan=ONCE, clock=clock)
        assert (trial.status, trial.wall_s) == (Status.FAILED, None)
        assert trial.error == "WrongAnswer: 3 is not 4"

    def test_a_lost_spark_ends_the_run(self) -> None:
        lost = FakeJob("lost", run=raising(SparkLost("the driver's JVM is gone")))
        ending, trials = run(FakeJob("a"), lost, FakeJob("never"), plan=Plan(2, 0))
        assert ending is Ending.SPARK_LOST
        assert [trial.workload for trial in trials] == ["a", "lost"]
        assert trials[1].error == "SparkLost: the driver's JVM is gone"

    @pytest.mark.parametrize("step", ["prepare_step", "run", "check"])
    def test_an_interrupt_keeps_what_was_measured(self, step: str) -> None:
        interrupted = FakeJob("b")
        setattr(interrupted, step, raising(KeyboardInterrupt()))
        ending, trials = run(FakeJob("a"), interrupted, FakeJob("never"), plan=Plan(2, 0))
        assert ending is Ending.INTERRUPTED
        assert [trial.workload for trial in trials] == ["a"]


class TestOneLine:
    @pytest.mark.parametrize(
        ("error", "line"),
        [
            (ValueError("first\nsecond"), "ValueError: first"),
            (ValueError("\n\n  late  \n"), "ValueError: late"),
            (ValueError(), "ValueError"),
            (KeyError("k"), "KeyError: 'k'"),
        ],
    )
    def test_says_the_type_and_the_first_line(self, error: Exception, line: str) -> None:
        assert one_line(error) == line

    def test_of_an_error_whose_message_has_gone_with_the_jvm(self) -> None:
        class RemoteError(Exception):
            def __str__(self) -> str:
                raise ConnectionRefusedError

        assert one_line(RemoteError()) == "RemoteError"

    def test_is_cut(self) -> None:
        assert len(one_line(ValueError("x" * 10_000))) == MAX_ERROR_LENGTH


def test_what_was_recorded_of_a_trial_stays_with_it() -> None:
    wire = WireBytes((), unread=("n2",))
    _, [trial] = run(FakeJob("a", wire=wire), plan=ONCE)
    assert (trial.tasks, trial.wire) == (None, wire)


def test_what_befell_a_trial_is_noted_with_it() -> None:
    _, [odd, usual] = run(FakeJob("a", noted="executors lost: n2"), FakeJob("b"), plan=ONCE)
    assert (odd.status, odd.note) == (Status.OK, "executors lost: n2")
    assert usual.note is None
