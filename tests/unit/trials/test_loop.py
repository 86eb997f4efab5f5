"""The order of trials, what is timed, and what happens if one fails; without Spark or real time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any

import pytest

from harness.base.errors import SparkLost, WrongAnswer
from harness.model.interference import NodeInterference
from harness.model.run import Ending, Phase, Status, Trial
from harness.model.task_metrics import WireBytes
from harness.trials.counting import counted_trials
from harness.trials.loop import MAX_ERROR_LENGTH, MAX_EXECUTIONS, error_line, run_trials
from harness.trials.rounds import Rounds

Step = Callable[[], None]

SEED = "106"
"""Its first order of two or three items is as they are; so is that of two for three rounds."""


def nothing() -> None:
    """Take no time, and succeed."""


def raising(error: BaseException) -> Step:
    def step() -> None:
        raise error

    return step


class FakeClock:
    """A clock that steps advance; without them it goes on by a millionth of a second."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 1e-6
        return self.now_s

    def passing(self, seconds: float) -> Step:
        def step() -> None:
            self.now_s += seconds

        return step

    def passing_each(self, runner: "FakeRunner", durations: Iterator[float]) -> Step:
        """Let the time pass that each trial's executions take."""

        def step() -> None:
            self.now_s += next(durations) * runner.executions[-1]

        return step


@dataclass
class FakeRunner:
    """A trial runner, and its prepared trial, made of steps."""

    name: str
    prepare_step: Step = nothing
    run: Step = nothing
    check: Step = nothing
    observe_step: Step = nothing
    leave_step: Step = nothing
    found: dict[str, Any] = field(default_factory=dict)
    groups: list[str] = field(default_factory=list)
    profiled: list[bool] = field(default_factory=list)
    proving: list[bool] = field(default_factory=list)
    is_unproven: bool = False
    executions: list[int] = field(default_factory=list)
    within: tuple[str, ...] = ()
    failing_within: tuple[str, ...] = ()
    max_executions: int = MAX_EXECUTIONS

    @property
    def workloads(self) -> tuple[str, ...]:
        return (self.name, *self.failing_within)

    def trials(self, trial: Trial) -> list[Trial]:
        self.observe_step()
        self.check()
        found = replace(trial, **self.found)
        others = (*self.within, *self.failing_within)
        return [found, *(replace(found, workload=name) for name in others)]

    def __enter__(self) -> "FakeRunner":
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_step()

    @property
    def unproven(self) -> tuple[str, ...]:
        return self.workloads if self.is_unproven else ()

    def prepare(
        self, job_group: str, executions: int, *, profiled: bool, proving: bool
    ) -> "FakeRunner":
        self.profiled.append(profiled)
        self.proving.append(proving)
        self.groups.append(job_group)
        self.executions.append(executions)
        self.prepare_step()
        return self


@dataclass
class FakeSide:
    """A configuration with these runners; it keeps its trials, and counts its turns."""

    runners: Sequence[FakeRunner]
    label: str = ""
    turns: int = 0
    trials: list[Trial] = field(default_factory=list)
    begin_step: Step = nothing

    def begin(self) -> None:
        self.turns += 1
        self.begin_step()

    def finished(self, trial: Trial) -> None:
        self.trials.append(trial)


def run(
    *runners: FakeRunner, trials: int = 1, warm_up: int = 0, clock: FakeClock | None = None
) -> tuple[Ending, list[Trial]]:
    ended: list[Trial] = []
    rounds = Rounds([runner.name for runner in runners], warm_up, trials)
    ending = run_trials([FakeSide(runners)], rounds, SEED, ended.append, clock or FakeClock())
    return ending, ended


