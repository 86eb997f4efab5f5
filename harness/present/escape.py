"""Names and messages come from files that others wrote; each format is fooled in its own way."""

from __future__ import annotations

import re

_MARKDOWN_SYNTAX = re.compile(r"[\\`*_\[\]|~$]")
_HTML_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FORMULA_STARTS = ("=", "+", "-", "@")


def visible(text: str) -> str:
    r"""One line that a terminal shows and does not obey: `\x1b`, `\n`, `\u202e` spelled out."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def markdown(text: str) -> str:
    """Text that Markdown shows as it is, in a table's cell too."""
    escaped = _MARKDOWN_SYNTAX.sub(r"\\\g<0>", visible(text))
    return "".join(_HTML_ENTITIES.get(character, character) for character in escaped)


def spreadsheet(text: str) -> str:
    """Text that a spreadsheet does not take for a formula: an apostrophe goes before a `=`."""
    shown = visible(text)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA_STARTS) else shown


def shorten(text: str, width: int) -> str:
    """At most `width` characters, cut in the middle: names that differ do so at either end."""
    if len(text) <= width:
        return text
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}…{text[len(text) - tail :]}"
