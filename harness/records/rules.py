"""What a line of a results file may have. The writer asks before it writes, the reader when it reads.

Whatever a host or a program answers, what is written can be read again: the writer has None, which means
unknown, in place of a value that may not be there.
"""

import math
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from harness.model.probe import LinkSnapshot, Measurement
from harness.model.run import Trial
from harness.model.soak import SoakFlow
from harness.records.shapes import SHAPES, Length, Range
from harness.terminal import shorten

MAX_NESTING = 50
"""Levels of objects and arrays in a line; the writer needs about six."""
MAX_INTEGER = 2**64
MAX_TEXT = 100_000
"""Characters of a text; the longest are lists of jars in Spark's configuration."""
MAX_KEY = 10_000
"""Characters of a key, such as a fact's."""

MAX_LINE = 2**24
"""Bytes of a line. The longest is the first, which describes every node: thousands of nodes take a few MB."""
MAX_VALUES = 500_000
"""Arrays and objects in a line: each takes much more memory than the two bytes of an empty one."""
HEADS = ("run", "probes")
"""The kinds of a file's first line."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?")
_NAMES = {
    NoneType: "null",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    list: "array",
    tuple: "array",
    dict: "object",
}
"""The types of JSON, as msgspec names them."""


class Mistake(ValueError):
    """What is wrong with a value, and where it is."""

    def __init__(self, reason: str, path: str = "$") -> None:
        super().__init__(reason if path == "$" else f"{reason} - at `{path}`")


Note = Callable[[Mistake], object]
"""Takes each mistake whose value becomes None, or a text that was cut; the reader raises it."""


def refuse(mistake: Mistake) -> None:
    """Raise the mistake: the Note of whoever takes no value but the one that is there."""
    raise mistake


def readable(line: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return a line as the reader takes it; the note is told what is unknown or cut.

    Raise Mistake if there is no such line.
    """
    found = checked(limited(line, note), note)
    for key in ("value", "goodput_bit_s"):
        if found.get(key) is None and line.get(key) is not None:
            found["error"] = f"{line[key]:g} is no value that a measurement can have"
    return found


def is_too_large(line: bytes) -> bool:
    """Return whether to read a line could fill the memory."""
    return len(line) > MAX_LINE or line.count(b"[") + line.count(b"{") > MAX_VALUES


def limited(value: Any, note: Note, levels: int = MAX_NESTING) -> Any:
    """Return a JSON value without what is too large, too deep or not finite."""
    if isinstance(value, str):
        return _limited_text(value, "a text", MAX_TEXT, note)
    if not isinstance(value, dict | list):
        # None is neither, and true is 1.
        if value is None or abs(value) <= MAX_INTEGER or _is_fraction(value):
            return value
        note(Mistake("a number is out of range"))
        return None
    if not levels:
        note(Mistake(f"values are nested more than {MAX_NESTING} levels deep"))
        return None
    if isinstance(value, list):
        return [limited(below, note, levels - 1) for below in value]
    return {
        _limited_text(key, "a key", MAX_KEY, note): limited(below, note, levels - 1)
        for key, below in value.items()
    }


def _is_fraction(value: float) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _limited_text(text: str, noun: str, most: int, note: Note) -> str:
    if len(text) <= most:
        return text
    note(Mistake(f"{noun} has {len(text):,} characters, more than {most:,}"))
    return shorten(text, most)


def identity(event: object) -> str | None:
    """Return what no two events of a file have in common; None if there may be two."""
    match event:
        case Trial():
            return f"{event.phase} trial {event.round} of {event.workload}"
        case Measurement():
            subject = ", ".join(filter(None, (event.subject, event.case)))
            return f"measurement {event.round} of {event.probe} {event.metric}, {subject}"
        case SoakFlow():
            return f"the transfer of {event.sender} in round {event.round}"
        case LinkSnapshot():
            return f"the link of {event.link.host} {event.moment} the measurements"
    return None


def checked(line: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return a line with None for each value that its kind may not have.

    Raise Mistake if such a value may not be unknown, either.
    """
    shape = SHAPES.get(str(line.get("kind")))
    return dict(_checked(line, shape, "$", note) if shape else line)


def _checked(value: Any, hint: Any, path: str, note: Note) -> Any:
    options = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    name = _NAMES.get(type(value)) or ("str" if isinstance(value, str) else "object")
    found = next((option for option in options if name in _json_types(option)), None)
    try:
        if found is None:
            expected = " | ".join(min(_json_types(option)) for option in options)
            raise Mistake(f"Expected `{expected}`, got `{name}`", path)
        return _checked_inside(value, found, path, note)
    except Mistake as mistake:
        if NoneType not in options:
            raise
        note(mistake)
        return None


@cache
def _json_types(hint: Any) -> frozenset[str]:
    """Return the names of the types that JSON has for a type."""
    origin = get_origin(hint)
    if hint is Any:
        return frozenset(_NAMES.values())
    if origin in {Annotated, Required}:
        return _json_types(get_args(hint)[0])
    if isinstance(hint, type) and issubclass(hint, datetime | Enum):
        return frozenset({"str"})
    if hint is float:
        return frozenset({"float", "int"})
    return frozenset({_NAMES.get(origin or hint, "object")})


def _checked_inside(value: Any, hint: Any, path: str, note: Note) -> Any:
    """Return a value of the right type with what is wrong inside of it replaced."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        plain, limits = arguments
        _check_limits(_checked_inside(value, plain, path, note), plain, limits, path)
    elif is_typeddict(hint):
        return _checked_table(value, hint, path, note)
    elif origin is list:
        return _checked_list(value, arguments[0], path, note)
    elif origin is not None:
        table = value.items()
        return {key: _checked(below, arguments[1], f"{path}[...]", note) for key, below in table}
    elif hint is datetime:
        _check_time(value, path)
    elif isinstance(hint, type) and issubclass(hint, Enum) and value not in list(hint):
        raise Mistake(f"Invalid enum value {value!r}", path)
    return value


def _checked_table(value: Mapping[str, Any], shape: Any, path: str, note: Note) -> dict[str, Any]:
    checked_table = dict(value)
    for key, hint in _fields(shape).items():
        if key in value:
            checked_table[key] = _checked(value[key], hint, f"{path}.{key}", note)
        elif key in shape.__required_keys__:
            raise Mistake(f"Object missing required field `{key}`", path)
    return checked_table


@cache
def _fields(shape: Any) -> dict[str, Any]:
    hints = get_type_hints(shape, include_extras=True)
    return {
        key: get_args(hint)[0] if get_origin(hint) is Required else hint
        for key, hint in hints.items()
    }


def _checked_list(value: list[Any], hint: Any, path: str, note: Note) -> list[Any]:
    if get_origin(hint) is Annotated and value:
        plain, limits = get_args(hint)
        if isinstance(limits, Range) and {type(item) for item in value} <= {int, plain}:
            # A soak has millions of them.
            for extreme in (min(value), max(value)):
                _check_limits(extreme, plain, limits, path)
            return value
    return [_checked(item, hint, f"{path}[{number}]", note) for number, item in enumerate(value)]


def _check_limits(value: Any, plain: type, limits: Range | Length, path: str) -> None:
    if reason := limits.why_not(value):
        raise Mistake(f"Expected `{_NAMES[plain]}` {reason}", path)


def _check_time(value: str, path: str) -> None:
    try:
        if _TIME.fullmatch(value) and datetime.fromisoformat(value):
            return
    except ValueError:
        pass
    raise Mistake("Invalid RFC3339 encoded datetime", path)
