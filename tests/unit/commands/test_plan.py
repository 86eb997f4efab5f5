"""`clusterlift plan` says how many trials a change takes, and what fewer can find."""

from __future__ import annotations

import pytest

from harness.cli import main


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["plan", *arguments]) == 0
    return capsys.readouterr().out


def test_it_takes_more_trials_the_smaller_the_change(capsys: pytest.CaptureFixture[str]) -> None:
    numbers = [
        int(said(capsys, "--change", change, "--noise", "2%").split()[0])
        for change in ("10%", "5%", "3%")
    ]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 6  # fewer can find nothing among 8


def test_it_says_what_the_fewest_can_find(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--change", "5%", "--noise", "2%", "--workloads", "1")
    assert "Fewer than 4 find nothing" in text


def test_a_change_below_the_noise_is_refused_a_number(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--change", "0.1%", "--noise", "5%")
    assert text.startswith("More than 400 trials on either side")


@pytest.mark.parametrize("change", ["0%", "5x", "100%", "-1%"])
def test_what_is_no_percentage_is_named(change: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--change", change, "--noise", "2%"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "'--change'" in line
