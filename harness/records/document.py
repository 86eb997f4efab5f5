"""Reads JSON documents that we wrote, and that somebody may have changed, by the types of what they say."""

import hashlib
from typing import TypeVar

import msgspec

from harness.words import shorten

MAX_REASON = 300
"""Characters of an error message, which may quote a text."""
T = TypeVar("T")


def decoded(data: bytes, type_: type[T]) -> T:
    """Return what a document says. Raise ValueError unless each value is one that its type allows."""
    try:
        return msgspec.json.decode(data, type=type_)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ValueError(shorten(str(error), MAX_REASON)) from error


def checksum(data: bytes) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:16]
