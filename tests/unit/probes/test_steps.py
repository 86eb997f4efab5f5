"""The steps of a plan: their progress lines, their repeats, and how they name what they measure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.probes.plan import ProbeStep, listed
from harness.probes.runner import repeated, run_steps


class TestProgress:
    def test_has_the_number_of_each_step_and_the_time_left(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 20.0, 40.0, 60.0])  # each step takes twice as long as expected
        steps = [ProbeStep(f"step {name}", 10, list) for name in "abc"]
        assert list(run_steps(steps, lambda: next(clock))) == []
        assert capsys.readouterr().err.splitlines() == [
            "[1/3] step a; 30 s left",
            "[2/3] step b; 40 s left",
            "[3/3] step c; 20 s left",
        ]

    def test_does_not_expect_less_time_after_a_quick_step(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        clock = iter([0.0, 1.0])
        list(run_steps([ProbeStep("a", 10, list), ProbeStep("b", 10, list)], lambda: next(clock)))
        assert capsys.readouterr().err.splitlines()[1] == "[2/2] b; 10 s left"


def test_repeats_number_their_measurements() -> None:
    def measure() -> Iterator[Measurement]:
        yield MESH_GOODPUT.of("a -> b", 1)

    steps = repeated([ProbeStep("x", 1, measure), ProbeStep("y", 1, measure)], 2)
    assert [step.description for step in steps] == ["x", "y", "x", "y"]
    assert [measurement.round for step in steps for measurement in step.measure()] == [1, 1, 2, 2]


def test_a_long_list_names_the_first_four() -> None:
    assert listed("abcd") == "a, b, c, d"
    assert listed("abcdef") == "a, b, c, d and 2 more"