class TestOrder:
    def test_rounds_over_all_workloads_warm_up_first(self) -> None:
        ending, trials = run(FakeRunner("a"), FakeRunner("b"), trials=2, warm_up=1)
        order = [
            ("a", Phase.WARM_UP, 1),
            ("b", Phase.WARM_UP, 1),
            ("a", Phase.MEASURED, 1),
            ("b", Phase.MEASURED, 1),
            ("a", Phase.MEASURED, 2),
            ("b", Phase.MEASURED, 2),
        ]
        assert ending is Ending.COMPLETED
        assert [(t.workload, t.phase, t.round) for t in trials] == order

    def test_each_trial_has_its_own_job_group(self) -> None:
        runner = FakeRunner("a")
        _, trials = run(runner, trials=2, warm_up=1)
        assert [trial.job_group for trial in trials] == runner.groups
        assert len(set(runner.groups)) == 3

    def test_each_round_has_its_own_which_the_seed_decides_for_all_sides_alike(self) -> None:
        def executed(seed: str) -> list[str]:
            sides = [FakeSide([FakeRunner(name) for name in "abcde"], x) for x in "xy"]
            run_trials(sides, Rounds([x + n for x in "xy" for n in "abcde"], 1, 9), seed)
            names = ["".join(trial.workload for trial in side.trials) for side in sides]
            assert names[0] == names[1]
            return [names[0][n : n + 5] for n in range(0, 50, 5)]

        orders = executed("7")
        assert orders == executed("7") != executed("8")
        assert len(set(orders)) > 5
        assert {"".join(sorted(order)) for order in orders} == {"abcde"}

    def test_a_proof_round_has_those_alone_that_are_not_proven(self) -> None:
        runners = [FakeRunner("a", is_unproven=True, executions=[]), FakeRunner("b")]
        rounds = Rounds(["a", "b"], 0, 1, unproven=lambda: 1)
        ended: list[Trial] = []
        run_trials([FakeSide(runners)], rounds, SEED, ended.append)
        assert [(t.workload, t.phase) for t in ended] == [
            ("a", Phase.MEASURED),
            ("b", Phase.MEASURED),
            ("a", Phase.PROOF),
        ]
        assert runners[0].proving == [False, True]
        assert runners[0].executions[-1] == 1


class TestTurns:
    def test_sides_take_turns_there_and_back(self) -> None:
        first, second = (FakeSide([FakeRunner("a")], f"{name}: ") for name in ("slow", "fast"))
        ended: list[Trial] = []
        rounds = Rounds(["slow: a", "fast: a"], 1, 2)
        assert (
            run_trials([first, second], rounds, SEED, ended.append, FakeClock()) is Ending.COMPLETED
        )
        assert [trial.workload for trial in ended] == [
            *("slow: a", "fast: a"),
            *("fast: a", "slow: a"),
            *("slow: a", "fast: a"),
        ]
        # What two neighbouring rounds begin and end with needs no further turn.
        assert (first.turns, second.turns) == (2, 2)

    def test_each_side_has_its_own_trials_under_the_workload_s_own_name(self) -> None:
        first, second = (FakeSide([FakeRunner("a")], f"{name}: ") for name in ("slow", "fast"))
        run_trials([first, second], Rounds(["slow: a", "fast: a"], 0, 1), SEED)
        assert [trial.workload for trial in first.trials + second.trials] == ["a", "a"]
        groups = {trial.job_group for trial in first.trials + second.trials}
        assert groups == {"slow: a measured 1", "fast: a measured 1"}

    def test_each_side_learns_its_own_number_of_executions(self) -> None:
        clock = FakeClock()
        slow, fast = FakeRunner("a"), FakeRunner("a")
        slow.run, fast.run = clock.passing(2), clock.passing_each(fast, repeat(0.25))
        sides = [FakeSide([slow], "slow: "), FakeSide([fast], "fast: ")]
        run_trials(sides, Rounds(["slow: a", "fast: a"], 0, 2), SEED, clock=clock)
        assert (slow.executions, fast.executions) == ([1, 1], [1, 4])

    @pytest.mark.parametrize(
        ("error", "ending"),
        [(SparkLost("gone"), Ending.SPARK_LOST), (KeyboardInterrupt(), Ending.INTERRUPTED)],
    )
    def test_what_ends_a_run_may_come_before_a_turn(
        self, error: BaseException, ending: Ending
    ) -> None:
        side = FakeSide([FakeRunner("a")], begin_step=raising(error))
        assert run_trials([side], Rounds(["a"], 0, 1), SEED) is ending


