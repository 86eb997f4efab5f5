"""A program that is interrupted when this process ends, however that happens."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from harness.runtime.interrupt import interruptible
from harness.terminal import say

# Run a command until the shell's standard input is closed: then interrupt it. The input is also
# closed when whoever submitted the command dies. The shell leads the command's process group.
END_WITH_INPUT = """
exec 3<&0 </dev/null
{ cat <&3; kill -s INT -- "-$$"; } >/dev/null 2>&1 &
exec "$@" 3<&-
"""
_POLL_S = 0.1
_SIGNALLED = 128
"""An exit code above this one says that a signal ended the command."""


def run_to_its_end(
    command: Sequence[str],
    environment: Mapping[str, str],
    meanwhile: Callable[[], None] = lambda: None,
) -> int:
    """Run a command to its end and return its exit code; call `meanwhile` several times a second.

    Ctrl-C and SIGTERM interrupt it, as does the death of this process. Raise KeyboardInterrupt then, and
    if another signal ended it.
    """
    try:
        with interruptible(once=True), _started(command, environment) as process:
            try:
                while (code := _wait(process)) is None:
                    meanwhile()
            except BaseException:
                _interrupt(process)
                raise
        if code < 0 or code > _SIGNALLED:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        say("the same command continues")
        raise
    return code


def _started(command: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a command that is interrupted when its standard input is closed, as our death does, too."""
    return subprocess.Popen(  # noqa: S603  Spark's program
        ["sh", "-c", END_WITH_INPUT, "run", *command],  # noqa: S607  every system has it
        env=environment,
        stdin=subprocess.PIPE,
        start_new_session=True,
        # A command in the background of a shell ignores interrupts, which this one must not.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  no threads
    )


def _wait(process: subprocess.Popen[bytes]) -> int | None:
    """Wait for a moment, and return the exit code; None if there is none yet."""
    try:
        return process.wait(_POLL_S)
    except subprocess.TimeoutExpired:
        return None


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    """Interrupt the command and wait for its end, which Popen's own `with` block would not."""
    assert process.stdin is not None  # noqa: S101  it is a pipe
    process.stdin.close()
    process.wait()
