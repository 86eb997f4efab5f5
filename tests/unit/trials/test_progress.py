"""The lines of progress that people see while they wait."""

import pytest

from harness.base.clock import duration_text
from harness.model.run import Phase
from harness.trials.progress import TrialProgress
from harness.trials.rounds import Rounds
from tests.unit.builders import failed, ok


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.4, "59 s"), (65, "1 min 05 s"), (3599.6, "1 h 00 min"), (7620, "2 h 07 min")],
)
def test_durations_are_readable(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text


def test_each_line_shows_the_trial_its_number_and_the_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = [0.0]
    workloads = ("fast", "slow")
    rounds = Rounds(workloads, 1, 2, clock=lambda: now[0])
    progress = TrialProgress(workloads, rounds)
    for trial in (
        ok("fast", 2, 1, Phase.WARM_UP),
        ok("slow", 10, 1, Phase.WARM_UP),
        failed("fast", "WrongAnswer: \x1b[1mno"),
        ok("slow", 10),
        ok("fast", 0.125, 2, executions=8),
        ok("slow", 10, 2),
    ):
        now[0] += (trial.wall_s or 1) * trial.executions
        rounds.finished(trial)
        progress.finished(trial)
    assert capsys.readouterr().err.splitlines() == [
        "[1/6] fast  warm-up 1      2.000 s   this run: 10 s left",
        "[2/6] slow  warm-up 1     10.000 s   this run: 24 s left",
        r"[3/6] fast  measured 1   FAILED: WrongAnswer: \x1b[1mno   this run: 13 s left",
        "[4/6] slow  measured 1     10.000 s   this run: 12 s left",
        "[5/6] fast  measured 2      0.125 s x8   this run: 5 s left",
        "[6/6] slow  measured 2     10.000 s   done",
    ]


def test_a_line_shows_the_round_while_nothing_says_which_are_warm_up(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rounds = Rounds(("pi",), trials=1)
    trial = ok("pi", 10)
    rounds.finished(trial)
    TrialProgress(("pi",), rounds).finished(trial)
    assert capsys.readouterr().err.startswith(
        "[  1] pi  round 1     10.000 s   pi needs more trials"
    )
