"""The steps of a plan: their progress lines, and their repeats."""

import pytest

from harness.model.network_metrics import MESH_GOODPUT
from harness.probes.plan import ProbeStep, run_steps


class TestProgress:
    def test_has_the_number_of_each_step_and_the_time_left(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 20.0, 40.0, 60.0])  # each step takes twice as long as expected
        steps = [ProbeStep(f"step {name}", 10, list) for name in "abc"]
        assert list(run_steps(steps, clock=lambda: next(clock))) == []
        assert capsys.readouterr().err.splitlines() == [
            "[1/3] step a; 30 s left",
            "[2/3] step b; 40 s left",
            "[3/3] step c; 20 s left",
        ]

    def test_does_not_expect_less_time_after_a_quick_step(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 1.0])
        list(run_steps([ProbeStep("a", 10, list)], 2, lambda: next(clock)))
        assert capsys.readouterr().err.splitlines()[1] == "[2/2] a; 10 s left"


def a_step(name: str) -> ProbeStep:
    return ProbeStep(name, 1, lambda: [MESH_GOODPUT.of(name, 1)])


def test_repeats_number_their_measurements(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [a_step("x"), a_step("y")]
    assert [measurement.round for measurement in run_steps(steps, 2)] == [1, 1, 2, 2]
    names = [line.split()[1] for line in capsys.readouterr().err.splitlines()]
    assert names == ["x;", "y;", "x;", "y;"]


def test_what_a_step_measures_more_often_has_a_round_each_time_it_is_measured() -> None:
    """Two events of a record are never the same: the reader would take the file for a damaged one."""
    value = MESH_GOODPUT.of("a", 1)
    twice = ProbeStep("step", 1.0, lambda: [value, MESH_GOODPUT.failed("a", "no route"), value])
    assert [measurement.round for measurement in run_steps([twice], 2)] == [1, 2, 3, 4, 5, 6]
