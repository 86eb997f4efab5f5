"""Values that a host, a file or a program states, checked: None unless they are what they have to be."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.base.words import shorten

MAX_COUNT = 2**63 - 1
MAX_TEXT = 300
"""Characters of a word or of a setting, such as the state of a link; kernels have a few."""


def count(value: Any, most: int = MAX_COUNT) -> int | None:
    """Return a whole number, or its digits, as a number; None unless it is from 0 to `most`."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value):
        value = int(value)
    if type(value) is int and 0 <= value <= most:
        return value
    return None


def positive(value: Any, most: int = MAX_COUNT) -> int | None:
    """Return what `count` returns, but None for 0. A driver that does not know its speed reports -1."""
    return count(value, most) or None


def known(value: Any) -> str | None:
    """Return a text in lower case; None if it is empty or says that the value is unknown."""
    text = shorten(str(value or "").lower(), MAX_TEXT)
    if not text or text.startswith("unknown"):
        return None
    return text


def mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object at a key of another object; an empty one if there is none."""
    value = row.get(key)
    if isinstance(value, dict):
        return value
    return {}


def objects(within: Mapping[str, Any], key: str) -> Sequence[Mapping[str, Any]]:
    """Return the objects in the list at a key; none if there is no list."""
    value = within.get(key)
    if isinstance(value, list):
        return [each for each in value if isinstance(each, dict)]
    return []
