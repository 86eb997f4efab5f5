"""A guard cleans up after a process that was killed, and only then."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.child_process import END_WITH_INPUT
from harness.minicluster.guard import guarded
from tests.waiting import PATIENCE_S, eventually

OWNER = """
import sys
from harness.minicluster.guard import guarded
with guarded(*sys.argv[1:]):
    print("guarded", flush=True)
    sys.stdin.read()
"""


def kill_owner_of(*command: str) -> None:
    """Kill a process while a guard would run this command after it."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline() == b"guarded\n"
        owner.kill()


def test_a_command_that_fails_is_tried_again(tmp_path: Path) -> None:
    line = f"cd {tmp_path}; mkdir tried && exit 1; mkdir cleaned"
    kill_owner_of("sh", "-c", line)
    eventually((tmp_path / "cleaned").exists, "the command was not tried again")


def test_otherwise_it_does_not_run(tmp_path: Path) -> None:
    with guarded("touch", str(tmp_path / "cleaned")):
        pass
    with pytest.raises(KeyboardInterrupt), guarded("touch", str(tmp_path / "cleaned")):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


class TestEndWithInput:
    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a command in a session of its own, as Docker does."""
        return subprocess.Popen(
            ["sh", "-c", END_WITH_INPUT, "submit", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def test_a_command_is_interrupted_when_its_input_is_closed(self) -> None:
        process = self.start("sleep", "1000")
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == -signal.SIGINT

    def test_so_are_the_processes_that_it_started(self) -> None:
        process = self.start("sh", "-c", "sleep 1000; true")
        # Between fork and exec, a child of dash may lose an interrupt, so let it run `sleep` first.
        eventually(lambda: "sleep" in children(process.pid))
        output, _ = process.communicate(timeout=PATIENCE_S)  # ends when no process has it open
        assert (output, process.returncode) == (b"", -signal.SIGINT)


def children(pid: int) -> list[str]:
    """Return the names of the programs that a process has started."""
    started = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [Path(f"/proc/{child}/comm").read_text().strip() for child in started]
