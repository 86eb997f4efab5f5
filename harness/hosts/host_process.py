"""A process of this machine that reaches a host (sh, ssh, docker ...), with pipes to a shell there.

The shell prints BEGUN on both streams before anything else. So what ssh and a login shell print comes before
it, and what the commands print comes after it. Then the shell reads its script as one line of its input. The
command line of ssh is always the same words, which a login shell that is not POSIX (csh, fish) splits as `sh`
would.
"""

import os
import random
import select
import selectors
import shlex
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, cast

from harness.base.child_process import ENGLISH
from harness.base.errors import BadInput
from harness.base.failure_reason import failure_reason, is_turned_away, stated_error
from harness.hosts.lease import STAY
from harness.hosts.parallelism import MAX_OPENING
from harness.hosts.transports.host import Host, HostError

ANSWER_S = 30.0
MAX_ANSWER_BYTES = 2**20
"""Many times what the longest answer has. A parsed answer takes up to 30 times as much memory."""
_LINE_BYTES = 64
"""The memory that a line takes here beside its text."""
_PIECE_BYTES = 2**16
_POLL_S = 0.05
PAUSES_S = (1, 2, 4, 8, 16)
"""Between attempts to reach a host whose sshd, or whose jump host, turned us away. `ufw limit` forgets what
is older than 30 seconds."""
_REFUSED_PAUSES_S = PAUSES_S[:2]
"""For a host that was not reached before, and so may just be down."""
_SSH_FAILED = 255
NOT_FOUND = 127
NOT_STARTED = (126, NOT_FOUND)
"""Codes of a shell, and of docker, for a program that it cannot start."""
_THROUGH_ANOTHER = "UNKNOWN port"
"""The other end of a connection through a jump host, in the words of ssh."""
BEGUN = "clusterlift: begun"
# A login shell may have printed something that has no line feed at its end.
_BEGIN = f'echo; echo {BEGUN}; echo >&2; echo {BEGUN} >&2; IFS= read -r line && eval "$(printf %b "$line")"'
_EXPORT = f"export {' '.join(f'{name}={value}' for name, value in ENGLISH.items())}"

_again = threading.BoundedSemaphore(MAX_OPENING)
_reached: set[Host] = set()


