"""The only functions that print.

Names and messages may come from untrusted files, so control characters are escaped, and credentials are
replaced. `show` prints results to standard output. `say` prints everything else to standard error.
"""

from __future__ import annotations  # for Python 3.8

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import TextIO

from harness.base.redaction import without_credentials
from harness.base.words import shorten, visible

MAX_ERROR = 1_000


class OutputLost(Exception):
    """Standard output cannot be written. The message is empty if its reader has gone, as in `| head`."""

    exit_code = 1


def show(text: str) -> None:
    """Print lines, one or more, to standard output. Raise OutputLost if they cannot be written."""
    lines = text.split("\n")
    if lines[1:] and not lines[-1]:
        lines.pop()
    try:
        _write(sys.stdout, lines)
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise OutputLost from error
        raise OutputLost(
            f"cannot write to standard output: {error.strerror}; send it to another place "
            "(files that were written are complete)"
        ) from error


def say(text: str) -> None:
    """Print a line to standard error; drop it if that is closed."""
    with suppress(OSError):
        _write(sys.stderr, [text])


def say_error(program: str, message: str) -> None:
    """Print an error, like `say`; a message that quotes a very long value is shortened in its middle."""
    say(f"{program}: error: {shorten(without_credentials(message), MAX_ERROR)}")


def _write(stream: TextIO | None, lines: Sequence[str]) -> None:
    """Write lines without credentials, escaped, also where the stream's encoding lacks a character."""
    if stream is None:  # it was closed when the process started
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    text = "".join(f"{visible(without_credentials(line))}\n" for line in lines)
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        # Python would write the rest at its end, and report that with exit code 120.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        raise
