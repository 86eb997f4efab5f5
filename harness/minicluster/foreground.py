"""Run a command beside a cluster as if the terminal had started it."""

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
    """Raise BadInput if the command's program does not exist."""
    if shutil.which(command[0]) is None:
        raise BadInput(f"COMMAND: there is no program {command[0]!r}; name an installed one")


def run_command(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a command to its end. Return its exit code, or 128 + N if signal N ended it.

    Raises ClusterliftError if it cannot be started.
    """
    children: list[subprocess.Popen[bytes]] = []
    with _forwarding_signals(children):
        with deferred_signals():  # a signal that arrives before there is a child would be lost
            children.append(_start(command, environment))
        code = children[0].wait()
    return 128 - code if code < 0 else code


def _start(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(command, env={**os.environ, **environment})
    except OSError as error:
        raise ClusterliftError(f"cannot run {command[0]}: {error.strerror}") from error


@contextmanager
def _forwarding_signals(children: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    """While entered, let the command decide what a signal does: it may be an interactive shell.

    A terminal sends SIGINT to the command as well as to us, so we ignore it. SIGTERM and SIGHUP reach
    us alone, so we forward them.
    """

    def ignore(_number: int, _frame: object) -> None:
        pass

    def forward(number: int, _frame: object) -> None:
        for child in children:
            child.send_signal(number)

    with signal_handlers({signal.SIGINT: ignore, signal.SIGTERM: forward, signal.SIGHUP: forward}):
        yield
