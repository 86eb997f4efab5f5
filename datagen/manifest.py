"""`_dataset.json`, the file that makes a directory a dataset: it is written last and deleted first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self

from datagen.layout import Layout
from datagen.recipe import Recipe, Totals

FILE_NAME = "_dataset.json"
SCHEMA_VERSION = 1


class Format(StrEnum):
    """The file formats that datasets are stored in."""

    CSV = "csv"
    PARQUET = "parquet"


@dataclass(frozen=True)
class Manifest:
    """What a dataset was when it was whole.

    `files` maps each data file's name to its bytes; `digest` depends on the content of every row and
    on nothing else: not on order, partitions, format or file system.
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
        """Bytes of data, as the file system reports the files' lengths."""
        return sum(self.files.values())

    def as_facts(self) -> dict[str, Any]:
        """What a run records of its dataset: everything but the names of the files and the totals."""
        return {
            "recipe": self.recipe.as_facts(),
            "format": str(self.format),
            "rows": self.recipe.rows,
            "partitions": self.partitions,
            "bytes": self.bytes,
            "file_count": len(self.files),
            "layout": {
                "requested": _text(self.requested_layout),
                "observed": _text(self.observed_layout),
            },
            "digest": self.digest,
            "written_by": self.written_by,
            "written_at": self.written_at,
        }

    def to_json(self) -> str:
        """The text of the file."""
        whole = {
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
        return json.dumps(whole, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Self:
        """The inverse of `to_json`. Raises ValueError, saying what is wrong with the text."""
        try:
            whole = json.loads(text)
            if whole["schema_version"] != SCHEMA_VERSION:
                raise ValueError(f"schema version {whole['schema_version']!r} is not known here")
            recipe = Recipe.from_facts(whole["recipe"])
            if whole["totals"]["rows"] != recipe.rows:
                raise ValueError("its totals are not those of its recipe")
            return cls(
                recipe=recipe,
                format=Format(whole["format"]),
                partitions=int(whole["partitions"]),
                files={str(name): int(size) for name, size in whole["files"].items()},
                digest=str(whole["digest"]),
                totals=Totals(**whole["totals"]),
                requested_layout=_layout(whole["layout"]["requested"]),
                observed_layout=_layout(whole["layout"]["observed"]),
                written_by=str(whole["written_by"]),
                written_at=str(whole["written_at"]),
            )
        except KeyError as error:
            raise ValueError(f"{error} is missing") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(str(error)) from error


def _text(layout: Layout | None) -> str | None:
    return None if layout is None else str(layout)


def _layout(text: str | None) -> Layout | None:
    return None if text is None else Layout.parse(text)
