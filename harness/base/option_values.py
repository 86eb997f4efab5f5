"""The values that options have as text, for the entry scripts and for `clusterlift`."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timezone
from pathlib import Path

from harness.base.errors import BadInput

_SECONDS = {"s": 1, "m": 60, "min": 60, "h": 3600}
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://|file:/", re.ASCII | re.IGNORECASE)
_AMOUNT = re.compile(r"([0-9]{1,9}(?:\.[0-9]+)?)\s*(s|min|m|h)\s*")


def what_exists(name: str, known: Collection[str]) -> str:
    """Return what a user may have meant by an unknown name: `did you mean a?`, or all that are known."""
    similar = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    if similar:
        return f"did you mean {' or '.join(similar)}?"
    return f"there are {', '.join(known)}"


def one_of(*names: str) -> Callable[[str], str]:
    """Return a function that returns a text which is one of these names, and raises ValueError for others."""

    def read(text: str) -> str:
        if text not in names:
            raise ValueError(f"invalid choice: {text!r}; {what_exists(text, names)}")
        return text

    return read


def parse_names(text: str) -> tuple[str, ...]:
    """Return comma-separated names, each once. Raise ValueError if the text has no name."""
    names = [name.strip() for name in text.split(",")]
    named = tuple(dict.fromkeys(name for name in names if name))
    if not named:
        raise ValueError("no name is given")
    return named


def parse_directory(text: str) -> Path:
    """Return a directory of this machine. Raise ValueError for no name, and for a URI."""
    if not text.strip():
        raise ValueError("the name of the directory is empty")
    if _SCHEME.match(text):
        raise ValueError(f"{text!r} is a URI; name a directory of this machine by its path")
    return Path(text)


def whole_number(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return a function that reads a whole number within bounds, such as `10_000`, `10,000` or `1e6`.

    It raises ValueError for other texts.
    """

    def read(text: str) -> int:
        try:
            value = _integer(text.replace(",", ""))
        except ValueError:
            raise ValueError(f"'{text}' is not a whole number") from None
        if not minimum <= value <= maximum:
            raise ValueError(
                f"{value:,} is out of range: it must be from {minimum:,} to {maximum:,}"
            )
        return value

    return read


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        real = float(text)
        if not real.is_integer():
            raise
        return int(real)


def plain_number(text: str) -> float:
    """Return a finite number of digits, point and exponent alone: Python would read `1_0` and `٣`, too.

    Raise ValueError for other text.
    """
    if re.search(r"[^0-9.eE+-]", text):
        raise ValueError(f"{text!r} is not a number")
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text!r} is too large a number")
    return number


def parse_fraction(text: str) -> float:
    """Return 0.02 for `2%` or `0.02`. Raise ValueError unless it is between 0% and 100%."""
    number = text.strip()
    whole = 1
    if number.endswith("%"):
        number = number[:-1]
        whole = 100
    try:
        fraction = plain_number(number.strip()) / whole
    except ValueError:
        raise ValueError(f"'{text}' is not a percentage; write for example 2%") from None
    if not 0 < fraction < 1:
        raise ValueError(f"{text} is out of range: it must be more than 0% and less than 100%")
    return fraction


def parse_time(text: str) -> float:
    """Return the seconds of `30m`, `90 s` or `1h30m`. Raise ValueError unless they are more than 0."""
    amounts = _AMOUNT.findall(text)
    if not amounts or _AMOUNT.sub("", text.strip()):
        raise ValueError(f"'{text}' is not a time; write for example 90s, 30m or 1h30m")
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in amounts)
    if seconds <= 0:
        raise ValueError(f"{text} is out of range: it must be more than 0 s")
    return seconds


def parse_moment(text: str) -> int:
    """Return the milliseconds since 1970 of `2026-11-01` or `2026-11-01T10:00+01:00`; UTC unless it says so.

    Raise ValueError for other texts.
    """
    written = text.strip()
    if written.endswith("Z"):
        written = f"{written[:-1]}+00:00"
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise ValueError(
            f"'{text}' is not a day or a time; write for example 2026-11-01 or 2026-11-01T10:00"
        ) from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return round(moment.timestamp() * 1000)


def parse_expression(text: str) -> re.Pattern[str]:
    """Return a regular expression. Raise ValueError unless it is one, and finds no empty text."""
    try:
        expression = re.compile(text)
    except re.error as error:
        raise ValueError(f"'{text}' is no regular expression: {error}") from None
    if expression.search(""):
        raise ValueError(f"'{text}' finds nothing, too: write what it finds with + instead of *")
    return expression


def parse_configuration(text: str) -> str:
    """Return the name of a configuration, stripped: it names a directory, and heads a column.

    Raise ValueError unless it is printable and not empty.
    """
    if not text.strip() or not text.isprintable():
        raise ValueError("the name of a configuration must be printable and not empty")
    return text.strip()


def parse_facts(texts: Iterable[str]) -> dict[str, str]:
    """Return keys and values of all `--fact KEY=VALUE`, as `parse_pairs` does. A value may be empty."""
    return parse_pairs(texts, "--fact", "key", "nic=RTL8156B")


def parse_pairs(texts: Iterable[str], option: str, what: str, example: str) -> dict[str, str]:
    """Return keys and values of all `OPTION KEY=VALUE`, stripped, in order.

    Raise BadInput if one has no key or no `=`, or if a key is given twice. Messages call the key `what`.
    """
    pairs: dict[str, str] = {}
    for text in texts:
        key, equals, value = (part.strip() for part in text.partition("="))
        if not equals or not key:
            missing = f"{what} before the '='" if equals else "'='"
            raise BadInput(
                f"{option} {text!r} has no {missing}; write {what.upper()}=VALUE, for example "
                f"{option} {example}"
            )
        if key in pairs:
            raise BadInput(f"{option} {key!r} is given twice; give each {what} once")
        pairs[key] = value
    return pairs
