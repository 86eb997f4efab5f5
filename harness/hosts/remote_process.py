"""Remote processes: commands on hosts that cannot outlive us, because each ends with its standard input.

However this process ends - normally, interrupted or killed - the kernel closes the pipe, ssh or docker closes
the other end, and a shell on the host ends the command. If the connection is lost without being closed, the
shell ends the command with its lease. The shell waits for a line before it starts the command,
so that commands on many hosts start at the same moment without a common clock.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Generic, TypeVar

from harness.base.child_process import SIGNALLED
from harness.base.errors import UNEXPECTED, ToolError
from harness.base.failure_reason import OWN, Rank, failure_reason, missing_program, stated_error
from harness.hosts import lease
from harness.hosts.host_process import (
    ANSWER_S,
    MAX_ANSWER_BYTES,
    NOT_FOUND,
    HostProcess,
    as_line,
)
from harness.hosts.parallelism import MAX_COMMANDS, allow_commands
from harness.hosts.transports.host import Host, HostError

K = TypeVar("K")
T = TypeVar("T")

READY = "clusterlift: ready"
END_S = 5.0
TENTHS_TO_END = 100
"""Tenths of a second that a command has to end when it is asked to."""

# The PATH of an ssh session often lacks the directories of root's programs. Without a command, the line that
# starts it is a script. What a command starts is in the process group of this shell, unless it makes its own.
# When we are gone, all of the group are asked to end, and are killed later.
_SCRIPT = f"""{lease.HEAR}
PATH=$PATH:/usr/sbin:/sbin
command -v timeout >/dev/null || {{ echo "{OWN}timeout is not installed" >&2; exit 1; }}
echo "{READY}"
until script=$(hear) || exit 0; [ "$script" != {lease.STAY} ]; do :; done
[ $# -gt 0 ] || set -- eval "$(printf %b "$script")"
exec 3<&0
"$@" </dev/null 3<&- & command=$!
read -r _ _ _ _ group _ </proc/$$/stat
trap : TERM
{{
  while hear; do :; done
  kill -0 "$command" || exit
  trap : TERM
  kill -s TERM -- "-$group"
  left=$tenths
  while [ $((left -= 1)) -gt 0 ] && kill -0 "$command"; do sleep 0.1; done
  kill -s KILL -- "-$group"
}} <&3 3<&- >/dev/null 2>&1 & exec 3<&-
# A signal that is caught ends `wait`, too.
until wait "$command"; code=$?; ! kill -0 "$command" 2>/dev/null; do :; done
exit $code
"""


class Script(str):
    """The text of a script for `sh`, where a command could be."""

    __slots__ = ()


@dataclass(frozen=True)
class CompletedCommand:
    """A command that ended by itself: its exit code, and what it printed."""

    code: int
    output: str
    errors: str


class RemoteProcess(HostProcess):
    """One command on one host: an argument vector, or a script, which `ps` does not show.

    Raise BadInput if this machine lacks the program that reaches the host.
    """

    def __init__(
        self, host: Host, command: Sequence[str] | Script, max_bytes: int = MAX_ANSWER_BYTES
    ) -> None:
        words: Sequence[str] = ()
        self._program = "the script"
        self._start_line = ""
        if isinstance(command, Script):
            self._start_line = as_line(command)
        else:
            words = command
            self._program = command[0]
        self.started_s = time.monotonic()
        self.is_ready = False
        """Whether the host has answered, so that the command can be started."""
        script = f"lease={lease.LEASE_S:g}; tenths={TENTHS_TO_END}; {_SCRIPT}"
        super().__init__(host, script, *words, max_bytes=max_bytes)

    def await_ready(self, timeout_s: float = ANSWER_S) -> None:
        """Wait until the command can be started. Raise HostError if the host does not answer."""
        self._await(lambda: self.is_ready, timeout_s)

    def start(self) -> None:
        """Start the command. If the host has gone, the next call raises HostError."""
        self.started_s = time.monotonic()
        self._write(self._start_line)

    def await_line(self, text: str, timeout_s: float = ANSWER_S) -> str:
        """Wait for a line of output that contains `text`, and return the first.

        Raise HostError if the command ends before, or does not print it in time.
        """
        checked = 0

        def is_printed() -> bool:
            nonlocal checked
            while checked < len(self._lines) and text not in self._lines[checked]:
                checked += 1
            return checked < len(self._lines)

        self._await(is_printed, timeout_s)
        return self._lines[checked]

    @property
    def has_ended(self) -> bool:
        """Whether the command ended, or the host is not reached any more."""
        return self._has_ended

    def finish(self, timeout_s: float = ANSWER_S) -> CompletedCommand:
        """Wait for the command's end. Raise HostError if it takes longer, or the host was not reached."""
        with self._changed:
            self._wait(lambda: self._has_ended, timeout_s)
            if not self._has_ended:
                took_s = time.monotonic() - self.started_s
                raise self._host_error(f"{self._program} took longer than {took_s:.0f} s")
        flood = self._flood()
        if flood:
            raise flood
        code = self._process.wait()
        if not self.is_ready or code == NOT_FOUND:
            raise self._host_error(self._early_end())
        return CompletedCommand(code, "\n".join(self._lines), self._errors)

    def finish_parsed(
        self, parse: Callable[[CompletedCommand], T], timeout_s: float = ANSWER_S
    ) -> T | HostError:
        """Return the parsed output, or why there is none. The command may take `timeout_s`."""
        return parse_completed(self.host, _finish(self, timeout_s), parse)

    def _early_end(self) -> str:
        reason = super()._early_end()
        if self._process.poll() == NOT_FOUND:
            # A file that is named by its path may be there, and lack what runs it.
            program = missing_program(reason)
            if program and "/" not in program:
                return f"{program} is not installed"
        return reason

    def _heard(self, lines: list[str]) -> None:
        """Keep the lines that the command itself prints: those after READY."""
        if not self.is_ready and READY in lines:
            self.is_ready = True
            lines = lines[lines.index(READY) + 1 :]
        if self.is_ready:
            super()._heard(lines)


class RemoteProcesses:
    """A context in which remote processes run. All end when it is left."""

    def __init__(self) -> None:
        self._processes: list[RemoteProcess] = []
        self._renewal = lease.Renewal(lambda: self._processes, lease.LEASE_S)

    def add(
        self, host: Host, command: Sequence[str] | Script, max_bytes: int = MAX_ANSWER_BYTES
    ) -> RemoteProcess:
        """Return a new remote process of an argument vector, or of a script, which waits for its start."""
        allow_commands(len(self._processes) + 1)
        remote = RemoteProcess(host, command, max_bytes)
        self._processes.append(remote)
        return remote

    def close(self, remote: RemoteProcess) -> None:
        """End a process that is waited for no longer at once, so that another can take its place."""
        self._processes.remove(remote)
        remote.close(0)

    def __enter__(self) -> "RemoteProcesses":
        self._renewal.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._renewal.__exit__()
        for remote in self._processes:
            remote.close_stdin()
        # Those that do not end have END_S together, however many they are.
        until_s = time.monotonic() + END_S
        for remote in self._processes:
            remote.close(max(0.0, until_s - time.monotonic()))


def run_all(
    commands: Iterable[tuple[Host, Sequence[str] | Script]],
    timeout_s: float = ANSWER_S,
    at_once: int = MAX_COMMANDS,
    max_bytes: int = MAX_ANSWER_BYTES,
) -> list[CompletedCommand | HostError]:
    """Run each command on its host, and return how each ended, in order.

    Up to `at_once` commands start at the same time. Each other one starts when the oldest has ended, so that
    a thousand hosts take no more processes than `at_once`.
    """
    remaining = iter(commands)
    endings: list[CompletedCommand | HostError] = []
    with RemoteProcesses() as remotes:
        running = deque(
            remotes.add(host, command, max_bytes) for host, command in islice(remaining, at_once)
        )
        for remote in running:
            remote.start()
        while running:
            oldest = running.popleft()
            endings.append(_finish(oldest, timeout_s))
            for host, command in islice(remaining, 1):
                remotes.close(oldest)
                running.append(remotes.add(host, command, max_bytes))
                running[-1].start()
    return endings


def parse_completed(
    subject: object, completed: CompletedCommand | HostError, parse: Callable[[CompletedCommand], T]
) -> T | HostError:
    """Return what `parse` makes of a completed command, or the HostError that came in its place.

    If `parse` raises ToolError, or one of the UNEXPECTED errors, return a HostError about `subject`. It has
    the error that the program itself printed, if the program failed with one. If a signal ended a program,
    the shell has printed a word for that: `Killed`.
    """
    if isinstance(completed, HostError):
        return completed
    try:
        return parse(completed)
    except ToolError as error:
        reason = str(error)
    except UNEXPECTED:
        reason = "its answer cannot be read"
    printed = ""
    if completed.code:
        printed = failure_reason(completed.errors, stated_error(completed.output), least=Rank.TEXT)
    if printed and completed.code > SIGNALLED:
        return HostError(f"{subject}: {reason} ({printed})")
    return HostError(f"{subject}: {printed or reason}")


def ask(
    commands: Mapping[K, tuple[Host, Sequence[str]]],
    parse: Callable[[K, CompletedCommand], T],
    timeout_s: float = ANSWER_S,
) -> dict[K, T | HostError]:
    """Run the command of each subject, and return what `parse` makes of it, or why there is nothing."""
    found: dict[K, T | HostError] = {}
    endings = run_all(commands.values(), timeout_s)
    for subject, completed in zip(commands, endings, strict=True):
        parse_own = partial(parse, subject)
        found[subject] = parse_completed(subject, completed, parse_own)
    return found


def ask_all(
    hosts: Iterable[Host], command: Sequence[str], parse: Callable[[str], T]
) -> dict[Host, T | HostError]:
    """Run a command on every host, and return what `parse` makes of each output, or why there is none."""
    commands = {host: (host, command) for host in hosts}
    return ask(commands, lambda _, completed: parse(completed.output))


def answers_of_all(
    hosts: Iterable[Host], command: Sequence[str], parse: Callable[[str], T]
) -> dict[Host, T]:
    """Return what `ask_all` returns, but raise the first HostError."""
    answers = {}
    for host, answer in ask_all(hosts, command, parse).items():
        if isinstance(answer, HostError):
            raise answer
        answers[host] = answer
    return answers


def _finish(remote: RemoteProcess, timeout_s: float) -> CompletedCommand | HostError:
    """Wait for a command's end until `timeout_s` after its start, so that several take no longer than one."""
    try:
        return remote.finish(max(0.0, remote.started_s + timeout_s - time.monotonic()))
    except HostError as error:
        return error


class ClientServerRun(Generic[T]):
    """A server on one host and its client on another. The client's output, parsed, is the outcome.

    The server prints a line that contains `listening` as soon as clients can connect.
    """

    def __init__(
        self,
        remotes: RemoteProcesses,
        server: tuple[Host, Sequence[str]],
        client: tuple[Host, Sequence[str]],
        *,
        listening: str,
        parse: Callable[[CompletedCommand], T],
        timeout_s: float,
        max_bytes: int = MAX_ANSWER_BYTES,
    ) -> None:
        self._name = f"{client[0]} -> {server[0]}"
        self._server = remotes.add(*server, max_bytes)
        self._client = remotes.add(*client, max_bytes)
        self._listening = listening
        self._parse = parse
        self._timeout_s = timeout_s
        self._error: HostError | None = None

    @staticmethod
    def open(runs: Sequence["ClientServerRun[T]"]) -> None:
        """Start all servers, and wait until they listen and the clients can be started.

        The hosts that do not answer have ANSWER_S together, those whose servers do not listen as long again.
        """
        for wait in (ClientServerRun._start_server, ClientServerRun._await_listening):
            until_s = time.monotonic() + ANSWER_S
            for run in runs:
                run.attempt(wait, until_s)

    def attempt(self, wait: Callable[["ClientServerRun[T]", float], None], until_s: float) -> None:
        """Wait, unless something failed before, and keep the error."""
        try:
            if self._error is None:
                wait(self, until_s)
        except HostError as error:
            self._error = error

    def _start_server(self, until_s: float) -> None:
        self._server.await_ready(max(0.0, until_s - time.monotonic()))
        self._server.start()

    def _await_listening(self, until_s: float) -> None:
        self._server.await_line(self._listening, max(0.0, until_s - time.monotonic()))
        self._client.await_ready(max(0.0, until_s - time.monotonic()))

    def start(self) -> None:
        """Start the client, unless `open` failed."""
        if self._error is None:
            self._client.start()

    def finish(self) -> T | HostError:
        """Wait for the client's end, and return its parsed output, or why there is none."""
        completed = self._error or _finish(self._client, self._timeout_s)
        return parse_completed(self._name, completed, self._parse)
