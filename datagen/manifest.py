"""`_dataset.json`: a directory with this file is a dataset. It is written last and deleted first.

A checksum finds what damaged or changed the file later.
"""

from __future__ import annotations  # for Python 3.8

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from datagen import recipe as recipes
from datagen.recipe import Recipe, Totals
from harness.model.layout import Layout, layout_text

FILE_NAME = "_dataset.json"
SCHEMA_VERSION = 1


class Format(str, Enum):
    """The file formats of datasets."""

    CSV = "csv"
    PARQUET = "parquet"

    def __str__(self) -> str:
        return self.value


DEFAULT_FORMAT = Format.PARQUET


@dataclass(frozen=True)
class Manifest:
    """What a dataset was when its last file had been written.

    `files` maps the name of each data file to its length in bytes. The digests depend on the content of
    all rows alone: not on their order, partitions, format or file system; one of them leaves the column
    `value` out. A layout is None where none was requested, or where the files differ.
    """

    recipe: Recipe
    format: Format
    partitions: int
    files: Mapping[str, int]
    digest: str
    digest_without_value: str
    totals: Totals
    requested_layout: Layout | None
    observed_layout: Layout | None
    written_by: str
    written_at: str

    @property
    def bytes(self) -> int:
        """Bytes of data: the sum of the files' lengths as the file system reports them."""
        return sum(self.files.values())

    def as_facts(self) -> dict[str, Any]:
        """Return what a run records of its dataset: all but the totals and the names of the files."""
        return {
            "recipe": self.recipe.as_facts(),
            "format": str(self.format),
            "rows": self.recipe.rows,
            "partitions": self.partitions,
            "bytes": self.bytes,
            "file_count": len(self.files),
            "layout": {
                "requested": layout_text(self.requested_layout),
                "observed": layout_text(self.observed_layout),
            },
            "digest": self.digest,
            "written_by": self.written_by,
            "written_at": self.written_at,
        }

    def to_json(self) -> str:
        """Return the text of the file."""
        manifest = {
            "schema_version": SCHEMA_VERSION,
            **self.as_facts(),
            "digest_without_value": self.digest_without_value,
            "totals": {
                "rows": self.totals.rows,
                "integer_sum": self.totals.integer_sum,
                "float_sum_e9": self.totals.float_sum_e9,
                "rows_per_prefix2": dict(sorted(self.totals.rows_per_prefix2.items())),
            },
            "files": dict(sorted(self.files.items())),
        }
        manifest["checksum"] = content_checksum(manifest)
        return json.dumps(manifest, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Read the text of the file. Raise ValueError, with one line on the reason, if it is invalid."""
        try:
            facts = json.loads(text)
            _check(facts)
            return cls(
                recipe=Recipe(facts["recipe"]["rows"], facts["recipe"]["seed"]),
                format=Format(facts["format"]),
                partitions=facts["partitions"],
                files=facts["files"],
                digest=facts["digest"],
                digest_without_value=facts["digest_without_value"],
                totals=Totals(**facts["totals"]),
                requested_layout=_layout(facts["layout"]["requested"]),
                observed_layout=_layout(facts["layout"]["observed"]),
                written_by=facts["written_by"],
                written_at=facts["written_at"],
            )
        except (KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"it is no manifest of clusterlift: {error!r}") from error


def named_files(text: str) -> set[str]:
    """Return the names of the data files in a manifest of any version; none if it cannot be read."""
    try:
        files = json.loads(text)["files"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return set()
    if not isinstance(files, dict):
        return set()
    return set(files)


def content_checksum(manifest: Mapping[str, Any]) -> str:
    """Return the checksum of a manifest: of all its values except the checksum itself."""
    content = {key: value for key, value in manifest.items() if key != "checksum"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check(facts: Mapping[str, Any]) -> None:
    """Raise ValueError unless the manifest is of this version, as it was written, and of our recipe."""
    version = facts["schema_version"]
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"schema version {version!r} is not {SCHEMA_VERSION}; generate the data again"
        )
    if facts["checksum"] != content_checksum(facts):
        raise ValueError("its checksum is wrong: the file was edited or damaged")
    recipe = facts["recipe"]
    if recipe["name"] != recipes.NAME or recipe["version"] != recipes.VERSION:
        raise ValueError(
            f"its rows follow recipe {recipe['name']} version {recipe['version']}, "
            f"this clusterlift has {recipes.NAME} version {recipes.VERSION}"
        )


def _layout(text: str | None) -> Layout | None:
    if text is None:
        return None
    return Layout.parse(text)
