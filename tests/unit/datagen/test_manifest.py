"""A manifest is read back as it was written; an invalid one is refused in one line."""

import contextlib
import copy
import dataclasses
import json
from collections.abc import Iterator
from typing import Any

import pytest

from datagen.manifest import SCHEMA_VERSION, Format, Manifest, content_checksum
from datagen.manifest_schema import (
    SCHEMAS,
    VERSION_1,
    Dictionary,
    Field,
    Nullable,
    Object,
    Text,
    WholeNumber,
)
from datagen.recipe import Recipe, Totals
from harness.model.layout import UNKNOWN

MANIFEST = Manifest(
    recipe=Recipe(1_000, seed=7),
    format=Format.PARQUET,
    partitions=2,
    files={"part-00000.parquet": 600, "part-00001.parquet": 400},
    digest="0123456789abcdef",
    totals=Totals(1_000, 5 * 10**8, 5 * 10**17, {"00": 400, "ff": 600}),
    requested_layout=None,
    observed_layout=UNKNOWN,
    written_by="clusterlift 0",
    written_at="2026-11-21T13:42:13.123Z",
    digest_without_value="fedcba9876543210",
)


def test_a_manifest_is_read_back_from_its_text() -> None:
    assert Manifest.from_json(MANIFEST.to_json()) == MANIFEST


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ("schema_version", 99, "schema version 99 is not known to this clusterlift"),
        ("schema_version", True, "schema_version is True, not a whole number"),
        ("partitions", float("inf"), "partitions is inf, not a whole number"),
        ("rows", 999, "rows is 999, but the other values give 1,000"),
        ("bytes", 0, "bytes is 0, but the other values give 1,000"),
        ("file_count", 3, "file_count is 3, but the other values give 2"),
        ("colour", 3, "'colour' in the manifest is not known to this clusterlift"),
        ("recipe.colour", 3, "'colour' in recipe is not known to this clusterlift"),
        ("partitions", -1, "partitions is -1, which is out of range"),
        ("format", "orc", "format is 'orc', not csv or parquet"),
        ("recipe", [], "recipe is [], not an object"),
        ("recipe.rows", "1000", "rows is '1000', not a whole number"),
        ("recipe.rows", 999, "its totals contradict its recipe"),
        ("recipe.rows", 10**10, "rows is 10000000000, which is out of range"),
        ("recipe.version", 99, "recipe uuid-rows version 99, this clusterlift has uuid-rows"),
        ("totals.float_sum_e9", 10**400, "which is out of range"),
        ("totals.integer_sum", None, "integer_sum is None, not a whole number"),
        ("totals.rows_per_prefix2", {"00": "4"}, "00 is '4', not a whole number"),
        ("files", 7, "files is 7, not an object"),
        ("files", {"part": 1.5}, "part is 1.5, not a whole number"),
        ("digest", 5, "digest is 5, not a text"),
        ("layout", "rs:6+3", "layout is 'rs:6+3', not an object"),
        ("layout.observed", 5, "observed is 5, not a text"),
        ("layout.observed", "rs", "'rs' is not a layout"),
        ("layout.requested", "rs:6+3", "rs:6+3 was requested, but unknown observed"),
        ("written_at", {}, "written_at is {}, not a text"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(keys: str, value: Any, message: str) -> None:
    manifest = json.loads(MANIFEST.to_json())
    *parents, last = keys.split(".")
    inner = manifest
    for parent in parents:
        inner = inner[parent]
    inner[last] = value
    assert message in refusal(with_checksum(manifest))


def with_checksum(manifest: dict[str, Any]) -> str:
    return json.dumps(manifest | {"checksum": content_checksum(manifest)})


def test_a_missing_value_is_refused_with_its_name() -> None:
    manifest = json.loads(MANIFEST.to_json())
    for key in manifest:
        incomplete = copy.deepcopy(manifest)
        del incomplete[key]
        assert refusal(json.dumps(incomplete)) == f"'{key}' is missing"


# Every field of every schema version, with every value that it must not have.


def fields(schema: Object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Field]]:
    for name, field in schema.fields.items():
        yield (*path, name), field
        if isinstance(field, Object):
            yield from fields(field, (*path, name))


def wrong_values(field: Field) -> Iterator[Any]:
    yield from (True, 1.0, float("nan"), [], [[]], "x" * 10_000, {"a": {"b": 1}}, 10**400)
    match field:
        case WholeNumber(minimum, maximum):
            yield from (None, str(minimum), minimum - 1, maximum + 1)
        case Text():
            yield from (None, "", 5, "\n")
        case Nullable():
            yield from ("", 5)
        case Dictionary(_, values, size):
            yield from (None, 5, {"a": None}, {"a": values.minimum - 1}, {"a": values.maximum + 1})
            yield {f"{number:x}": 1 for number in range(size + 1)} if size < 1_000 else {"a/b": 1}
        case Object():
            yield from (None, 5, {})


VIOLATIONS = [
    pytest.param(version, path, value, id=f"{version}-{'.'.join(path)}-{number}")
    for version, schema in SCHEMAS.items()
    for path, field in fields(schema)
    for number, value in enumerate(wrong_values(field))
]


@pytest.mark.parametrize(("version", "path", "value"), VIOLATIONS)
def test_no_field_takes_a_value_of_another_type_or_range(
    version: int, path: tuple[str, ...], value: Any
) -> None:
    manifest = of_version(version)
    inner = manifest
    for parent in path[:-1]:
        inner = inner[parent]
    inner[path[-1]] = value
    if version == SCHEMA_VERSION and path != ("checksum",):
        manifest["checksum"] = content_checksum(manifest)
    refusal(json.dumps(manifest))


def of_version(version: int) -> dict[str, Any]:
    manifest = json.loads(MANIFEST.to_json())
    if version == SCHEMA_VERSION:
        return manifest
    return {key: manifest[key] for key in VERSION_1} | {"schema_version": version}


def test_a_manifest_of_version_1_is_read_without_what_it_did_not_have() -> None:
    former = Manifest.from_json(json.dumps(of_version(1)))
    assert former == dataclasses.replace(MANIFEST, digest_without_value=None)


def test_every_flipped_bit_is_refused_or_changes_nothing() -> None:
    text = MANIFEST.to_json()
    for position in range(len(text)):
        for bit in range(7):
            flipped = chr(ord(text[position]) ^ (1 << bit))
            damaged = text[:position] + flipped + text[position + 1 :]
            with contextlib.suppress(ValueError):
                assert Manifest.from_json(damaged) == MANIFEST


def test_a_key_that_stands_twice_is_refused() -> None:
    text = MANIFEST.to_json().replace('"partitions": 2', '"partitions": 2, "partitions": 2')
    assert refusal(text) == "a key occurs twice in an object"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "Expecting property name"),
        ("7", "the manifest is 7, not an object"),
        ("null", "the manifest is None, not an object"),
        ("[" * 100_000, "nested too deeply"),
        ('{"schema_version": ' + "9" * 5_000 + "}", "Exceeds the limit"),
    ],
)
def test_a_text_that_is_no_manifest_is_refused_in_one_line(text: str, message: str) -> None:
    assert message in refusal(text)


def refusal(text: str) -> str:
    with pytest.raises(ValueError, match=r".") as refused:
        Manifest.from_json(text)
    message = str(refused.value)
    assert "\n" not in message
    assert len(message) < 200
    return message
