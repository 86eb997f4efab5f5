"""Commands on hosts that cannot outlive us: each ends when its standard input does.

However we end - done, interrupted, killed - the kernel closes the pipe, ssh or docker close its other
end, and a shell over there ends the command. A command waits there for a word of ours before it
starts, so that many begin in the same moment without a common clock.
"""

from __future__ import annotations

import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Generic, Self, TypeVar, cast

from harness.model.errors import BadInput, ToolError
from harness.probes.transports.host import Host, HostError

T = TypeVar("T")

READY = "clusterlift: ready"
NOT_FOUND = 127
ANSWER_S = 30.0
END_S = 5.0

# What a login shell prints comes before $0, and is no output of the command. Many an ssh looks for
# programs in fewer places than root does.
_SCRIPT = (
    'PATH=$PATH:/usr/sbin:/sbin; echo "$0"; read -r _ || exit 0; exec 3<&0; '
    '"$@" </dev/null 3<&- & command=$!; '
    '{ cat; kill "$command"; } <&3 3<&- >/dev/null 2>&1 & exec 3<&-; wait "$command"'
)


@dataclass(frozen=True)
class CompletedCommand:
    """A command that ended by itself. `at_s` is when, on this machine's monotonic clock."""

    code: int
    output: str
    errors: str
    at_s: float