def as_line(script: str) -> str:
    """Return a script as one line. `printf %b` makes the script of it again."""
    return script.replace("\\", "\\\\").replace("\n", "\\n")


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
        self._max_bytes = max_bytes
        self._has_begun = False
        self._is_closed = threading.Event()
        self._opening = threading.Lock()
        self._paused_s = 0.0
        self._has_turn = False
        words = shlex.join(arguments)
        self._waiting = [as_line(f"{_EXPORT}\nset -- {words}\n{script}")]
        """Lines that are written when the shell has begun: before, a login shell would read them."""
        self._open()
        self._reader = threading.Thread(target=self._run, daemon=True)
        self._reader.start()

    def _open(self) -> None:
        """Start to reach the host. The output of a former attempt is forgotten."""
        self._left_bytes = self._max_bytes
        self._greeting: list[str] = []
        self._unfinished = bytearray()
        self._error_bytes = bytearray()
        command = self.host.argv("sh", "-c", _BEGIN)
        if "\0" in "".join(command + self._waiting):
            raise BadInput(f"{self.host}: its name or command has a NUL character; leave that out")
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
                f"{self.host}: cannot be reached: no '{command[0]}' is on the PATH"
            ) from error

    def renew(self) -> None:
        """Let the shell wait for another lease. Do not wait for a host that takes nothing any more."""
        if not self._has_begun or not self._writing.acquire(blocking=False):
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
        """Close our end of the connection, which makes the shell end, and return at once."""
        with self._opening:
            self._is_closed.set()
        with suppress(OSError):  # it may have ended already
            self._stdin.close()

    def close(self, timeout_s: float) -> None:
        """Make the shell end and wait for its end. If that takes too long, kill our side of it."""
        self.close_stdin()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(timeout_s)

    def _write(self, line: str) -> None:
        """Write a whole line, into which no line of another thread comes, when the shell has begun."""
        with self._writing:
            if self._has_begun:
                self._write_now(line)
            else:
                self._waiting.append(line)

    def _write_now(self, line: str) -> None:
        left = f"{line}\n".encode()
        with suppress(OSError, ValueError):  # if the process has gone, `_await` says so
            while left:
                left = left[self._stdin.write(left) :]

    def _begin(self) -> None:
        """Write the lines that waited for the shell: first its script."""
        _reached.add(self.host)
        self._end_turn()
        with self._writing:
            self._has_begun = True
            for line in self._waiting:
                self._write_now(line)
            self._waiting.clear()

    def _run(self) -> None:
        """Take what comes until the process ends. If ssh was turned away, try again after a pause."""
        self._read()
        for pause_s in PAUSES_S:
            if not self._may_try_again(pause_s):
                break
            # Those that were turned away together shall not come back together.
            self._pause(pause_s * random.uniform(1, 1.2))  # noqa: S311
            if not self._open_again():
                break
            self._read()
        self._end()

    def _end(self) -> None:
        """Wake up the threads that wait: nothing more comes."""
        with self._changed:
            self._has_ended = True
            self._changed.notify_all()

    def _open_again(self) -> bool:
        """Try to reach the host again, with few others at the same time, unless it was closed."""
        _again.acquire()
        self._has_turn = True
        with self._opening:
            if not self._is_closed.is_set():
                self._open()
                return True
        self._end_turn()
        return False

    def _may_try_again(self, pause_s: float) -> bool:
        """Whether ssh was turned away, which may be different after this pause."""
        code = self._process.poll()
        if self._has_begun or code != _SSH_FAILED or not self.host.through_shell:
            return False
        is_refused = "Connection refused" in self._errors
        may_be_down = self.host not in _reached and _THROUGH_ANOTHER not in self._errors
        if is_refused and may_be_down and pause_s not in _REFUSED_PAUSES_S:
            return False
        return is_turned_away(self._login_failure())

    def _pause(self, pause_s: float) -> None:
        """Wait before another attempt, unless it was closed. Whoever waits for the host waits longer."""
        self._paused_s += pause_s
        self._is_closed.wait(pause_s)

    def _read(self) -> None:
        """Take what comes by both pipes until the process has ended, or has printed too much."""
        output = cast("IO[bytes]", self._process.stdout)
        errors = cast("IO[bytes]", self._process.stderr)
        with output, errors, selectors.PollSelector() as selector:
            selector.register(output, selectors.EVENT_READ, self._take_output)
            selector.register(errors, selectors.EVENT_READ, self._error_bytes.extend)
            pipes = selector.get_map()
            has_ended = False
            while pipes and self._left_bytes >= 0:
                timeout_s: float | None = None
                if output not in pipes:  # ssh's shared connection may keep the errors open
                    has_ended = self._process.poll() is not None
                    timeout_s = 0 if has_ended else _POLL_S
                ready = selector.select(timeout_s)
                for key, _ in ready:
                    piece = os.read(key.fd, _PIECE_BYTES)
                    self._take(piece, key.data)
                    if not piece:
                        selector.unregister(key.fileobj)
                if has_ended and not ready:
                    break
        if self._left_bytes < 0:
            self._process.kill()
        self._process.wait()
        self._end_turn()

    def _end_turn(self) -> None:
        """Let another process reach its host again: ours is reached, or is not."""
        if self._has_turn:
            self._has_turn = False
            _again.release()

    def _take(self, piece: bytes, receive: Callable[[bytes], object]) -> None:
        """Count a piece of what the host printed, and pass it on."""
        self._heard_s = time.monotonic()
        self._left_bytes -= len(piece)
        receive(piece)

    def _take_output(self, piece: bytes) -> None:
        """Cut output into lines. An empty piece is its end."""
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
            if not self._has_begun:
                self._greeting += lines
                if BEGUN not in self._greeting:
                    return
                place = self._greeting.index(BEGUN)
                lines = self._greeting[place + 1 :]
                del self._greeting[place:]
                self._begin()
            self._heard(lines)
            self._changed.notify_all()

    def _heard(self, lines: list[str]) -> None:
        """Keep lines that the commands print."""
        self._lines += lines

    def _wait(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until the condition is met, or for `timeout_s`; pauses between attempts do not count."""
        paused_before_s = self._paused_s
        until_s = time.monotonic() + timeout_s
        while not condition():
            pauses_s = self._paused_s - paused_before_s
            left_s = until_s + pauses_s - time.monotonic()
            if left_s <= 0:
                return
            self._changed.wait_for(condition, left_s)

    def _await(self, condition: Callable[[], bool], timeout_s: float) -> None:
        """Wait until the condition on the lines is met.

        Raise HostError if the process ends before, or it is not met in time.
        """
        with self._changed:
            self._wait(lambda: condition() or self._has_ended, timeout_s)
            if condition():
                return
            if not self._has_ended:
                raise self._host_error(f"no answer for {time.monotonic() - self._heard_s:.0f} s")
        raise self._flood() or self._host_error(self._early_end())

    def _flood(self) -> HostError | None:
        """Return that the host printed too much, if it did."""
        if self._left_bytes >= 0:
            return None
        return self._host_error(
            f"it printed more than {self._max_bytes / 2**20:g} MiB, and was given up"
        )

    def _early_end(self) -> str:
        """Return why the process ended before it printed what was waited for."""
        code = self._process.wait()
        if not self._has_begun:
            program = self.host.argv("sh")[0]
            return (
                self._login_failure()
                or f"{program} ended with code {code} before any command began"
            )
        stated = stated_error("\n".join(self._lines))
        return failure_reason(self._errors, stated) or f"it ended with code {code}"

    def _login_failure(self) -> str:
        """Return why no command began, as ssh, docker or a login shell says."""
        greeting = "\n".join(self._greeting)
        if self._process.poll() in {_SSH_FAILED, *NOT_STARTED}:
            return failure_reason(self._errors, greeting)
        # ssh got in. A login shell that refuses to run commands says so on its output.
        return failure_reason(greeting) or failure_reason(self._errors)

    def _host_error(self, reason: str) -> HostError:
        return HostError(f"{self.host}: {reason}")

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _errors(self) -> str:
        """The errors of the commands; before they begin, the errors of ssh and of a login shell."""
        printed = self._error_bytes.decode(errors="replace")
        _, mark, after = printed.partition(f"{BEGUN}\n")
        if mark:
            return after
        return printed
