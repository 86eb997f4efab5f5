"""A guard: a small process that cleans up after this one if this one is killed.

SIGKILL leaves a process no time to clean up. But the kernel then closes its end of a pipe, and a shell that
reads the other end runs the command that cleans up.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from harness.model.errors import ClusterliftError

NOTHING_TO_CLEAN_UP = 2
"""The command exits with this code if nothing was left to clean up; it equals that for wrong input."""
# What is cleaned up may still change, so a command that fails is tried again.
_SCRIPT = f"""
cat
for pause in 1 2 4 8; do
  "$@"
  case $? in 0 | {NOTHING_TO_CLEAN_UP}) exit ;; esac
  sleep "$pause"
done
"""


@contextmanager
def guarded(*command: str) -> Iterator[None]:
    """Let a guard run `command` if this process is killed inside the `with` block.

    Leaving the block in any other way dismisses the guard. Raises ClusterliftError if it cannot start.
    """
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _SCRIPT, "guard", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # a terminal's Ctrl-C does not reach it
        )
    except OSError as error:
        raise ClusterliftError(f"cannot start /bin/sh: {error.strerror}") from error
    with process:
        try:
            yield
        finally:
            process.kill()  # before the block's end closes the pipe
