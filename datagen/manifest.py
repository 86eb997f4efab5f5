"""`_dataset.json`: a directory with this file is a dataset. It is written last and deleted first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self, TypeVar

from datagen import recipe as recipes
from datagen.recipe import Recipe, Totals
from harness.model.layout import Layout, layout_text
from harness.terminal import shorten

T = TypeVar("T")

FILE_NAME = "_dataset.json"
SCHEMA_VERSION = 1


class Format(StrEnum):
    """The file formats of datasets."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True)
class Manifest:
    """What a dataset was when its last file had been written.

    `files` maps the name of each data file to its length in bytes. `digest` depends on the content of
    all rows alone: not on their order, partitions, format or file system. A layout is None where none
    was requested, or where the files differ.
    """

    recipe: Recipe
    format: Format
    partitions: int
    files: Mapping[str, int]
    digest: str
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
            "totals": {
                "rows": self.totals.rows,
                "integer_sum": self.totals.integer_sum,
                "float_sum_e9": self.totals.float_sum_e9,
                "rows_per_prefix2": dict(sorted(self.totals.rows_per_prefix2.items())),
            },
            "files": dict(sorted(self.files.items())),
        }
        return json.dumps(manifest, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read the text of the file. Raise ValueError, with one line on the reason, if it is invalid."""
        try:
            facts = _value({"the manifest": json.loads(text)}, "the manifest", dict)
            if (version := _value(facts, "schema_version", int)) != SCHEMA_VERSION:
                raise ValueError(f"schema version {version} is not known to this clusterlift")
            recipe, totals = _recipe(facts), _totals(facts)
            if totals.rows != recipe.rows:
                raise ValueError("its totals are not those of its recipe")
            layouts = _value(facts, "layout", dict)
            return cls(
                recipe=recipe,
                format=Format(_value(facts, "format", str)),
                files=_counts(facts, "files"),
                totals=totals,
                requested_layout=_layout(layouts, "requested"),
                observed_layout=_layout(layouts, "observed"),
                **_values(facts, partitions=int, digest=str, written_by=str, written_at=str),
            )
        except KeyError as error:
            raise ValueError(f"{error} is missing") from error
        except RecursionError as error:
            raise ValueError("its values are nested too deeply") from error


_JSON_NAMES = {int: "a whole number", str: "a text", dict: "an object"}
_NUMBER_LIMIT = 10**25
"""Larger than every number of the largest dataset, and still small enough for a float."""


def _value(facts: Mapping[str, Any], key: str, kind: type[T]) -> T:
    """Return the value of a key. Raise ValueError unless it has exactly this type: True is no number."""
    value = facts[key]
    if type(value) is not kind:
        raise ValueError(f"{key} is {_brief(value)}, not {_JSON_NAMES[kind]}")
    if isinstance(value, int) and not 0 <= value < _NUMBER_LIMIT:
        raise ValueError(f"{key} is {_brief(value)}, which is out of range")
    return value


def _values(facts: Mapping[str, Any], /, **kinds: type) -> dict[str, Any]:
    """Return the values of these keys. Raise ValueError like `_value`."""
    return {key: _value(facts, key, kind) for key, kind in kinds.items()}


def _brief(value: object) -> str:
    return shorten(repr(value), 60)


def _counts(facts: Mapping[str, Any], key: str) -> dict[str, int]:
    counts = _value(facts, key, dict)
    return _values(counts, **dict.fromkeys(counts, int))


def _recipe(facts: Mapping[str, Any]) -> Recipe:
    recipe = _value(facts, "recipe", dict)
    name, version = _value(recipe, "name", str), _value(recipe, "version", int)
    if (name, version) != (recipes.NAME, recipes.VERSION):
        raise ValueError(
            f"its rows follow recipe {name} version {version}, "
            f"this clusterlift has {recipes.NAME} version {recipes.VERSION}"
        )
    return Recipe(**_values(recipe, rows=int, seed=int))


def _totals(facts: Mapping[str, Any]) -> Totals:
    totals = _value(facts, "totals", dict)
    sums = _values(totals, rows=int, integer_sum=int, float_sum_e9=int)
    return Totals(**sums, rows_per_prefix2=_counts(totals, "rows_per_prefix2"))


def _layout(layouts: Mapping[str, Any], key: str) -> Layout | None:
    return None if layouts[key] is None else Layout.parse(_value(layouts, key, str))
