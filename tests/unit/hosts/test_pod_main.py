"""The main process of our pods lets what runs there end before the pod goes."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.hosts import pod_main
from tests.waiting import eventually

PROGRAM = (sys.executable, str(pod_main.__file__))
CONTAINER = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")


def can_make_containers() -> bool:
    tried = subprocess.run([*CONTAINER, "true"], capture_output=True, check=False)
    return tried.returncode == 0


def children(process: int) -> list[int]:
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [int(word) for word in text.split()]


@pytest.fixture
def main_process() -> Iterator[int]:
    """Start the program as the first process of a container, and return its number here."""
    with subprocess.Popen([*CONTAINER, *PROGRAM]) as started:
        try:
            eventually(lambda: bool(children(started.pid)))
            [first] = children(started.pid)
            eventually(lambda: is_waiting(first))
            yield first
        finally:
            started.kill()


def is_waiting(process: int) -> bool:
    """Whether it catches SIGTERM by now."""
    status = Path(f"/proc/{process}/status").read_text()
    [caught] = [line for line in status.splitlines() if line.startswith("SigCgt:")]
    return bool(int(caught.split()[1], 16) & 1 << 14)


def run_inside(main_process: int, script: str) -> subprocess.Popen[bytes]:
    enter = ["nsenter", f"--target={main_process}", "--mount", "--pid", "sh", "-c", script]
    return subprocess.Popen(enter, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.mark.skipif(not can_make_containers(), reason="namespaces need root")
def test_what_runs_there_is_asked_to_end_and_is_waited_for(
    main_process: int, tmp_path: Path
) -> None:
    done = tmp_path / "put back"
    script = f"trap : TERM; echo begun; timeout 60 sleep 60; sleep 0.3; echo x >'{done}'"
    with run_inside(main_process, script) as guard:
        assert guard.stdout
        guard.stdout.readline()
        eventually(lambda: b"sleep" in names_inside(main_process))
        os.kill(main_process, 15)
        eventually(lambda: not Path(f"/proc/{main_process}").exists())
    assert done.exists()


def names_inside(main_process: int) -> bytes:
    enter = ["nsenter", f"--target={main_process}", "--mount", "--pid", "ps", "-eo", "comm"]
    return subprocess.run(enter, capture_output=True, check=True).stdout


def test_outside_of_a_container_it_refuses() -> None:
    done = subprocess.run(PROGRAM, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "it has to be the first process of a container" in done.stderr
