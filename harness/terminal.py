"""Text for a terminal. Names and messages may come from untrusted files, so they are escaped."""

from __future__ import annotations

import sys
from contextlib import suppress


def visible(text: str) -> str:
    r"""Return one line without control characters: `\x1b`, `\n` and `\u202e` are escaped."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shorten(text: str, width: int) -> str:
    """Cut a text to `width` characters, in its middle, because similar names differ at either end."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


def count_of(number: int, noun: str) -> str:
    """Return `1 run`, `2 runs` or `1,000 runs`; the noun has to have a regular plural."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def first_line(text: str, default: str = "") -> str:
    """Return the first line that is not blank, stripped; `default` if there is none."""
    return next((line.strip() for line in text.splitlines() if line.strip()), default)


def last_line(text: str, default: str = "") -> str:
    """Return the last line that is not blank, stripped; `default` if there is none."""
    return first_line("\n".join(reversed(text.splitlines())), default)


def say(line: str) -> None:
    """Print a line of progress to standard error; ignore that nobody reads it any longer."""
    with suppress(OSError):
        print(visible(line), file=sys.stderr, flush=True)
