"""Programs that are run to their end, or are interrupted when this process ends, however that happens."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO

from harness.base.interrupt import deferred_signals, interruptible
from harness.base.terminal import say

ENGLISH = {"LC_ALL": "C", "LANGUAGE": "C", "TZ": "UTC"}
"""Environment of programs that we read: English words, decimal points and one time zone.

Python's translations follow LANGUAGE whatever LC_ALL says. Spark and local daemons keep the user's locale, as
Java cannot open a file whose name is not ASCII in the locale C.
"""

# Run a command until the shell's standard input is closed: then interrupt it. The input is also
# closed when the process that submitted the command dies. The shell leads the command's process group.
END_WITH_INPUT = """
exec 3<&0 </dev/null
{ cat <&3; kill -s INT -- "-$$"; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""
_POLL_S = 0.05
_LAST_LINES_S = 2.0
_CHUNK = 65536
_STANDARD_ERROR = 2
SIGNALLED = 128
"""An exit code above this one says that a signal ended the command."""


def finished(
    command: Sequence[str],
    environment: Mapping[str, str] | None = None,
    stdin: IO[str] | int = subprocess.DEVNULL,
    timeout_s: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end in ENGLISH, and capture its output."""
    if environment is None:
        environment = os.environ
    return subprocess.run(  # noqa: S603  no shell, and argument vectors of ours
        command,
        env={**environment, **ENGLISH},
        stdin=stdin,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=timeout_s,
        check=False,
    )


def run_to_its_end(
    command: Sequence[str],
    environment: Mapping[str, str],
    meanwhile: Callable[[], None] = lambda: None,
    *,
    ends_with_input: bool = False,
    is_left_out: Callable[[bytes], bool] | None = None,
) -> int:
    """Run a command to its end and return its exit code. Call `meanwhile` several times a second.

    Lines of its standard error are not shown if `is_left_out` says so. Ctrl-C, SIGTERM and the death of this
    process interrupt the command. For the last, a shell is put around the command, unless the command itself
    `ends_with_input`. Raise KeyboardInterrupt if a signal ended the command.
    """
    if not ends_with_input:
        command = ["sh", "-c", END_WITH_INPUT, "run", *command]
    try:
        with interruptible(once=True):
            return _run_interruptibly(command, environment, meanwhile, is_left_out)
    except KeyboardInterrupt:
        say("the same command continues")
        raise


def _run_interruptibly(
    command: Sequence[str],
    environment: Mapping[str, str],
    meanwhile: Callable[[], None],
    is_left_out: Callable[[bytes], bool] | None,
) -> int:
    """Run a command that ends with its input, which is closed if an exception interrupts us."""
    with subprocess.Popen(  # noqa: S603  Spark's program, or Docker's
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE if is_left_out else None,
        start_new_session=True,
        # A command in the background of a shell ignores interrupts, which this one must not.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads
    ) as process, _shown_errors(process.stderr, is_left_out):
        try:
            code = _wait(process)
            while code is None:
                meanwhile()
                code = _wait(process)
        except BaseException:
            # Popen's own block would not wait for the end after a KeyboardInterrupt.
            assert process.stdin is not None  # noqa: S101  it is a pipe
            process.stdin.close()
            process.wait()
            raise
    if code < 0 or code > SIGNALLED:
        raise KeyboardInterrupt
    return code


@contextmanager
def _shown_errors(
    stream: IO[bytes] | None, is_left_out: Callable[[bytes], bool] | None
) -> Iterator[None]:
    """Show the lines of a stream while the block runs, and what is there at its end."""
    if stream is None or is_left_out is None:
        yield
        return
    # A process that the command leaves behind may keep the stream open.
    thread = threading.Thread(target=_show_lines, args=(stream, is_left_out), daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(_LAST_LINES_S)


def _show_lines(stream: IO[bytes], is_left_out: Callable[[bytes], bool]) -> None:
    """Show lines until the stream ends. If nobody can be shown them, read on: the command must not wait."""
    rest = b""
    with suppress(ValueError):  # whoever waited for the last lines has closed the stream
        while True:
            chunk = os.read(stream.fileno(), _CHUNK)
            if not chunk:
                break
            lines = re.split(rb"(?<=[\n\r])", rest + chunk)
            rest = lines.pop()
            _show([line for line in lines if not is_left_out(line)])
    _show([rest])


def _show(lines: Sequence[bytes]) -> None:
    with suppress(OSError):
        os.write(_STANDARD_ERROR, b"".join(lines))


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for a moment, and return the exit code; None if there is none yet."""
    time.sleep(_POLL_S)
    # An exception amid Popen's own steps would leave its lock taken, and the next wait without an end.
    with deferred_signals():
        return process.poll()
