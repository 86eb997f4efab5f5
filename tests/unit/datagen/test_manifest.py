"""A manifest is read back as it was written; an invalid one is refused in one line."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from datagen.manifest import Format, Manifest
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
)


def test_a_manifest_is_read_back_from_its_text() -> None:
    assert Manifest.from_json(MANIFEST.to_json()) == MANIFEST


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        ("schema_version", 99, "schema version 99 is not known to this clusterlift"),
        ("schema_version", True, "schema_version is True, not a whole number"),
        ("partitions", float("inf"), "partitions is inf, not a whole number"),
        ("partitions", -1, "partitions is -1, which is out of range"),
        ("format", "orc", "'orc' is not a valid Format"),
        ("recipe", [], "recipe is [], not an object"),
        ("recipe.rows", "1000", "rows is '1000', not a whole number"),
        ("recipe.rows", 999, "its totals are not those of its recipe"),
        ("recipe.rows", 10**10, "rows must be from 0 to 9,000,000,000, not 10,000,000,000"),
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
    assert message in refusal(json.dumps(manifest))


def test_a_missing_value_is_refused_with_its_name() -> None:
    manifest = json.loads(MANIFEST.to_json())
    for key in manifest:
        if key in {"rows", "bytes", "file_count"}:  # these are derived from other values
            continue
        incomplete = copy.deepcopy(manifest)
        del incomplete[key]
        assert refusal(json.dumps(incomplete)) == f"'{key}' is missing"


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
