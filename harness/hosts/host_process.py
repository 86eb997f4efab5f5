"""A process of this machine that reaches a host (sh, ssh, docker ...), with pipes to a shell there."""

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, cast

from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput

ANSWER_S = 30.0


class HostProcess:
    """A shell on a host that runs `script`; what it prints is read as it comes.

    Raise BadInput if this machine lacks the program that reaches the host.
    """

    def __init__(self, host: Host, script: str, *arguments: str) -> None:
        self.host = host
        self._lines: list[str] = []
        self._arrived_s: list[float] = []
        self._ended_s: float | None = None
        self._changed = threading.Condition()
        self._error_file = tempfile.TemporaryFile()  # noqa: SIM115  closed in `_close`
        command = host.argv("sh", "-c", script, *arguments)
        try:
            self._process = subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._error_file,
                start_new_session=True,  # so that a terminal's Ctrl-C does not reach it
            )
        except FileNotFoundError as error:
            self._error_file.close()
            raise BadInput(
                f"{host}: cannot be reached: no '{command[0]}' is on the PATH"
            ) from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def close_stdin(self) -> None:
        """Close our end of the connection, which makes the shell end; do not wait for that."""
        with suppress(OSError):  # it may have ended already
            self._stdin.close()

    def _close(self, timeout_s: float) -> None:
        """Make the shell end and wait for its end; kill our side of it if that takes too long."""
        self.close_stdin()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout_s)
        self._error_file.close()

    def _write(self, line: str) -> None:
        with suppress(OSError):  # it has gone: whoever waits for it finds out
            self._stdin.write(f"{line}\n".encode())
            self._stdin.flush()

    def _read(self) -> None:
        for line in cast("IO[bytes]", self._process.stdout):
            with self._changed:
                self._lines.append(line.decode(errors="replace").rstrip("\r\n"))
                self._arrived_s.append(time.monotonic())
                self._changed.notify_all()
        with self._changed:
            self._ended_s = time.monotonic()
            self._changed.notify_all()

    def _await(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until the condition on the lines is met.

        Raise HostError if the process ends before, or it is not met in time.
        """
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._ended_s is not None, timeout_s)
            if condition():
                return
            if self._ended_s is None:
                raise self._host_error(f"no answer within {timeout_s:.0f} s")
        raise self._early_end()

    def _early_end(self) -> HostError:
        """Return why the process ended before it printed what was waited for."""
        raise NotImplementedError

    def _host_error(self, reason: str) -> HostError:
        return HostError(f"{self.host}: {reason}")

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _errors(self) -> str:
        self._error_file.seek(0)
        return self._error_file.read().decode(errors="replace")
