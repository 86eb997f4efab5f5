"""Words and numbers for people: counts, percentages, names, shortened and escaped text."""

from __future__ import annotations  # for Python 3.8

import math
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from unicodedata import category, east_asian_width

MAX_LISTED = 4
"""How many of several things `join_names` names."""
_MIN_SHOWN = 1e-6
_PREFIXES = (("E", 1e18), ("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))


def visible(text: str) -> str:
    r"""Return one line without control characters: `\x1b`, `\n` and `\u202e` are escaped."""
    if text.isprintable():
        return text
    return "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode("ascii")


def display_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    width = sum(map(_columns, text))
    # Before this selector, a character that has a picture is shown as one.
    for pictured in re.findall("(?s)(.)\ufe0f", text):
        if _columns(pictured) == 1:
            width += 1
    return width


@lru_cache(maxsize=2**12)
def _columns(character: str) -> int:
    """Return how many columns of a terminal a character takes by itself."""
    is_vowel_of_syllable = "\u1160" <= character <= "\u11ff"
    is_skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    if is_vowel_of_syllable or is_skin_tone or category(character) in {"Mn", "Me", "Cf"}:
        return 0
    if east_asian_width(character) in "WF":
        return 2
    return 1


def padded(text: str, width: int, side: str = "<") -> str:
    """Return a text with blanks to a width in columns. It stands on the side `<` or `>`."""
    blanks = " " * (width - display_width(text))
    if side == "<":
        return text + blanks
    return blanks + text


def shorten(text: str, width: int) -> str:
    """Cut a text to `width` columns, in its middle, because similar names differ at either end."""
    # No text takes more than two columns for each character.
    if 2 * len(text) <= width or display_width(text) <= width:
        return text
    tail = (width - 1) // 2
    head = width - 1 - tail
    return f"{_beginning(text, head)}…{_beginning(text[::-1], tail)[::-1]}"


def label(text: str, width: int) -> str:
    """Return a text escaped and shortened to `width` columns, for a cell of a table."""
    return shorten(visible(text), width)


def _beginning(text: str, width: int) -> str:
    beginning = text[:width]
    while display_width(beginning) > width:
        beginning = beginning[:-1]
    return beginning


def count_of(number: int, noun: str) -> str:
    """Return `1 run`, `2 runs` or `1,000 runs`. The noun has to have a regular plural."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def percent(fraction: float, decimals: int = 0, *, signed: bool = False) -> str:
    """Return `54 %` for a sentence. A value that rounds to zero has no sign."""
    text = f"{fraction:+.{decimals}%}".replace("%", " %")
    is_zero = not float(f"{fraction:.{decimals + 2}f}")
    if is_zero or (fraction > 0 and not signed):
        return text[1:]
    return text


def given_percent(fraction: float) -> str:
    """Return `5 %` or `2.04 %`: as exactly as a user gives it."""
    return f"{significant(100 * fraction)} %"


def significant(value: float, digits: int = 4) -> str:
    """Return this many significant digits, never with an exponent: `0.1235`, `12.5`, `14634`.

    Zeros at the end of the decimals are left out. A value nearer to 0 than a millionth is `<0.000001`.
    """
    if value == 0:
        return "0"
    if 0 < value < _MIN_SHOWN:
        return f"<{_MIN_SHOWN:f}"
    if -_MIN_SHOWN < value < 0:
        return f">-{_MIN_SHOWN:f}"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    text = f"{value:.{decimals}f}"
    if decimals:
        text = text.rstrip("0").rstrip(".")
    return text


def quantity_text(value: float, unit: str) -> str:
    """Return a number of units with four digits: `21.24 Gflop/s`, `938.1 kevent`, `96.12 MB`."""
    for prefix, size in _PREFIXES:
        # Rounding may need the next prefix: 999,960 is 1 M.
        if float(f"{value / size:.4g}") >= 1:
            return f"{significant(value / size)} {prefix}{unit}"
    return f"{significant(value)} {unit}"


def join_names(things: Sequence[object], number: int | None = None) -> str:
    """Return the first four things by name, and the number of the others: `a, b, c, d and 2 more`.

    `number` is how many there are, if these are only the first of them.
    """
    more = (number or len(things)) - MAX_LISTED
    named = ", ".join(map(str, things[:MAX_LISTED]))
    if more > 0:
        named += f" and {more} more"
    return named


def names_by_text(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the names that each text belongs to, so that what several have in common is said once."""
    found: dict[str, list[str]] = {}
    for name, text in texts.items():
        found.setdefault(text, []).append(name)
    return found


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders the numbers within names by value."""
    parts = re.split(r"(\d{1,18})", name)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def unique_name(name: str, taken: Collection[str]) -> str:
    """Return the name, or if it is taken the first of `name #2`, `name #3`, ... that is not."""
    free = name
    number = 1
    while free in taken:
        number += 1
        free = f"{name} #{number}"
    return free


def first_line(text: str, default: str = "") -> str:
    """Return the first line that is not blank, stripped; `default` if there is none."""
    for line in text.splitlines():
        if line.strip():
            return line.strip()
    return default
