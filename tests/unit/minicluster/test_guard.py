"""A guard cleans up after a process that was killed, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from harness.minicluster.guard import guarded
from tests.waiting import eventually

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


def test_after_sigkill_the_command_runs(tmp_path: Path) -> None:
    kill_owner_of("touch", str(tmp_path / "cleaned"))
    eventually((tmp_path / "cleaned").exists, "the command did not run")


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
