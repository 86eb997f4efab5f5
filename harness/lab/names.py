"""Names of many nodes in a few characters: `master,worker-[1-3,6]`."""

from __future__ import annotations

import re

from harness.errors import BadInput

MANY = 1000

_PART = re.compile(r"([a-z][a-z0-9-]*)(?:\[([0-9,-]+)\])?")
_RANGE = re.compile(r"(\d+)(?:-(\d+))?")


def parse_names(text: str) -> list[str]:
    """Every name, once and in order. Raises BadInput where it cannot be read."""
    names = [name for part in _parts(text) for name in _expanded(text, part)]
    return list(dict.fromkeys(names))


def _parts(text: str) -> list[str]:
    """Split at the commas that are not within brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def _expanded(text: str, part: str) -> list[str]:
    match = _PART.fullmatch(part)
    if match is None:
        raise _unreadable(text, part)
    stem, ranges = match.groups()
    if ranges is None:
        return [stem]
    return [f"{stem}{i}" for one in ranges.split(",") for i in _numbers(text, part, one)]


def _numbers(text: str, part: str, one: str) -> range:
    match = _RANGE.fullmatch(one)
    if match is None:
        raise _unreadable(text, part)
    first, last = int(match[1]), int(match[2] or match[1])
    if not first <= last < first + MANY:
        raise _unreadable(text, part)
    return range(first, last + 1)


def _unreadable(text: str, part: str) -> BadInput:
    return BadInput(
        f"--nodes {text!r}: {part!r} cannot be read; write for example worker-[1-4] or worker-1,master"
    )
