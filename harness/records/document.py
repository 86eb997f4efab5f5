"""Reads JSON documents of our own, which somebody may have changed, by the types of what they say."""

from typing import TypeVar

import msgspec

from harness.records.rules import check
from harness.words import shorten

MAX_REASON = 300
"""Characters of an error message, which may quote a text."""
T = TypeVar("T")


def decoded(data: bytes, type_: type[T]) -> T:
    """Return what a document says. Raise ValueError unless each value is one that its type allows."""
    try:
        values = msgspec.json.decode(data)
        check(values, type_)
        return msgspec.convert(values, type_)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ValueError(shorten(str(error), MAX_REASON)) from error