class TestSeveralWorkloads:
    """Of one execution, such as streams, or a program that reports several times."""

    def run(self, runner: FakeRunner) -> tuple[FakeSide, list[Trial]]:
        side = FakeSide([runner], "1g: ")
        ended: list[Trial] = []
        rounds = Rounds(["1g: all", "1g: a", "1g: b"], 0, 2)
        assert run_trials([side], rounds, SEED, ended.append) is Ending.COMPLETED
        assert [trial.workload for trial in ended] == [f"1g: {t.workload}" for t in side.trials]
        return side, ended

    def test_each_has_a_trial_which_the_line_of_progress_knows(self) -> None:
        side, _ = self.run(FakeRunner("all", within=("a", "b")))
        found = [(trial.workload, trial.status) for trial in side.trials]
        assert found == [("all", "ok"), ("a", "ok"), ("b", "ok")] * 2

    @pytest.mark.parametrize("step", ["prepare_step", "run", "check"])
    def test_all_fail_with_an_execution_unless_they_have_an_outcome_of_their_own(
        self, step: str
    ) -> None:
        runner = FakeRunner("all", within=("a",), failing_within=("b",))
        setattr(runner, step, raising(OSError()))
        side, _ = self.run(runner)
        found = [(trial.workload, trial.status) for trial in side.trials]
        assert found == [("all", "failed"), ("b", "failed")] * 2

    def test_those_with_an_outcome_keep_it_if_what_was_written_cannot_be_removed(self) -> None:
        runner = FakeRunner("all", within=("a", "b"), leave_step=raising(OSError()))
        side, _ = self.run(runner)
        found = [(trial.workload, trial.status) for trial in side.trials]
        assert found == [("all", "failed"), ("a", "ok"), ("b", "ok")] * 2


class TestClock:
    def test_only_the_run_is_timed(self) -> None:
        clock = FakeClock()
        runner = FakeRunner("a", clock.passing(100), clock.passing(2.5), clock.passing(1000))
        runner.observe_step = clock.passing(7)
        _, [trial] = run(runner, clock=clock)
        assert trial.status is Status.OK
        assert trial.wall_s == pytest.approx(2.5, abs=1e-5)


class TestShortTrials:
    def test_a_short_workload_is_executed_several_times_a_trial(self) -> None:
        clock = FakeClock()
        runner = FakeRunner("short")
        runner.run = clock.passing_each(runner, repeat(0.125))
        _, trials = run(runner, trials=3, clock=clock)
        assert runner.executions == [1, 8, 8]
        assert [trial.executions for trial in trials] == [1, 8, 8]
        assert [trial.wall_s for trial in trials] == pytest.approx([0.125] * 3, abs=1e-5)

    def test_a_runner_may_allow_no_second_execution(self) -> None:
        """A cold trial's would find in memory what the first one read."""
        runner = FakeRunner("cold", max_executions=1)
        run(runner, trials=2)
        assert runner.executions == [1, 1]

    def test_the_number_of_executions_is_limited_and_never_falls(self) -> None:
        clock = FakeClock()
        runner = FakeRunner("a")
        runner.run = clock.passing_each(runner, iter([0.3, 0.001, 5, 0.5]))
        run(runner, FakeRunner("instant"), trials=4, clock=clock)
        assert runner.executions == [1, 4, MAX_EXECUTIONS, MAX_EXECUTIONS]


class TestFailure:
    @pytest.mark.parametrize("step", ["prepare_step", "run", "check", "leave_step"])
    def test_is_recorded_without_a_time_and_the_run_continues(self, step: str) -> None:
        broken = FakeRunner("broken")
        setattr(broken, step, raising(OSError("disk gone\nstack...")))
        ending, trials = run(broken, FakeRunner("well"), trials=2)
        assert ending is Ending.COMPLETED
        assert [trial.status for trial in trials] == [Status.FAILED, Status.OK] * 2
        assert trials[0].wall_s is None
        assert trials[0].error == "OSError: disk gone"

    def test_a_wrong_answer_is_a_failure_never_a_time(self) -> None:
        clock = FakeClock()
        wrong = FakeRunner("a", run=clock.passing(2), check=raising(WrongAnswer("3 is not 4")))
        _, [trial] = run(wrong, clock=clock)
        assert (trial.status, trial.wall_s) == (Status.FAILED, None)
        assert trial.error == "WrongAnswer: 3 is not 4"

    def test_a_lost_spark_ends_the_run(self) -> None:
        lost = FakeRunner("lost", run=raising(SparkLost("the driver's JVM is gone")))
        ending, trials = run(FakeRunner("a"), lost, FakeRunner("never"), trials=2)
        assert ending is Ending.SPARK_LOST
        assert [trial.workload for trial in trials] == ["a", "lost"]
        assert trials[1].error == "SparkLost: the driver's JVM is gone"

    @pytest.mark.parametrize("step", ["prepare_step", "run", "check", "leave_step"])
    def test_an_interrupt_keeps_what_was_measured(self, step: str) -> None:
        interrupted = FakeRunner("b")
        setattr(interrupted, step, raising(KeyboardInterrupt()))
        ending, trials = run(FakeRunner("a"), interrupted, FakeRunner("never"), trials=2)
        assert ending is Ending.INTERRUPTED
        assert [trial.workload for trial in trials] == ["a"]

    @pytest.mark.parametrize("step", ["run", "observe_step", "check"])
    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
    def test_what_a_trial_wrote_is_removed_whatever_happens(
        self, step: str, error: BaseException
    ) -> None:
        removed: list[str] = []
        runner = FakeRunner("a", leave_step=lambda: removed.append("a"))
        setattr(runner, step, raising(error))
        run(runner)
        assert removed == ["a"]


