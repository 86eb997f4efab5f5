"""A daemon of this machine: a process that outlives the command that started it, and the ports it listens on.

It is killed only if the process is still the one that was started.
"""

import errno
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from harness.local_spark import closing_message
from harness.model.errors import ClusterliftError

LOCALHOST = "127.0.0.1"
END_S = 30.0
POLL_S = 0.05
CREATE_TIME_TOLERANCE_S = 2.0
"""Clock corrections move the time at which the system says that a process was created."""
# A shell that becomes the command once it has read a line: the process keeps its id.
_AFTER_A_LINE = 'read -r _ && exec "$@" </dev/null'


@dataclass(frozen=True)
class Launch:
    """What to start: the daemon's name, its command line, and additional environment variables."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Daemon:
    """A process that was started, identified by its id and by when it was created.

    `create_time` is in seconds since the epoch. It differs once the system has given the id to
    another process.
    """

    name: str
    pid: int
    create_time: float
    log: str

    def is_alive(self) -> bool:
        """Return whether this very process still runs. A child of ours that has ended is reaped."""
        try:
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.create_time) > CREATE_TIME_TOLERANCE_S:
                return False
            if process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
                return True
        except psutil.NoSuchProcess:
            return False
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
        return False

    def kill(self) -> None:
        """Send SIGKILL to this process and its children, but not to a later process with its id."""
        if self.is_alive():
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)  # `start` made it the leader of its group

    def closing_message(self) -> str:
        """Return the line of its log that says why it ended, or the last one."""
        try:
            return closing_message(Path(self.log).read_text(encoding="utf-8", errors="replace"))
        except OSError as error:
            return f"cannot read {self.log}: {error.strerror}"


@contextmanager
def starting(launch: Launch, log: Path, directory: Path) -> Iterator[Daemon]:
    """Provide a daemon whose command starts when the `with` block ends.

    If this process dies before that, the command never starts. The daemon has a session of its own,
    where Ctrl-C in a terminal does not reach it. Raises ClusterliftError if it cannot be started.
    """
    if shutil.which(launch.command[0]) is None:
        raise ClusterliftError(f"cannot start {launch.command[0]}: there is no such program")
    with log.open("wb") as output:
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _AFTER_A_LINE, launch.name, *launch.command],
                cwd=directory,
                env={**os.environ, **(launch.environment or {})},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise ClusterliftError(f"cannot start /bin/sh: {error.strerror}") from error
    assert process.stdin is not None  # noqa: S101  it is a pipe
    with process.stdin as pipe:
        # Even if it has ended already, the system knows it until it is reaped.
        create_time = psutil.Process(process.pid).create_time()
        # The daemon is meant to outlive this object, which would otherwise warn that it still runs.
        process.returncode = 0
        yield Daemon(launch.name, process.pid, create_time, str(log))
        pipe.write(b"\n")


def end(daemons: Sequence[Daemon]) -> None:
    """Kill daemons and all that they started in their sessions, and wait until they have ended.

    Raises ClusterliftError if a process still runs after 30 s.
    """
    groups = {daemon.pid for daemon in daemons if daemon.is_alive()}
    for daemon in daemons:
        daemon.kill()
    deadline = time.monotonic() + END_S
    while left := [each for each in psutil.process_iter() if _runs_in(groups, each)]:
        for process in left:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        if time.monotonic() > deadline:
            raise ClusterliftError(f"process {left[0].pid} of the cluster does not end; try again")
        time.sleep(POLL_S)
    for daemon in daemons:
        daemon.is_alive()  # which reaps a child of ours


def _runs_in(groups: Collection[int], process: psutil.Process) -> bool:
    """Return whether a process that has not ended is in one of the groups."""
    with suppress(psutil.Error, ProcessLookupError):
        if process.status() not in {psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD}:
            return os.getpgid(process.pid) in groups
    return False


def free_ports(number: int) -> tuple[int, ...]:
    """Return `number` different ports of 127.0.0.1 that are free now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server((LOCALHOST, 0))) for _ in range(number)]
        return tuple(int(server.getsockname()[1]) for server in sockets)


def port_problem(port: int) -> str | None:
    """Say why a server cannot listen on this port of 127.0.0.1, as in `is taken`; None if it can."""
    try:
        # As servers do, it ignores connections that were closed a minute ago.
        socket.create_server((LOCALHOST, port)).close()
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        return "is taken" if taken else f"cannot be used ({os.strerror(error.errno or 0)})"
    return None
