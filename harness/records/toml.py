"""Reads TOML files that have a schema. A mistake is one line that names file, table and key.

A schema is a msgspec.Struct for each table, with unknown fields forbidden. A `Meta` with a `description`
says what a value has to be. `__post_init__` may raise ValueError, with the key in its message.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin

import msgspec

from harness.model.errors import BadInput
from harness.records.regular_file import content_of
from harness.words import shorten

T = TypeVar("T")

MAX_BYTES = 10**6
_SHOWN_CHARACTERS = 60
_SHOWN_BITS = 64


def read_toml(file: Path) -> dict[str, Any]:
    """Return the values of a file. Raises BadInput unless it is a regular file of TOML, of 1 MB at most."""
    try:
        return tomllib.loads(content_of(file, MAX_BYTES).decode())
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{file}: not TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{file}: not TOML: it is not UTF-8 text") from error
    except ValueError as error:
        raise BadInput(f"{file}: a number has too many digits") from error
    except RecursionError as error:
        raise BadInput(f"{file}: values are nested too deeply") from error


def convert(values: Mapping[str, Any], schema: type[T], file: Path) -> T:
    """Return the values as an object of the schema. Raises BadInput that names the first mistake."""
    try:
        return msgspec.convert(values, schema)
    except msgspec.ValidationError as error:
        raise BadInput(f"{file}{_first_mistake(values, schema)}") from error


def _first_mistake(value: Any, schema: Any, path: tuple[str, ...] = ()) -> str | None:
    """Return the innermost mistake, with its table; None if the value has the schema.

    msgspec itself does not name the tables of a mapping.
    """
    try:
        msgspec.convert(value, schema)
    except msgspec.ValidationError as error:
        for name, child, child_schema in _children(value, schema):
            if mistake := _first_mistake(child, child_schema, (*path, name)):
                return mistake
        return _line(path, value, schema, str(error))
    return None


def _children(value: Any, schema: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield name, value and schema of the keys of a table, and of the names of tables."""
    plain, _ = _unwrapped(schema)
    if not isinstance(value, dict):
        return
    if get_origin(plain) is dict:
        name_schema, table_schema = get_args(plain)
        for name, table in value.items():
            yield "a name", name, name_schema
            yield name, table, table_schema
    elif isinstance(plain, type) and issubclass(plain, msgspec.Struct):
        for field in msgspec.structs.fields(plain):
            if field.name in value:
                yield field.name, value[field.name], field.type


def _line(path: tuple[str, ...], value: Any, schema: Any, message: str) -> str:
    """Return `, TABLE: MISTAKE`, or `: MISTAKE` for a key outside of tables."""
    words, rule = message.partition(" - at `$")[0], _rule(schema)
    if match := _WRONG_KEY.fullmatch(words):
        key = shorten(match[2], _SHOWN_CHARACTERS)
        words = f"unknown key {key}" if match[1] else f"{key} is missing"
    elif rule or not isinstance(value, dict):
        *tables, key = path
        path = tuple(tables)
        is_of_type = rule and ", got `" not in words
        words = f"{key} has to be {rule}{_not(value)}" if is_of_type else f"{key}: {words}"
    words = words.replace("`object`", "`table`").replace(" | null`", "`")
    return f"{', ' if path else ''}{'.'.join(path)}: {words}"


_WRONG_KEY = re.compile(r"Object (?:contains (unknown)|missing required) field `(.*)`", re.DOTALL)


def _rule(schema: Any) -> str | None:
    """Return what a value has to be; None if its type says all."""
    plain, meta = _unwrapped(schema)
    if get_origin(plain) is Literal:
        return " or ".join(get_args(plain))
    if meta is None or meta.description or meta.ge is None or meta.le is None:
        return meta.description if meta else None
    return f"from {meta.ge:,} to {meta.le:,}"


def _unwrapped(schema: Any) -> tuple[Any, msgspec.Meta | None]:
    """Return the type of `Annotated[type, Meta]`, `type | None` or `type`, and its Meta, if any."""
    if NoneType in get_args(schema):
        schema = get_args(schema)[0]
    if get_origin(schema) is Annotated:
        plain, meta = get_args(schema)
        return plain, meta
    return schema, None


def _not(value: Any) -> str:
    """Return `, not VALUE`; nothing for tables and arrays, which can be large and deep."""
    if isinstance(value, dict | list):
        return ""
    if isinstance(value, int) and value.bit_length() > _SHOWN_BITS:
        return f", not a number of {value.bit_length()} bits"
    return f", not {shorten(repr(value), _SHOWN_CHARACTERS)}"
