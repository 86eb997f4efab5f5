"""The names of configurations that were measured on several numbers of nodes: `1g-n2`, `1g-n4`."""

from __future__ import annotations  # for Python 3.8

import re

_SCALED = re.compile(r"(.+)-n([1-9][0-9]{0,5})")


def parse_nodes(text: str) -> tuple[int, ...]:
    """Return the numbers of nodes in `1,2,4`. Raise ValueError unless they grow."""
    parts = [part.strip() for part in text.split(",")]
    if not all(re.fullmatch("[1-9][0-9]{0,5}", part) for part in parts):
        raise ValueError(f"'{text}' is not a list of numbers of nodes; write 1,2,4")
    numbers = tuple(map(int, parts))
    if sorted(set(numbers)) != list(numbers):
        raise ValueError(f"'{text}' does not grow; write 1,2,4")
    return numbers


def scaled_name(name: str, nodes: int) -> str:
    """Return the name of a configuration on this number of nodes."""
    return f"{name}-n{nodes}"


def split_scaled_name(name: str) -> tuple[str, int] | None:
    """Return the configuration's own name and the number of nodes; None if the name has no number."""
    match = _SCALED.fullmatch(name)
    if not match:
        return None
    return (match[1], int(match[2]))
