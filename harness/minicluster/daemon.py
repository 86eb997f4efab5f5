"""The daemons of a cluster on this machine: processes in one group, which a guard leads.

If this process is gone for any reason, the kernel closes its end of the guard's pipe. Then the guard kills
the group and removes what it stored. The group has the number of the guard, which no other process gets while
the guard is there.
"""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.base.errors import ClusterliftError
from harness.base.failure_reason import failure_reason
from harness.base.interrupt import deferred_signals

LOCALHOST = "127.0.0.1"
COMMAND = "command.pid"
"""The file with the number of the process that runs beside the cluster, in the cluster's directory."""
END_S = 30.0
POLL_S = 0.05


@dataclass(frozen=True)
class Launch:
    """What to start: the daemon's name, its command line, and additional environment variables."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Daemon:
    """A process that was started, and the file with what it prints."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    def is_alive(self) -> bool:
        """Return whether it still runs."""
        return self.process.poll() is None

    def closing_message(self) -> str:
        """Return the line of its log that says why it ended."""
        try:
            printed = self.log.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            return f"cannot read {self.log}: {error.strerror}"
        return failure_reason(printed) or "no message"


@contextmanager
def guarded(directory: Path) -> Iterator[int]:
    """Provide the number of a process group. At the end, kill the group and remove its directory.

    If this process is killed, a guard does so, and ends the process that COMMAND names. Ctrl-C in a terminal
    does not reach the group. Raise ClusterliftError if the guard cannot start, OSError if the directory
    cannot be removed.
    """
    try:
        guard = subprocess.Popen(
            [sys.executable, "-m", __name__, str(directory)],
            # An installation has added to the path.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=partial(os.setpgid, 0, 0),  # noqa: PLW1509  process_group is of Python 3.11
        )
    except OSError as error:
        raise ClusterliftError(f"cannot start {sys.executable}: {error.strerror}") from error
    with guard:
        try:
            yield guard.pid
        finally:
            with deferred_signals():
                _end(guard.pid, directory)


def start(launch: Launch, log: Path, directory: Path, group: int) -> Daemon:
    """Start a daemon in a directory and a process group. Raise ClusterliftError if that fails."""
    try:
        with log.open("wb") as output:
            process = subprocess.Popen(
                launch.command,
                cwd=directory,
                env={**os.environ, **(launch.environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                preexec_fn=partial(os.setpgid, 0, group),  # noqa: PLW1509  process_group is of Python 3.11
            )
    except OSError as error:
        raise ClusterliftError(f"cannot start {launch.command[0]}: {error.strerror}") from error
    except subprocess.SubprocessError as error:
        raise ClusterliftError(f"cannot start {launch.command[0]}: its guard has ended") from error
    return Daemon(launch.name, process, log)


def _end(group: int, directory: Path) -> None:
    """Kill a group, and remove its directory: a process that waits for a disk writes until that is done."""
    deadline = time.monotonic() + END_S
    while True:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)
        if not directory.exists():
            return
        shutil.rmtree(directory, ignore_errors=time.monotonic() < deadline)
        time.sleep(POLL_S)


def free_ports(number: int) -> tuple[int, ...]:
    """Return `number` different ports of 127.0.0.1 that are free now."""
    with ExitStack() as stack:
        ports = []
        for _ in range(number):
            server = stack.enter_context(socket.create_server((LOCALHOST, 0)))
            ports.append(int(server.getsockname()[1]))
        return tuple(ports)


def port_problem(port: int) -> str | None:
    """Say why a server cannot listen on this port of 127.0.0.1, as in `is taken`; None if it can."""
    try:
        # As servers do, it ignores connections that were closed a minute ago.
        socket.create_server((LOCALHOST, port)).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return "is taken"
        return f"cannot be used ({os.strerror(error.errno or 0)})"
    return None


def _guard(directory: Path) -> None:
    """Wait until the process that started this one is gone, and clean up after it."""
    sys.stdin.read()
    group = os.getpgrp()
    child = os.fork()
    if child:
        os.waitpid(child, 0)  # the group keeps its number
        return
    os.setpgid(0, 0)
    with suppress(OSError, ValueError):
        os.kill(int((directory / COMMAND).read_text()), signal.SIGTERM)
    _end(group, directory)


if __name__ == "__main__":
    _guard(Path(sys.argv[1]))
