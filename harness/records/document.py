"""Reads documents that somebody may have changed, JSON and TOML, by the types of what they say."""

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from harness.base.errors import BadInput
from harness.base.words import shorten
from harness.records.files import content_of

if sys.version_info >= (3, 11):
    import tomllib  # novermin
else:
    import tomli as tomllib

MAX_REASON = 300
"""Characters of an error message, which may quote a text."""
MAX_TOML = 10**6
"""Bytes of a file of TOML."""
T = TypeVar("T")
_DECODERS: dict[Any, msgspec.json.Decoder[Any]] = {}
"""By the type: to make a decoder takes as long as to read a short line."""


def decoded(data: bytes, type_: type[T]) -> T:
    """Return what JSON says. Raise ValueError unless each value is one that its type allows."""
    decoder = _DECODERS.get(type_)
    if decoder is None:
        decoder = _DECODERS[type_] = msgspec.json.Decoder(type_)
    try:
        found: T = decoder.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ValueError(shorten(str(error), MAX_REASON)) from error
    return found


def toml_values(file: Path) -> dict[str, Any]:
    """Return the values of a file of TOML. Raise BadInput unless it is one, of 1 MB at most.

    No text in it may have a NUL: what it may name - a file, a host, a configuration - has none.
    """
    try:
        values = tomllib.loads(content_of(file, MAX_TOML).decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{file}: not TOML: {error}") from error
    if any("\0" in text for text in _texts(values)):
        raise BadInput(f"{file}: a text has a NUL (\\u0000), which no name can have; remove it")
    return values


def _texts(value: Any) -> Iterator[str]:
    """Yield every text of a value of TOML, the keys of its tables among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for below in value.values():
            yield from _texts(below)
    elif isinstance(value, list):
        for below in value:
            yield from _texts(below)


def converted_value(values: dict[str, Any], type_: type[T]) -> T:
    """Return decoded values as an object of a type. Raise ValueError unless the type allows each of them."""
    try:
        return msgspec.convert(values, type_)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(shorten(str(error), MAX_REASON)) from error


def converted(values: dict[str, Any], type_: type[T], file: Path) -> T:
    """Return the values of a file as an object. Raise BadInput that names the file and the first mistake."""
    try:
        return converted_value(values, type_)
    except ValueError as error:
        raise BadInput(f"{file}: {error}") from error


def checksum(data: bytes) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of `data`."""
    return hashlib.sha256(data).hexdigest()[:16]
