"""Every mutation of a document that has a schema: its fields, derived from types, and what replaces them.

A field's annotations say which kinds of JSON values it may have, which range, and whether it may be absent.
A field of the type Any, and all that is in it, may have every kind.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

import msgspec

from harness.model.bounds import Range

Path = tuple[str | int, ...]
KINDS = ("null", "boolean", "whole", "number", "text", "array", "object")
NEVER = "never"
"""The kind of values that no field may have."""
LEVELS = 500
ABSENT = "absent"

MUTATIONS = {
    "null": ("null", "null"),
    "true": ("boolean", "true"),
    "a negative number": ("whole", "-1"),
    "a huge number": ("whole", "1" + "0" * 18),
    "an enormous number": (NEVER, "1" + "0" * 400),
    "a number of 5,000 digits": (NEVER, "9" * 5000),
    "a fraction": ("number", "1.5"),
    "the smallest fraction": ("number", "5e-324"),
    "the largest fraction": ("number", "1.7976931348623157e308"),
    "a fraction beyond the largest": (NEVER, "1e400"),
    "not a number": (NEVER, "NaN"),
    "infinity": (NEVER, "Infinity"),
    "negative infinity": (NEVER, "-Infinity"),
    "an empty text": ("text", '""'),
    "a text": ("text", '"x"'),
    "a number as text": ("text", '"3.5"'),
    "a text of 1 MB": ("text", f'"{"x" * 10**6}"'),
    "control characters": ("text", r'"\u0000\u001b[31m\r\n\t\u009b\u202e"'),
    "half of a surrogate pair": ("text", r'"\ud800"'),
    "an empty array": ("array", "[]"),
    "an array with null": ("array", "[null]"),
    "an array of numbers": ("array", "[5]"),
    "an array of texts": ("array", '["x"]'),
    "deep arrays": (NEVER, "[" * LEVELS + "]" * LEVELS),
    "an empty object": ("object", "{}"),
    "an object with a number": ("object", '{"x": 1}'),
    "an object with null": ("object", '{"x": null}'),
    "a key that is half of a surrogate pair": ("object", r'{"\ud800": "x"}'),
    "a key of control characters": ("object", r'{"\u0000\u001b[31m\n": "x"}'),
    "deep objects": (NEVER, '{"x":' * LEVELS + "1" + "}" * LEVELS),
}
"""The kind and the JSON text of each mutation by its name."""


@dataclass(frozen=True)
class Field:
    """A value in a document; `bounds` are those of its numbers, and `required` forbids its absence."""

    path: Path
    kinds: frozenset[str]
    required: bool
    bounds: tuple[msgspec.Meta | Range, ...] = ()

    @property
    def name(self) -> str:
        """The path with dots."""
        return ".".join(map(str, self.path))

    def mutations(self) -> "Iterator[Mutation]":
        """Yield each mutation of the field."""
        yield Mutation(self, ABSENT, None, must_be_refused=self.required)
        for name, (kind, text) in MUTATIONS.items():
            yield Mutation(self, name, text, must_be_refused=not self.allows(kind))
        for bound in self.bounds:
            for limit, step in ((bound.ge, -1), (bound.gt, 0), (bound.le, 1)):
                if limit is not None:
                    # Of large floats, the next whole number is the same one.
                    text = json.dumps(limit + step * max(1, abs(limit) * 1e-9))
                    yield Mutation(self, f"out of range: {text}", text, must_be_refused=True)

    def allows(self, kind: str) -> bool:
        """Return whether a value of this kind may be right."""
        return kind in self.kinds or (kind == "whole" and "number" in self.kinds)


_MARK = "\N{REPLACEMENT CHARACTER}"


def in_json(document: Any) -> str:
    """Return a document as a line of JSON."""
    return json.dumps(document, ensure_ascii=False)


@dataclass(frozen=True)
class Mutation:
    """What replaces the value of a field: a JSON text, or None if nothing does."""

    field: Field
    name: str
    text: str | None
    must_be_refused: bool

    def __str__(self) -> str:
        return f"{self.field.name}: {self.name}"

    def applied(self, document: Mapping[str, Any], written: Callable[[Any], str] = in_json) -> str:
        """Return the text of the document with this mutation; `written` is the form of the text."""
        if self.text is None:
            return written(_without(document, self.field.path))
        text = written(_replaced(document, self.field.path, _MARK))
        return text.replace(f'"{_MARK}"', self.text)


def fields_of(
    annotations: Sequence[Any], value: Any, path: Path = (), *, required: bool = True
) -> Iterator[Field]:
    """Yield the field at a path of a document and all fields in it.

    `annotations` are the types that the value has at once, such as a dataclass and a stricter TypedDict.
    `value` is an example, whose keys stand for all keys of a mapping.
    """
    plain, bounds = [], []
    for annotation in annotations:
        for part in _alternatives(annotation):
            if get_origin(part) is Annotated:
                bounds += [
                    each for each in get_args(part) if isinstance(each, msgspec.Meta | Range)
                ]
            plain.append(_without_annotation(part))
    if path:
        allowed = [_kinds(annotation) for annotation in annotations]
        yield Field(path, frozenset.intersection(*allowed), required, tuple(bounds))
    for name, inner, is_required in _inner(plain, value):
        yield from fields_of(inner, value[name], (*path, name), required=is_required)


def absent_fields(annotation: Any, examples: Sequence[Any]) -> list[str]:
    """Return the fields of a type, by their paths, that have no value in any of the examples."""
    found = [example for example in examples if example is not None]
    if not found:
        return [""]
    structures = map(_without_annotation, _alternatives(annotation))
    # Of several types, none has fields.
    structure, *_ = (each for each in structures if each is not NoneType)
    if get_origin(structure) in {list, tuple, Sequence}:
        return _prefixed("0", get_args(structure)[0], [each[0] for each in found if each])
    if get_origin(structure) in {dict, Mapping}:
        return _prefixed("*", get_args(structure)[1], [v for each in found for v in each.values()])
    return [
        absent
        for name, inner in _hints(structure).items()
        for absent in _prefixed(name, inner, [each.get(name) for each in found])
    ]


def _prefixed(name: str, annotation: Any, examples: Sequence[Any]) -> list[str]:
    return [f"{name}.{absent}".rstrip(".") for absent in absent_fields(annotation, examples)]


def _inner(plain: Sequence[Any], value: Any) -> Iterator[tuple[str | int, list[Any], bool]]:
    """Yield key, annotations and whether it is required, of each value in a value."""
    if isinstance(value, Mapping):
        for name in value:
            inner, is_required = [], False
            for each in plain:
                if get_origin(each) in {dict, Mapping}:
                    inner.append(get_args(each)[1])
                elif name in (hints := _hints(each)):
                    inner.append(hints[name])
                    is_required |= name in _required(each)
            yield name, inner or [Any], is_required
    elif isinstance(value, list | tuple) and value:
        items = [get_args(each)[0] for each in plain if get_origin(each) in {list, tuple, Sequence}]
        yield 0, items or [Any], False


def _hints(structure: Any) -> dict[str, Any]:
    """Return the fields of a dataclass, a TypedDict or a msgspec.Struct; none of any other type."""
    is_structure = (
        dataclasses.is_dataclass(structure)
        or is_typeddict(structure)
        or (isinstance(structure, type) and issubclass(structure, msgspec.Struct))
    )
    hints = get_type_hints(structure, include_extras=True) if is_structure else {}
    return {name: _without_qualifier(hint) for name, hint in hints.items()}


def _without_qualifier(hint: Any) -> Any:
    """Return T of Required[T] and NotRequired[T]."""
    is_qualified = str(get_origin(hint)).rpartition(".")[2] in {"Required", "NotRequired"}
    return get_args(hint)[0] if is_qualified else hint


def _required(structure: Any) -> frozenset[str]:
    if dataclasses.is_dataclass(structure):
        missing = dataclasses.MISSING
        return frozenset(
            field.name
            for field in dataclasses.fields(structure)
            if field.default is missing and field.default_factory is missing
        )
    if is_typeddict(structure):
        hints = get_type_hints(structure, include_extras=True)
        return frozenset(
            name for name, hint in hints.items() if str(get_origin(hint)).endswith(".Required")
        )
    return frozenset(each.name for each in msgspec.structs.fields(structure) if each.required)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in {Union, UnionType} else (annotation,)


def _without_annotation(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _kinds(annotation: Any) -> frozenset[str]:
    """Return the kinds of JSON values that an annotation allows."""
    found = set()
    for part in map(_without_annotation, _alternatives(annotation)):
        origin = get_origin(part) or part
        if origin is Any:
            return frozenset(KINDS)
        if origin is Literal or (
            isinstance(origin, type) and issubclass(origin, Enum | str | datetime)
        ):
            found.add("text")
        elif origin in {list, tuple, Sequence}:
            found.add("array")
        else:
            simple = {NoneType: "null", bool: "boolean", int: "whole", float: "number"}
            found.add(simple.get(origin, "object"))
    return frozenset(found)


def _replaced(value: Any, path: Path, replacement: Any) -> Any:
    if not path:
        return replacement
    head, *rest = path
    changed = list(value) if isinstance(value, list | tuple) else dict(value)
    changed[head] = _replaced(value[head], tuple(rest), replacement)
    return changed


def _without(value: Any, path: Path) -> Any:
    head, *rest = path
    if rest:
        return _replaced(value, (head,), _without(value[head], tuple(rest)))
    if isinstance(value, list | tuple):
        return [each for index, each in enumerate(value) if index != head]
    return {key: each for key, each in value.items() if key != head}
