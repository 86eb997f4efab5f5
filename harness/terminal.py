"""Names and messages come from files that others wrote; each format is fooled in its own way."""

from __future__ import annotations

import sys
from contextlib import suppress


def visible(text: str) -> str:
    r"""One line that a terminal shows and does not obey: `\x1b`, `\n`, `\u202e` spelled out."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def shorten(text: str, width: int) -> str:
    """At most `width` characters, cut in the middle: names that differ do so at either end."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"


# MERGED from harness.loopback.say: 'Progress for people, on the error stream.'
def say(line: str) -> None:
    """Print a line, if whoever watched is still there."""
    with suppress(OSError):
        print(visible(line), file=sys.stderr, flush=True)
