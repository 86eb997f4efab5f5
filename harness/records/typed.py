"""From what JSON holds to the records of the vocabulary, by their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
Read = Callable[[Any], Any]
"""From a JSON value to a field's; raises TypeError where it is of another type."""


def built(kind: type[T], value: object) -> T:
    """A dataclass from the object that `dataclasses.asdict` made of it; more keys are passed over.

    Its fields are numbers, text, None, mappings by text, tuples of one type and such dataclasses.
    Raises KeyError where a field is missing, and TypeError where one is not of its type.
    """
    found: T = _reader(kind)(value)  # type: ignore[arg-type]  # a class is hashable
    return found


@cache
def _reader(kind: Any) -> Read:
    """How values of a type are read; found out once a type, for files have many values."""
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is UnionType:
        return _optional(next(one for one in arguments if one is not NoneType))
    if origin is tuple:
        read_item = _reader(arguments[0])
        return lambda value: tuple(map(read_item, _exactly(list, value)))
    if origin is Mapping:
        read_value = _reader(arguments[1])
        return lambda value: {k: read_value(v) for k, v in _exactly(dict, value).items()}
    if kind is float:
        return lambda value: float(value) if type(value) is int else _exactly(float, value)
    return lambda value: _exactly(kind, value)


def _record(kind: type) -> Read:
    hints = get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}

    def read(value: Any) -> Any:
        held = _exactly(dict, value)
        return kind(
            **{name: _field(kind, name, read, held[name]) for name, read in readers.items()}
        )

    return read


def _field(kind: type, name: str, read: Read, value: object) -> object:
    try:
        return read(value)
    except TypeError as error:
        raise TypeError(f"{kind.__name__}.{name}: {error}") from error


def _optional(kind: Any) -> Read:
    read = _reader(kind)
    return lambda value: None if value is None else read(value)


def _exactly(kind: type[T], value: Any) -> T:
    """A value of this type; to isinstance a truth value would be a number."""
    if type(value) is not kind:
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value