class RemoteProcess:
    """One command on one host. Raises BadInput if this machine has no program to reach it with."""

    def __init__(self, host: Host, command: Sequence[str]) -> None:
        self.host = host
        self._program = command[0]
        self._lines: list[str] = []
        self._ended_s: float | None = None
        self._changed = threading.Condition()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed in `close`
        self._process = self._open(host.argv("sh", "-c", _SCRIPT, READY, *command))
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def await_ready(self, timeout_s: float = ANSWER_S) -> None:
        """Wait until the host has only to be told to start. Raises HostTrouble if it does not answer."""
        self._await(lambda: READY in self._lines, timeout_s)

    def start(self) -> None:
        """Say the word. Whether it was heard is seen by what follows."""
        with suppress(OSError):
            self._stdin.write(b"\n")
            self._stdin.flush()

    def await_line(self, sign: str, timeout_s: float = ANSWER_S) -> None:
        """Wait for a line with `sign` in it. Raises HostTrouble if it ends before, or does not come."""
        self._await(lambda: any(sign in line for line in self._output), timeout_s)

    def finish(self, timeout_s: float = ANSWER_S) -> CompletedCommand:
        """Wait for its end. Raises HostTrouble if it takes longer, or the host was not reached."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended_s is not None, timeout_s)
            if self._ended_s is None:
                raise self._trouble(f"{self._program} took longer than {timeout_s:.0f} s")
        code = self._process.wait()
        if READY not in self._lines or code == NOT_FOUND:
            raise self._ended_early()
        return CompletedCommand(code, "\n".join(self._output), self._said, self._ended_s)

    def let_go(self) -> None:
        """Let the command end; does not wait for it."""
        with suppress(OSError):  # it may be gone
            self._stdin.close()

    def close(self) -> None:
        """Let the command end, and wait until it has; what is not there any more is given up."""
        self.let_go()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(END_S)
        self._errors.close()

    def _open(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  an argument vector, no shell of ours
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,  # a terminal's Ctrl-C is not for it
            )
        except FileNotFoundError as error:
            self._errors.close()
            raise BadInput(
                f"{self.host}: no '{command[0]}' is on the PATH to reach it with"
            ) from error

    def _read(self) -> None:
        for line in cast("IO[bytes]", self._process.stdout):
            with self._changed:
                self._lines.append(line.decode(errors="replace").rstrip("\r\n"))
                self._changed.notify_all()
        with self._changed:
            self._ended_s = time.monotonic()
            self._changed.notify_all()

    def _await(self, reached: Callable[[], bool], timeout_s: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: reached() or self._ended_s is not None, timeout_s)
            if reached():
                return
            if self._ended_s is None:
                raise self._trouble(f"no answer within {timeout_s:.0f} s")
        raise self._ended_early()

    def _ended_early(self) -> HostError:
        code = self._process.wait()
        if code == NOT_FOUND and READY in self._lines:
            return self._trouble(f"{self._program} is not there; install it")
        return self._trouble(telling_line(self._said) or f"{self._program} ended with code {code}")

    def _trouble(self, what: str) -> HostError:
        return HostError(f"{self.host}: {what}")

    @property
    def _stdin(self) -> IO[bytes]:
        return cast("IO[bytes]", self._process.stdin)

    @property
    def _output(self) -> list[str]:
        """The lines that are the command's own."""
        start = self._lines.index(READY) + 1 if READY in self._lines else len(self._lines)
        return self._lines[start:]

    @property
    def _said(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")


class RemoteProcesses:
    """Commands that are all over when this is left."""

    def __init__(self) -> None:
        self._all: list[RemoteProcess] = []

    def put(self, host: Host, *command: str) -> RemoteProcess:
        """A command on a host, which waits for its start."""
        remote = RemoteProcess(host, command)
        self._all.append(remote)
        return remote

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for remote in self._all:
            remote.let_go()
        for remote in self._all:
            remote.close()


def run_all(
    questions: Iterable[tuple[Host, Sequence[str]]], timeout_s: float = ANSWER_S
) -> list[CompletedCommand | HostError]:
    """Run each command on its host, all at once, and return how each ended, in order."""
    with RemoteProcesses() as remotes:
        asked = [remotes.put(host, *command) for host, command in questions]
        for remote in asked:
            remote.start()
        return [_answer(remote, timeout_s) for remote in asked]


def parse_answer(
    who: object, answer: CompletedCommand | HostError, read: Callable[[CompletedCommand], T]
) -> T | HostError:
    """What `read` makes of an answer; in place of a ToolFailed, what the program complained of."""
    if isinstance(answer, HostError):
        return answer
    try:
        return read(answer)
    except ToolError as error:
        complaint = telling_line(answer.errors) if answer.code else ""
        return HostError(f"{who}: {complaint or error}")


def telling_line(text: str) -> str:
    """The last line that speaks of an error, or else the last; empty if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return next(iter([*errors[-1:], *lines[-1:]]), "")


def _answer(remote: RemoteProcess, timeout_s: float) -> CompletedCommand | HostError:
    try:
        return remote.finish(timeout_s)
    except HostError as trouble:
        return trouble


# MERGED from harness.probes.exchange: 'A server on one host and its client on another, started when both are ready.'
class ClientServerRun(Generic[T]):
    """What a client and its server come to, as `read` understands the client; or why to nothing.

    `sign` is in the line that the server prints when it can be connected to.
    """

    def __init__(
        self,
        remotes: RemoteProcesses,
        server: tuple[Host, Sequence[str]],
        client: tuple[Host, Sequence[str]],
        *,
        sign: str,
        read: Callable[[CompletedCommand], T],
        timeout_s: float,
    ) -> None:
        self._name = f"{client[0]} -> {server[0]}"
        self._server = remotes.put(server[0], *server[1])
        self._client = remotes.put(client[0], *client[1])
        self._sign = sign
        self._read = read
        self._timeout_s = timeout_s
        self._trouble: HostError | None = None

    def open(self) -> None:
        """Wait until the server listens, and the client has only to be told to start."""
        try:
            self._server.await_ready()
            self._server.start()
            self._server.await_line(self._sign)
            self._client.await_ready()
        except HostError as trouble:
            self._trouble = trouble

    def start(self) -> None:
        """Tell the client to start, if the server listens."""
        if self._trouble is None:
            self._client.start()

    def finish(self) -> T | HostError:
        """Wait for the client's end, and return what it came to."""
        if self._trouble is not None:
            return self._trouble
        try:
            ended = self._client.finish(self._timeout_s)
        except HostError as trouble:
            return trouble
        return parse_answer(self._name, ended, self._read)
