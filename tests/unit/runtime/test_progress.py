"""The lines of progress that people see while they wait."""

import io
import re
import sys
from contextlib import redirect_stderr

import pytest

from harness.model.run import Phase, Trial
from harness.runtime.clock import duration_text
from harness.runtime.progress import TrialProgress, show_status
from harness.runtime.rounds import FixedRounds, ThenProfiled
from harness.terminal import say
from tests.unit.builders import failed, ok


class Terminal(io.StringIO):
    """A stream that shows one line at a time."""

    def isatty(self) -> bool:
        return True


def test_an_error_replaces_a_status_line_and_follows_a_trial_on_a_new_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    show_status("generating: 3 of 9 tasks", is_news=True)
    say("error: no space")
    TrialProgress(("pi",), FixedRounds(("pi",), trials=1, warm_up=0)).starting(
        "pi", Phase.MEASURED, 1
    )
    say("error: interrupted")
    assert terminal.getvalue().split("\r\x1b[K")[1].splitlines() == [
        "error: no space",
        "[1/1] pi  measured 1/1  ",
        "error: interrupted",
    ]


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
    plan = FixedRounds(workloads, trials=2, warm_up=1, clock=lambda: now[0])
    progress = TrialProgress(workloads, plan)

    for trial in (
        ok("fast", 2, 1, Phase.WARM_UP),
        ok("slow", 10, 1, Phase.WARM_UP),
        failed("fast", "WrongAnswer: \x1b[1mno"),
        ok("slow", 10),
        ok("fast", 1, 2),
        ok("slow", 10, 2),
    ):
        for observer in (plan, progress):
            observer.starting(trial.workload, trial.phase, trial.round)
        now[0] += trial.wall_s or 1
        for observer in (plan, progress):
            observer.finished(trial)
    assert capsys.readouterr().err.splitlines() == [
        "[1/6] fast  warm-up 1/1     2.000 s   10 s left",
        "[2/6] slow  warm-up 1/1    10.000 s   24 s left",
        r"[3/6] fast  measured 1/2  FAILED: WrongAnswer: \x1b[1mno   21 s left",
        "[4/6] slow  measured 1/2    10.000 s   11 s left",
        "[5/6] fast  measured 2/2     1.000 s   10 s left",
        "[6/6] slow  measured 2/2    10.000 s   done",
    ]


def test_a_profile_round_for_which_time_was_left_is_beyond_the_total() -> None:
    before = FixedRounds(("pi",), trials=1, warm_up=0)
    plan = ThenProfiled(before, ("pi",), None, lambda: 60.0)
    progress = TrialProgress(("pi",), plan)
    with redirect_stderr(io.StringIO()) as out:
        for phase, round_ in plan.rounds():
            progress.starting("pi", phase, round_)
    assert out.getvalue().split("  ")[:-1] == [
        "[1/1] pi",
        "measured 1/1",
        "\n[2] pi",
        "profile 1",
    ]


def test_a_line_shows_how_often_a_short_trial_executed_its_workload(
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan = FixedRounds(("pi",), trials=1, warm_up=0)
    TrialProgress(("pi",), plan).finished(ok("pi", 0.125, executions=8))
    assert "   0.125 s x8   " in capsys.readouterr().err


def screen(terminal: Terminal) -> list[str]:
    """Return what a terminal shows of what was written."""
    lines = [""]
    for part in re.split(r"(\r|\n|\x1b\[A|\x1b\[K)", terminal.getvalue()):
        if part == "\n":
            lines.append("")
        elif part == "\x1b[A":
            lines.pop()
        elif part == "\x1b[K":
            lines[-1] = ""
        elif part != "\r":
            lines[-1] += part
    return lines


def test_on_a_terminal_a_table_grows_above_the_trial_that_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    trials: list[Trial] = []
    plan = FixedRounds(("pi",), trials=9, warm_up=0)
    progress = TrialProgress(
        ("pi",), plan, table=lambda: ["workload  n", f"pi        {len(trials)}"]
    )
    for trial in (ok("pi", 1.0, 1), ok("pi", 2.0, 2), failed("pi", "WrongAnswer: no", 3)):
        progress.starting("pi", Phase.MEASURED, trial.round)
        trials.append(trial)
        progress.finished(trial)
    progress.starting("pi", Phase.MEASURED, 4)
    failure, heading, row, running = screen(terminal)
    assert failure == "pi, round 3: FAILED: WrongAnswer: no"
    assert (heading, row) == ("workload  n", "pi        3")
    assert running.startswith("[4/9] pi  measured 4/9")
