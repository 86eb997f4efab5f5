"""One process that outlives whoever started it, and is ended only if it is still the same one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from harness.model.errors import ClusterliftError

LOCALHOST = "127.0.0.1"
END_S = 30.0
POLL_S = 0.05

_ALARM = re.compile(r"\b(ERROR|FATAL|\w*(Exception|Error))\b")
_STACK_FRAME = re.compile(r"\s+(at |\.\.\. \d+ more)")


@dataclass(frozen=True)
class Launch:
    """What to start: the daemon's name, its command line, and what its environment has besides."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Daemon:
    """A process that was started, known by its id and the moment of its start.

    `start_ticks` is field 22 of `/proc/PID/stat`, in clock ticks since the machine's start: when
    the kernel gives the id to another process, this differs.
    """

    name: str
    pid: int
    start_ticks: int
    log: str

    def is_alive(self) -> bool:
        """Whether this very process still runs. A child of ours that has ended is reaped."""
        stat = _stat(self.pid)
        if stat is None or stat.start_ticks != self.start_ticks:
            return False
        if stat.state not in "ZX":
            return True
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
        return False

    def kill(self) -> None:
        """SIGKILL to this process and its children, and to no other that may have its id by now."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)  # it leads the group since its start

    def complaint(self) -> str:
        """The line of its log that says why it ended, or the last one."""
        return complaint(Path(self.log))


def start(launch: Launch, log: Path, directory: Path) -> Daemon:
    """Start a daemon in a session of its own, where no terminal's Ctrl-C reaches it.

    Raises ClusterliftError if the command cannot be started.
    """
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                launch.command,
                cwd=directory,
                env={**os.environ, **(launch.environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ClusterliftError(f"cannot start {launch.command[0]}: {error.strerror}") from error
    stat = _stat(process.pid)  # ended or not, it is there until it is reaped
    # It is meant to outlive this object, which would otherwise warn of that.
    process.returncode = 0
    if stat is None:
        raise ClusterliftError(f"cannot start {launch.name}: this system has no /proc/PID/stat")
    return Daemon(launch.name, process.pid, stat.start_ticks, str(log))


def end(daemons: Iterable[Daemon]) -> None:
    """Kill all that still run and wait until they are gone.

    Raises ClusterliftError if one is there after 30 s.
    """
    left = list(daemons)
    for daemon in left:
        daemon.kill()
    deadline = time.monotonic() + END_S
    while left := [daemon for daemon in left if daemon.is_alive()]:
        if time.monotonic() > deadline:
            raise ClusterliftError(
                f"{left[0].name}, process {left[0].pid}, does not end; try again"
            )
        time.sleep(POLL_S)


def complaint(log: Path) -> str:
    """The last line of a log that tells of an error, or else the last one that is not empty."""
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        return f"cannot read {log}: {error.strerror}"
    said = [line.strip() for line in lines if line.strip() and not _STACK_FRAME.match(line)]
    alarms = [line for line in said if _ALARM.search(line)]
    return (alarms or said or ["it said nothing"])[-1]


class _Stat(NamedTuple):
    state: str
    start_ticks: int


def _stat(pid: int) -> _Stat | None:
    """What the kernel knows of a process; None if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The second field, a name in parentheses, may hold anything; the third comes after the last.
    fields = text.rpartition(") ")[2].split()
    return _Stat(fields[0], int(fields[22 - 3]))
