"""A manifest is read back as it was written; an invalid one is refused in one line."""

import contextlib
import json
from typing import Any

import pytest

from datagen.manifest import Format, Manifest, content_checksum
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
        ("schema_version", 99, "schema version 99 is not 1; generate the data again"),
        ("format", "orc", "'orc' is not a valid Format"),
        ("recipe", [], "it is no manifest of clusterlift"),
        ("recipe.version", 99, "recipe uuid-rows version 99, this clusterlift has uuid-rows"),
        ("layout.observed", 5, "it is no manifest of clusterlift"),
        ("layout.observed", "rs", "'rs' is not a layout"),
    ],
)
def test_a_wrong_value_is_refused_in_one_line(keys: str, value: Any, message: str) -> None:
    manifest = json.loads(MANIFEST.to_json())
    *parents, last = keys.split(".")
    inner = manifest
    for parent in parents:
        inner = inner[parent]
    inner[last] = value
    assert message in refusal(json.dumps(manifest | {"checksum": content_checksum(manifest)}))


def test_a_missing_value_is_refused_with_its_name() -> None:
    manifest = json.loads(MANIFEST.to_json())
    del manifest["schema_version"]
    assert refusal(json.dumps(manifest)).endswith("KeyError('schema_version')")


def test_every_flipped_bit_is_refused_or_changes_nothing() -> None:
    text = MANIFEST.to_json()
    for position in range(len(text)):
        for bit in range(7):
            flipped = chr(ord(text[position]) ^ (1 << bit))
            damaged = text[:position] + flipped + text[position + 1 :]
            with contextlib.suppress(ValueError):
                assert Manifest.from_json(damaged) == MANIFEST


@pytest.mark.parametrize("text", ["{", "7", "null", "[" * 100_000, "9" * 5_000])
def test_a_text_that_is_no_manifest_is_refused_in_one_line(text: str) -> None:
    refusal(text)


def refusal(text: str) -> str:
    with pytest.raises(ValueError, match=r".") as refused:
        Manifest.from_json(text)
    message = str(refused.value)
    assert "\n" not in message
    assert len(message) < 200
    return message
