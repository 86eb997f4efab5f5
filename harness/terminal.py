"""The only functions that print.

Names and messages may come from untrusted files, so control characters are escaped, and credentials are
replaced. `show` prints results to standard output; `say` prints everything else to standard error.
"""

import atexit
import errno
import os
import sys
import threading
from codecs import getincrementaldecoder
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from shutil import get_terminal_size
from typing import TextIO

from harness.redaction import SENSITIVE_NAME, without_credentials
from harness.words import shorten, visible

MAX_ERROR = 1_000
END_OF_LINE = "\n"
ERASE_LINE = "\r\x1b[K"
ERASE_LINE_ABOVE = "\x1b[A\x1b[K"
_MAX_HELD_BACK = 10_000
"""Characters of a line that another program has not finished."""


class OutputLost(Exception):
    """Standard output cannot be written. The message is empty if its reader has gone, as in `| head`."""

    exit_code = 1


def show(text: str) -> None:
    """Print lines, one or more, to standard output. Raise OutputLost if they cannot be written."""
    try:
        _write(sys.stdout, "".join(map(_printable_line, text.removesuffix("\n").split("\n"))))
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
        _write(sys.stderr, f"{_printable(text)}\n")


def say_error(program: str, message: str) -> None:
    """Print an error, like `say`; a message that quotes a very long value is shortened in its middle."""
    say(f"{program}: error: {shorten(without_credentials(message), MAX_ERROR)}")


def is_terminal() -> bool:
    """Whether standard error is a terminal, on which lines can be replaced."""
    # It is None if it was closed when the process started.
    return sys.stderr is not None and sys.stderr.isatty()


def begin_line(text: str) -> None:
    """Print the first part of a line, like `say`; `continue_line` prints the rest.

    Whatever else is printed in between stands on a line of its own.
    """
    with suppress(OSError):
        _write(sys.stderr, _printable(text), unfinished=END_OF_LINE)


def continue_line(text: str) -> None:
    """Print the last part of the line that `begin_line` began, like `say`."""
    with suppress(OSError):
        _write(sys.stderr, f"{_printable(text)}\n", continues=True)


def replace_lines(lines: Sequence[str]) -> None:
    """Print lines, one or more, to a terminal, like `say`. Whatever is printed next replaces them.

    A line that is wider than the terminal is cut, because it would take two.
    """
    width = get_terminal_size().columns - 1
    text = "\n".join(_printable(line)[:width] for line in lines)
    with suppress(OSError):
        _write(sys.stderr, text, unfinished=ERASE_LINE + ERASE_LINE_ABOVE * (len(lines) - 1))


def end_line() -> None:
    """End the line that was begun, or erase the one to be replaced; do nothing without such a line."""
    with suppress(OSError):
        _write(sys.stderr, "")


class Relay:
    """Prints what another program prints, line by line, to standard output.

    Redaction needs whole lines. The first part of a line is shown at once if it ends as that of a trial's
    progress does, with two blanks, and announces no secret. If standard output is closed, the text is dropped
    and the other program goes on.
    """

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("backslashreplace")
        self._line = ""
        self._shown = ""

    def copy(self, chunk: bytes) -> None:
        """Print some bytes of the output; a character or a line may be cut in two between them."""
        *lines, last = (self._line + self._decoder.decode(chunk)).split("\n")
        text = "".join(f"{self._rest_of(line)}\n" for line in lines)
        self._line = last
        is_progress = last.endswith("  ") and not SENSITIVE_NAME.search(last)
        if is_progress or len(last) > _MAX_HELD_BACK:
            rest, self._shown = self._rest_of(last), _printable(last)
            text += rest
        with suppress(OSError):
            _write(sys.stdout, text)

    def end(self) -> None:
        """Print what was held back of a last line without its end."""
        last, self._line = self._line, ""
        with suppress(OSError):
            _write(sys.stdout, self._rest_of(last))

    def _rest_of(self, line: str) -> str:
        """Return what is to be printed of a line, whose first part may have been shown."""
        shown, self._shown = self._shown, ""
        return _printable(line).removeprefix(shown)


def copy_output_to(receiver: Callable[[str], object]) -> None:
    """Give everything that is printed from now on, escaped and without credentials, to a receiver, too."""
    global _receiver  # noqa: PLW0603  the process has one terminal
    _receiver = receiver


def hold_standard_descriptors() -> None:
    """Occupy those of the descriptors 0, 1 and 2 that are closed, so that no other file gets their number.

    Reading from them, or writing to them, fails as before.
    """
    for descriptor, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, mode)  # gets the smallest free number


_lock = threading.RLock()
_receiver: Callable[[str], object] | None = None
_unfinished: tuple[TextIO, str] | None = None
"""The stream whose last line is not finished, and the text that finishes it."""


def _write(
    stream: TextIO | None, text: str, *, unfinished: str = "", continues: bool = False
) -> None:
    """Write a text, after finishing another line unless the text `continues` it.

    `unfinished` is what finishes this line later. Raise OSError if the stream is closed or full.
    """
    global _unfinished  # noqa: PLW0603  the process has one terminal
    with _lock:
        before, _unfinished = _unfinished, None
        if before and not continues:
            with suppress(OSError):
                _emit(*before)
        if text:
            if stream is None:  # it was closed when the process started
                raise OSError(errno.EBADF, os.strerror(errno.EBADF))
            _unfinished = (stream, unfinished) if unfinished else None
            _emit(stream, text)


def _emit(stream: TextIO, text: str) -> None:
    """Write and flush; escape characters that the stream's encoding lacks, such as `±`."""
    if _receiver is not None:
        _receiver(text)
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except OSError:
        _discard_at_exit(stream)
        raise


@cache
def _discard_at_exit(stream: TextIO) -> None:
    """Have what a stream did not take discarded at exit, where Python would report it with exit code 120."""

    def discard() -> None:
        with suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, stream.fileno())

    atexit.register(discard)


def _printable(text: str) -> str:
    return visible(without_credentials(text))


def _printable_line(line: str) -> str:
    """Escape a line, and keep its end: lines of CSV end with CR LF."""
    text = line.removesuffix("\r")
    return f"{_printable(text)}{line[len(text) :]}\n"
