"""What is submitted to the lab lives as long as somebody holds its input."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

from harness.lab.submit import LEASHED

PATIENCE_S = 120


def leashed(*command: str) -> subprocess.Popen[bytes]:
    """In a session of its own, as the engine starts it."""
    return subprocess.Popen(
        ["sh", "-c", LEASHED, "submit", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def test_it_is_interrupted_when_that_is_closed() -> None:
    process = leashed("sleep", "1000")
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT


def test_so_is_everything_that_it_started() -> None:
    process = leashed("sh", "-c", "sleep 1000; true")
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while len(children.read_text().split()) < 2:  # who watches the input, and what was started
        time.sleep(0.01)
    said, _ = process.communicate(timeout=PATIENCE_S)  # its output ends when the last of them does
    assert (said, process.returncode) == (b"", -signal.SIGINT)


def test_it_ends_by_itself_while_that_is_held() -> None:
    process = leashed("sh", "-c", "echo done; exit 3")
    assert process.stdout is not None
    assert process.stdout.read() == b"done\n"
    assert process.wait(PATIENCE_S) == 3
    process.communicate()


def test_it_reads_nothing() -> None:
    process = leashed("cat")
    assert process.wait(PATIENCE_S) == 0
    process.communicate()
