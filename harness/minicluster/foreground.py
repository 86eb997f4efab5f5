"""A command that runs beside a cluster, as if the terminal had started it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from harness.model.errors import BadInput, ClusterliftError
from harness.runtime.interrupt import deferred_signals, signal_handlers


def check_command(command: Sequence[str]) -> None:
    """Raise BadInput unless there is such a program."""
    if shutil.which(command[0]) is None:
        raise BadInput(f"COMMAND: there is no program {command[0]!r}; name one that is there")


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run it to its end and return its exit code, 128 and the signal's number if one ended it.

    Raises ClusterliftError if it cannot be started.
    """
    children: list[subprocess.Popen[bytes]] = []
    with _passed_on(children):
        with deferred_signals():  # a signal that comes before there is a child would be lost
            children.append(_started(command, environment))
        code = children[0].wait()
    return 128 - code if code < 0 else code


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, env={**os.environ, **environment})
    except OSError as error:
        raise ClusterliftError(f"cannot run {command[0]}: {error.strerror}") from error


@contextmanager
def _passed_on(children: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """While entered, the command decides what a signal does: it may be an interactive shell.

    The terminal sends SIGINT to us and to the command; the other two are for us, and passed on.
    """

    def ignore(_number: int, _frame: object) -> None:
        pass

    def pass_on(number: int, _frame: object) -> None:
        for child in children:
            child.send_signal(number)

    with signal_handlers({signal.SIGINT: ignore, signal.SIGTERM: pass_on, signal.SIGHUP: pass_on}):
        yield
