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


def children(pid: int) -> list[str]:
    """The names of what a process has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/comm").read_text().strip() for child in started]


def test_it_is_interrupted_when_that_is_closed() -> None:
    process = leashed("sleep", "1000")
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGINT


def test_so_is_everything_that_it_started() -> None:
    process = leashed("sh", "-c", "sleep 1000; true")
    # Between its fork and its exec, a child of dash may swallow an interrupt: let it be asleep first.
    while "sleep" not in children(process.pid):
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
