"""What a line of a results file may have. The writer asks before it writes, the reader when it reads.

Whatever a host or a program answers, what is written can be read again: the writer has None, which means
unknown, in place of a value that may not be there.
"""

import math
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import is_dataclass
from datetime import datetime
from functools import cache, partial
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

from harness.model.bounds import ANY_QUANTITY, BY_UNIT, Range
from harness.model.network_metrics import METRICS
from harness.model.probe import LinkSnapshot, Measurement
from harness.model.run import Trial
from harness.model.soak import SoakFlow
from harness.records.shapes import SHAPES
from harness.words import shorten

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
MAX_FILE, MAX_FILE_VALUES = 2**30, 10_000_000
"""The same of a whole file. A soak of 16 hosts has about 2 MB and a hundred values in an hour."""
FIRST_LINES = ("run", "probes")
"""The kinds of a file's first line."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)?")
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
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


OnMistake = Callable[[Mistake], object]
"""Takes each mistake whose value becomes None, or a text that was cut; the reader raises it."""


def refuse(mistake: Mistake) -> None:
    """Raise the mistake: for whoever takes no value but the one that is there."""
    raise mistake


def readable(line: Mapping[str, Any], on_mistake: OnMistake) -> dict[str, Any]:
    """Return a line as the reader takes it; `on_mistake` is told what is unknown or cut.

    Raise Mistake if there is no such line.
    """
    found = checked(limited(line, on_mistake), on_mistake)
    for key in ("value", "goodput_bit_s"):
        if found.get(key) is None and line.get(key) is not None:
            found["error"] = f"{line[key]:g} is no value that a measurement can have"
    return found


def is_too_large(line: bytes) -> bool:
    """Return whether to read a line could fill the memory."""
    return len(line) > MAX_LINE or _values_of(line) > MAX_VALUES


def _values_of(line: bytes) -> int:
    """Return about how many arrays and objects a line has."""
    return line.count(b"[") + line.count(b"{")


class FileSize:
    """What the lines of a file have together."""

    def __init__(self) -> None:
        self._bytes = self._values = 0

    def why_not(self, line: bytes) -> str | None:
        """Count a line, and return why a file may not have it; None if it may."""
        self._bytes += len(line)
        self._values += _values_of(line)
        if self._bytes > MAX_FILE:
            return f"a results file has {MAX_FILE // 2**20:,} MiB at most"
        if self._values > MAX_FILE_VALUES:
            return f"a results file has {MAX_FILE_VALUES:,} arrays and objects at most"
        return None


def is_small(line: bytes) -> bool:
    """Return whether a quick look at a line of JSON shows that no text is too long, and nothing too deep.

    It does of nearly all lines. Of numbers it shows nothing.
    """
    if len(line) > MAX_KEY:
        return False
    brackets = line.translate(None, _NO_BRACKETS)
    for _ in range(MAX_NESTING // 2):  # a pass takes away a level of nesting, or two
        if not brackets:
            return True
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return False


def limited(value: Any, on_mistake: OnMistake, levels: int = MAX_NESTING) -> Any:
    """Return a JSON value without what is too large, too deep or not finite."""
    if isinstance(value, str):
        return _limited_text(value, "a text", MAX_TEXT, on_mistake)
    if not isinstance(value, dict | list):
        # None is neither, and true is 1.
        if value is None or abs(value) <= MAX_INTEGER or _is_fraction(value):
            return value
        on_mistake(Mistake("a number is out of range"))
        return None
    if not levels:
        on_mistake(Mistake(f"values are nested more than {MAX_NESTING} levels deep"))
        return None
    if isinstance(value, list):
        return [limited(below, on_mistake, levels - 1) for below in value]
    return {
        _limited_text(key, "a key", MAX_KEY, on_mistake): limited(below, on_mistake, levels - 1)
        for key, below in value.items()
    }


def _is_fraction(value: float) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _limited_text(text: str, noun: str, most: int, on_mistake: OnMistake) -> str:
    if len(text) <= most:
        return text
    on_mistake(Mistake(f"{noun} has {len(text):,} characters, more than {most:,}"))
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


def checked(line: Mapping[str, Any], on_mistake: OnMistake) -> dict[str, Any]:
    """Return a line with None for each value that its kind may not have.

    Raise Mistake if such a value may not be unknown, either.
    """
    shape = SHAPES.get(str(line.get("kind")))
    found = dict(_check_of(shape)(line, "$", on_mistake) if shape else line)
    if shape is Measurement and "value" in found:
        limits = _limits(found)
        check_ = _check_of(Annotated[float, limits] | None)
        found["value"] = check_(found["value"], "$.value", on_mistake)
    return found


def _limits(measurement: Mapping[str, Any]) -> Range:
    """Return what its metric, or else its unit, says of a measurement. Raise Mistake for another unit."""
    probe, metric, unit = (str(measurement.get(key)) for key in ("probe", "metric", "unit"))
    known = METRICS.get((probe, metric))
    if known is None:
        return BY_UNIT.get(unit, ANY_QUANTITY)
    if unit != known.unit:
        raise Mistake(f"Expected {known.unit!r}, got {shorten(unit, 60)!r}", "$.unit")
    return known.range


def check(value: Any, type_: Any) -> None:
    """Raise Mistake unless all values of a JSON value are within the bounds of its type."""
    _check_of(type_)(value, "$", refuse)


_Check = Callable[[Any, str, OnMistake], Any]
"""Returns a value, which is at a path of its line, with what is wrong replaced."""


@cache
def _check_of(hint: Any) -> _Check:
    """Return what checks values of a type. The type is looked at once: a file has many values of it."""
    options = get_args(hint) if get_origin(hint) in {Union, UnionType} else (hint,)
    by_type = {
        name: _check_inside(option) for option in reversed(options) for name in _json_types(option)
    }
    expected = " | ".join(min(_json_types(option)) for option in options)

    def check_(value: Any, path: str, on_mistake: OnMistake) -> Any:
        name = _NAMES.get(type(value)) or ("str" if isinstance(value, str) else "object")
        try:
            if name not in by_type:
                raise Mistake(f"Expected `{expected}`, got `{name}`", path)
            return by_type[name](value, path, on_mistake)
        except Mistake as mistake:
            if NoneType not in options:
                raise
            on_mistake(mistake)
            return None

    return check_


@cache
def _json_types(hint: Any) -> frozenset[str]:
    """Return the names of the types that JSON has for a type."""
    origin = get_origin(hint)
    if hint is Any:
        return frozenset(_NAMES.values())
    if origin in {Annotated, Required}:
        return _json_types(get_args(hint)[0])
    if hint is float:
        return frozenset({"float", "int"})
    return frozenset({_NAMES.get(origin or hint, "object")})


def _check_inside(hint: Any) -> _Check:
    """Return what checks what is inside of values of the right type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        plain, limits = arguments
        return partial(_checked_within, plain, limits, _check_inside(plain))
    if is_typeddict(hint) or is_dataclass(hint):
        return partial(_checked_table, hint)
    if origin in {list, tuple}:
        return partial(_checked_list, arguments[0], _check_of(arguments[0]))
    if origin is not None:
        keys, values = arguments
        return partial(_checked_mapping, keys, values, _check_of(values))
    return lambda value, *_: value