class TestErrorLine:
    @pytest.mark.parametrize(
        ("error", "line"),
        [
            (ValueError("first\nsecond"), "ValueError: first"),
            (ValueError("\n\n  late  \n"), "ValueError: late"),
            (ValueError(), "ValueError"),
            (KeyError("k"), "KeyError: 'k'"),
        ],
    )
    def test_has_the_type_and_the_first_line(self, error: Exception, line: str) -> None:
        assert error_line(error) == line

    def test_of_java_is_its_innermost_cause(self) -> None:
        error = ValueError(
            "An error occurred while calling o1034.save.\n"
            ": org.apache.spark.SparkException: Job aborted.\n\tat org.apache.spark.A.b(A.scala:1)\n"
            "Caused by: java.io.FileNotFoundException: File /d/part-0 does not exist\n\tat c.D.e(D.java:2)\n"
            "\t... 12 more\n"
        )
        expected = "ValueError: java.io.FileNotFoundException: File /d/part-0 does not exist"
        assert error_line(error) == expected

    def test_of_a_python_worker_is_its_own_error(self) -> None:
        error = ValueError(
            "\n  An exception was thrown from the Python worker:\nTraceback (most recent call last):\n"
            "  File \"worker.py\", line 1, in main\nModuleNotFoundError: No module named 'pyarrow'\n"
        )
        assert error_line(error) == "ValueError: ModuleNotFoundError: No module named 'pyarrow'"

    def test_has_the_type_alone_if_the_message_was_lost_with_the_jvm(self) -> None:
        class RemoteError(Exception):
            def __str__(self) -> str:
                raise ConnectionRefusedError

        assert error_line(RemoteError()) == "RemoteError"

    def test_has_a_maximum_length(self) -> None:
        assert len(error_line(ValueError("x" * 10_000))) == MAX_ERROR_LENGTH


def test_a_trial_keeps_what_was_observed() -> None:
    wire, node = WireBytes((), unread=("n2",)), NodeInterference("n1", duration_s=1.5, processors=2)
    note = "executors lost: n2"
    found = {"wire": wire, "interference": (node,), "note": note}
    _, [trial] = run(FakeRunner("a", found=found))
    assert (trial.tasks, trial.wire, trial.note) == (None, wire, note)
    assert (trial.interference, trial.disturbed) == ((node,), None)


def test_a_trial_is_judged_while_it_runs_as_it_is_when_its_file_is_read() -> None:
    """A file has no counters of a trial with a wrong answer, so that trial does not show what is usual."""
    answers = iter([raising(WrongAnswer("no")), *repeat(nothing, 5)])
    loops = iter([4e-4, 4e-4, 4e-4, 8e-4, 4e-4, 8e-4])
    runner = FakeRunner("a")

    def count() -> None:
        node = NodeInterference("n1", 1.5, processors=2, loops=20, loop_s=next(loops))
        runner.found = {"interference": (node,)}
        runner.check = next(answers)

    runner.observe_step = count
    _, trials = run(runner, trials=6)
    assert [bool(trial.disturbed) for trial in trials] == [False] * 5 + [True]
    assert counted_trials(trials, None) == (tuple(trials), {})
