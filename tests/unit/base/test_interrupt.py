"""A signal interrupts the run wherever it arrives."""

import signal
import subprocess
import sys
import time

import pytest

from harness.base.interrupt import interruptible
from tests.waiting import PATIENCE_S


class Finalized:
    """Raises a signal in its finalizer, where Python drops every exception."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interrupt(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)


def test_a_signal_in_a_finalizer_is_not_lost() -> None:
    def run_finalizer() -> None:
        Finalized()
        time.sleep(PATIENCE_S)

    with pytest.raises(KeyboardInterrupt), interruptible():
        run_finalizer()


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


SCRIPT = """
import signal, sys
from harness.base.interrupt import end_at_ctrl_c
from harness.base.command_line import run_main
if "ignored" in sys.argv:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
end_at_ctrl_c()
if "while it loads" in sys.argv:
    signal.raise_signal(signal.SIGINT)
run_main("script", lambda: signal.raise_signal(signal.SIGINT) or 0)
"""


@pytest.mark.parametrize(
    ("when", "code", "printed"),
    [
        ("while it loads", -signal.SIGINT, ""),
        ("while it works", 130, "script: interrupted\n"),
        ("ignored, as under nohup", 0, ""),
    ],
)
def test_ctrl_c_ends_a_script_without_a_stack_trace(when: str, code: int, printed: str) -> None:
    command = [sys.executable, "-c", SCRIPT, *when.split(", ")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, printed)
