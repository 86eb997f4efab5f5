"""A manifest is read back as it was written; an invalid one is refused in one line."""

import contextlib
import copy
import dataclasses
import json
from collections.abc import Iterator
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints, is_typeddict

import pytest

from datagen.manifest import SCHEMA_VERSION, Format, Manifest, content_checksum
from datagen.manifest_schema import SCHEMAS, Version1
from datagen.recipe import Recipe, Totals
from harness.model.bounds import Length, Range
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
        ("schema_version", True, "Expected `int`, got `bool` - at `$.schema_version`"),
        ("partitions", float("inf"), "Expected `int`, got `float` - at `$.partitions`"),
        ("rows", 999, "rows is 999, but the other values give 1,000"),
        ("bytes", 0, "bytes is 0, but the other values give 1,000"),
        ("file_count", 3, "file_count is 3, but the other values give 2"),
        ("colour", 3, "Expected `object` without the unknown key 'colour'"),
        ("recipe.colour", 3, "without the unknown key 'colour' - at `$.recipe`"),
        ("partitions", -1, "Expected `int` >= 1 - at `$.partitions`"),
        ("format", "orc", "Expected `str` that is csv or parquet - at `$.format`"),
        ("recipe", [], "Expected `object`, got `array` - at `$.recipe`"),
        ("recipe.rows", "1000", "Expected `int`, got `str` - at `$.recipe.rows`"),
        ("recipe.rows", 999, "its totals contradict its recipe"),
        ("recipe.rows", 10**10, "Expected `int` <= 9000000000 - at `$.recipe.rows`"),
        ("recipe.version", 99, "recipe uuid-rows version 99, this clusterlift has uuid-rows"),
        ("totals.float_sum_e9", 10**400, "- at `$.totals.float_sum_e9`"),
        ("totals.integer_sum", None, "Expected `int`, got `null` - at `$.totals.integer_sum`"),
        ("totals.rows_per_prefix2", {"00": "4"}, "got `str` - at `$.totals.rows_per_prefix2[...]`"),
        ("files", 7, "Expected `object`, got `int` - at `$.files`"),
        ("files", {"part": 1.5}, "got `float` - at `$.files[...]`"),
        ("digest", 5, "Expected `str`, got `int` - at `$.digest`"),
        ("layout", "rs:6+3", "Expected `object`, got `str` - at `$.layout`"),
        ("layout.observed", 5, "Expected `str | null`, got `int` - at `$.layout.observed`"),
        ("layout.observed", "rs", "'rs' is not a layout"),
        ("layout.requested", "rs:6+3", "rs:6+3 was requested, but unknown observed"),
        ("written_at", {}, "Expected `str`, got `object` - at `$.written_at`"),
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
        assert refusal(json.dumps(incomplete)) == f"Object missing required field `{key}`"


# Every field of every schema version, with every value that it must not have.


def fields(shape: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the path and the type of each field."""
    for name, hint in get_type_hints(shape, include_extras=True).items():
        yield (*path, name), hint
        if is_typeddict(plain := get_args(hint)[0]):
            yield from fields(plain, (*path, name))


def wrong_values(hint: Any) -> Iterator[Any]:
    yield from (True, 1.0, float("nan"), [], [[]], "x" * 10_000, {"a": {"b": 1}}, 10**400)
    if NoneType in get_args(hint):
        yield from ("", 5)
        return
    yield None
    plain, limits = get_args(hint)
    match limits:
        case Range(least, most):
            yield from (str(least), least - 1, most + 1)
        case Length(_, most) if get_origin(plain) is dict:
            _, value = get_args(plain)
            of_value: Any = get_args(value)[1]
            yield from (5, {"a": None}, {"a": of_value.ge - 1}, {"a": of_value.le + 1})
            yield {f"{number:x}": 1 for number in range(most + 1)} if most < 1_000 else {"a/b": 1}
        case _ if plain is str:
            yield from ("", 5, "\n")
        case _:
            yield from (5, {})


VIOLATIONS = [
    pytest.param(version, path, value, id=f"{version}-{'.'.join(path)}-{number}")
    for version, schema in SCHEMAS.items()
    for path, hint in fields(schema)
    for number, value in enumerate(wrong_values(hint))
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
    return {key: manifest[key] for key in get_type_hints(Version1)} | {"schema_version": version}


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
        ("7", "Expected `object`, got `int`"),
        ("null", "Expected `object`, got `null`"),
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
