"""Commands that are killed, and the processes that they leave behind."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

MARK = "CLUSTERLIFT_KILL_CAMPAIGN"
"""The environment variable that every process of a case inherits; its value is the case's."""

PATIENCE_S = 900.0
"""How long a command may take, on a machine that does other work, too."""


@dataclass(frozen=True)
class Interruption:
    """A signal to a process, as `kill PID` sends it, or to its group, as a terminal does at Ctrl-C."""

    name: str
    number: signal.Signals
    to_group: bool = False

    def send(self, process: subprocess.Popen[bytes]) -> None:
        """Send it; a process that has ended gets nothing."""
        with contextlib.suppress(ProcessLookupError):
            if self.to_group:
                os.killpg(process.pid, self.number)
            else:
                process.send_signal(self.number)

    @property
    def exit_codes(self) -> set[int]:
        """The exit codes that say what ended a command: the signal, or that it was interrupted.

        Popen gives the negative number of a signal that a process does not handle.
        """
        interrupted = set() if self.number is signal.SIGKILL else {128 + signal.SIGINT}
        return {-self.number, 128 + self.number} | interrupted

    def __str__(self) -> str:
        return self.name


INTERRUPTIONS = (
    Interruption("SIGKILL", signal.SIGKILL),
    Interruption("SIGTERM", signal.SIGTERM),
    Interruption("SIGINT", signal.SIGINT),
    Interruption("Ctrl-C", signal.SIGINT, to_group=True),
)


@dataclass(frozen=True)
class Ended:
    """How a sequence of commands ended.

    `code` is that of the last command that was started; `was_hit` is whether it got a signal.
    """

    code: int
    output: str
    seconds: float
    was_hit: bool = False
    hung: bool = False


def run(
    commands: Sequence[Sequence[str]],
    directory: Path,
    environment: Mapping[str, str],
    interruption: Interruption | None = None,
    after_s: float = 0.0,
) -> Ended:
    """Run commands in turn until the first that fails; interrupt the one that runs after `after_s`."""
    started = time.monotonic()
    log = directory.with_name(f"{directory.name}.log")
    was_hit = hung = False
    code = 0
    with log.open("wb+") as output:
        for command in commands:
            process = subprocess.Popen(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            if interruption is not None:
                left = after_s - (time.monotonic() - started)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, left))
                if process.poll() is None:
                    was_hit = True
                    interruption.send(process)
            try:
                code = process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                hung = True
                os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
            if code or was_hit:
                break
        seconds = time.monotonic() - started
        output.seek(0)
        text = output.read().decode(errors="replace")
    return Ended(code, text, seconds, was_hit, hung)


def still_running(mark: str) -> list[str]:
    """Return the command lines of the processes that have this mark; a zombie has none."""
    return [" ".join(words)[:160] for _, words in marked(mark)]


def marked(mark: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the process id and the command line of each process of a case."""
    entry = f"{MARK}={mark}".encode()
    for directory in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if entry in (directory / "environ").read_bytes().split(b"\0"):
                words = (directory / "cmdline").read_bytes().decode(errors="replace").split("\0")
                yield int(directory.name), words


def end_marked(mark: str) -> None:
    """Kill whatever is left of a case, so that it does not disturb the next one."""
    for pid, _ in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


STACK_TRACE = re.compile(r"^Traceback \(most recent|^\s+at [\w.$]+\([\w.]+:\d+\)", re.MULTILINE)


def stack_trace(output: str) -> str:
    """Return the first lines of a Python or Java stack trace in an output; empty without any."""
    found = STACK_TRACE.search(output)
    return output[found.start() :][:600] if found else ""
