"""`clusterlift plan` computes how many trials a change needs, and what fewer trials can detect."""

from __future__ import annotations

import pytest

from harness.cli import main


def plan(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["plan", *arguments]) == 0
    return capsys.readouterr().out


def test_a_smaller_change_needs_more_trials(capsys: pytest.CaptureFixture[str]) -> None:
    trials = [
        int(plan(capsys, "--change", change, "--noise", "2%").split()[0])
        for change in ("10%", "5%", "3%")
    ]
    assert trials == sorted(set(trials))
    assert trials[0] == 6  # with fewer, no change is significant among 8 comparisons


def test_it_reports_the_minimum_of_trials(capsys: pytest.CaptureFixture[str]) -> None:
    lines = plan(capsys, "--change", "5%", "--noise", "2%", "--workloads", "1").splitlines()
    assert lines[0].endswith("in a table of 1 comparison with noise of 2.0%.")
    assert lines[1].startswith("4 trials detect ")
    assert "With fewer, no change is significant" in lines[1]


def test_a_change_far_below_the_noise_gets_no_number(capsys: pytest.CaptureFixture[str]) -> None:
    text = plan(capsys, "--change", "0.1%", "--noise", "5%")
    assert text.startswith("More than 400 trials of each workload")


@pytest.mark.parametrize("change", ["0%", "5x", "100%", "-1%"])
def test_an_invalid_percentage_is_refused(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--change", change, "--noise", "2%"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "'--change'" in line