def _checked_within(
    plain: Any, limits: Any, inside: _Check, value: Any, path: str, on_mistake: OnMistake
) -> Any:
    found = inside(value, path, on_mistake)
    _check_limits(found, plain, limits, path)
    return found


def _checked_mapping(
    keys: Any, values: Any, check_: _Check, value: dict[str, Any], path: str, on_mistake: OnMistake
) -> dict[str, Any]:
    path = f"{path}[...]"
    if get_origin(keys) is Annotated:
        plain, limits = get_args(keys)
        for key in value:
            _check_limits(key, plain, limits, path)
    if _are_numbers_within(value.values(), values, path):
        return value
    return {key: check_(item, path, on_mistake) for key, item in value.items()}


def _checked_table(
    shape: Any, value: Mapping[str, Any], path: str, on_mistake: OnMistake
) -> dict[str, Any]:
    checked_table = dict(value)
    for key, check_ in _fields(shape).items():
        if key in value:
            checked_table[key] = check_(value[key], f"{path}.{key}", on_mistake)
        elif key in getattr(shape, "__required_keys__", ()):
            raise Mistake(f"Object missing required field `{key}`", path)
    return checked_table


@cache
def _fields(shape: Any) -> dict[str, _Check]:
    """Return the checks of the keys; of a dataclass, those with bounds: msgspec checks the others."""
    hints = get_type_hints(shape, include_extras=True)
    if is_dataclass(shape):
        return {key: _check_of(hint) for key, hint in hints.items() if _has_bounds(hint)}
    return {
        key: _check_of(get_args(hint)[0] if get_origin(hint) is Required else hint)
        for key, hint in hints.items()
    }


def _has_bounds(hint: Any) -> bool:
    if isinstance(hint, type) and is_dataclass(hint):
        return bool(_fields(hint))
    return get_origin(hint) is Annotated or any(map(_has_bounds, get_args(hint)))


def _checked_list(
    hint: Any, check_: _Check, value: list[Any], path: str, on_mistake: OnMistake
) -> list[Any]:
    if _are_numbers_within(value, hint, path):
        return value
    return [check_(item, f"{path}[{number}]", on_mistake) for number, item in enumerate(value)]


def _are_numbers_within(values: Collection[Any], hint: Any, path: str) -> bool:
    """Return whether these are numbers of a type with a range; raise Mistake if one is out of range.

    A soak has millions of them.
    """
    if get_origin(hint) is not Annotated or not values:
        return False
    plain, limits = get_args(hint)
    if not isinstance(limits, Range) or not {type(item) for item in values} <= {int, plain}:
        return False
    for extreme in (min(values), max(values)):
        _check_limits(extreme, plain, limits, path)
    return True


def _check_limits(value: Any, plain: Any, limits: Any, path: str) -> None:
    if limits is datetime:
        _check_time(value, path)
    elif reason := limits.why_not(value):
        raise Mistake(f"Expected `{min(_json_types(plain))}` {reason}", path)


def _check_time(value: str, path: str) -> None:
    try:
        if _TIME.fullmatch(value) and datetime.fromisoformat(value):
            return
    except ValueError:
        pass
    raise Mistake("Invalid RFC3339 encoded datetime", path)
