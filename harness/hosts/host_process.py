"""A process of this machine that reaches a host (sh, ssh, docker ...), with pipes to a shell there."""

import os
import select
import selectors
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, cast

from harness.child_process import ENGLISH
from harness.hosts.lease import STAY
from harness.hosts.transports.host import Host, HostError
from harness.model.errors import BadInput

ANSWER_S = 30.0
MAX_ANSWER_BYTES = 2**20
"""Many times what the longest answer has. What is parsed takes up to 30 times as much memory."""
_LINE_BYTES = 64
"""What a line takes here beside its text."""
_PIECE_BYTES = 2**16
_POLL_S = 0.05
_EXPORT = f"export {' '.join(map('='.join, ENGLISH.items()))}"


class HostProcess:
    """A shell on a host that runs `script` in ENGLISH; what it prints is read as it comes.

    Output and errors have up to `max_bytes` together: a host that prints more is given up. Raise BadInput if
    this machine lacks the program that reaches the host.
    """

    def __init__(
        self, host: Host, script: str, *arguments: str, max_bytes: int = MAX_ANSWER_BYTES
    ) -> None:
        self.host = host
        self._lines: list[str] = []
        self._has_ended = False
        self._heard_s = time.monotonic()
        self._changed = threading.Condition()
        self._writing = threading.Lock()
        self._max_bytes = self._left_bytes = max_bytes
        self._unfinished, self._error_bytes = bytearray(), bytearray()
        command = host.argv("sh", "-c", f"{_EXPORT}\n{script}", *arguments)
        try:
            self._process = subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                bufsize=0,
                env={**os.environ, **ENGLISH},  # ssh may forward it
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # so that a terminal's Ctrl-C does not reach it
            )
        except FileNotFoundError as error:
            raise BadInput(
                f"{host}: cannot be reached: no '{command[0]}' is on the PATH"
            ) from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def renew(self) -> None:
        """Let the shell wait for another lease; do not wait for a host that takes nothing any more."""
        if not self._writing.acquire(blocking=False):
            return
        try:
            with suppress(OSError, ValueError):  # it may have gone
                pipe = select.poll()
                pipe.register(self._stdin, select.POLLOUT)
                if pipe.poll(0):
                    self._stdin.write(f"{STAY}\n".encode())
        finally:
            self._writing.release()

    def close_stdin(self) -> None:
        """Close our end of the connection, which makes the shell end; do not wait for that."""
        with suppress(OSError):  # it may have ended already
            self._stdin.close()

    def close(self, timeout_s: float) -> None:
        """Make the shell end and wait for its end; kill our side of it if that takes too long."""
        self.close_stdin()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout_s)

    def _write(self, line: str) -> None:
        """Write a whole line, into which no line of another thread comes."""
        left = f"{line}\n".encode()
        # If the process has gone, `_await` says so.
        with self._writing, suppress(OSError, ValueError):
            while left:
                left = left[self._stdin.write(left) :]

    def _read(self) -> None:
        """Take what comes by both pipes until the process has ended, or has printed too much."""
        output, errors = (
            cast("IO[bytes]", pipe) for pipe in (self._process.stdout, self._process.stderr)
        )
        with output, errors, selectors.PollSelector() as selector:
            selector.register(output, selectors.EVENT_READ, self._take_output)
            selector.register(errors, selectors.EVENT_READ, self._error_bytes.extend)
            while (pipes := selector.get_map()) and self._left_bytes >= 0:
                # Something that stays in the background, as a shared connection of ssh, may keep its errors.
                has_ended = output not in pipes and self._process.poll() is not None
                ready = selector.select(None if output in pipes else 0 if has_ended else _POLL_S)
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE_BYTES)
                    self._take(piece, key.data)
                    if not piece:
                        selector.unregister(key.fileobj)
                if has_ended and not ready:
                    break
        self._end()

    def _take(self, piece: bytes, receive: Callable[[bytes], object]) -> None:
        """Count a piece of what the host printed, and pass it on."""
        self._heard_s = time.monotonic()
        self._left_bytes -= len(piece)
        receive(piece)

    def _end(self) -> None:
        """Wake up the threads that wait: nothing more comes."""
        if self._left_bytes < 0:
            self._process.kill()
        self._process.wait()
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _take_output(self, piece: bytes) -> None:
        """Cut output into lines; an empty piece is its end."""
        self._unfinished += piece
        if b"\n" in piece:
            whole, _, self._unfinished = self._unfinished.rpartition(b"\n")
        elif self._unfinished and not piece:
            whole = self._unfinished
        else:
            return
        lines = [line.rstrip("\r") for line in whole.decode(errors="replace").split("\n")]
        self._left_bytes -= _LINE_BYTES * len(lines)
        with self._changed:
            self._heard(lines)
            self._changed.notify_all()

    def _heard(self, lines: list[str]) -> None:
        self._lines += lines

    def _await(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until the condition on the lines is met.

        Raise HostError if the process ends before, or it is not met in time.
        """
        with self._changed:
            self._changed.wait_for(lambda: condition() or self._has_ended, timeout_s)
            if condition():
                return
            if not self._has_ended:
                raise self._host_error(f"no answer for {time.monotonic() - self._heard_s:.0f} s")
        raise self._flood() or self._early_end()

    def _flood(self) -> HostError | None:
        """Return that the host printed too much, if it did."""
        if self._left_bytes >= 0:
            return None
        return self._host_error(
            f"it printed more than {self._max_bytes / 2**20:g} MiB, and was given up"
        )

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
        return self._error_bytes.decode(errors="replace")
