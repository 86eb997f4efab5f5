"""The fields of a manifest: their types and ranges, as data, from which tests derive every violation."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datagen import recipe as recipes
from harness.model.limits import MAX_ROWS
from harness.terminal import shorten

MAX_FILES = 10**6
MAX_FILE_BYTES = 2**63 - 1
MAX_SUM = MAX_ROWS * recipes.DRAWS
VALUE_WIDTH = 60


@dataclass(frozen=True)
class WholeNumber:
    """A whole number within these bounds. True and 1.0 are not accepted."""

    minimum: int
    maximum: int

    def check(self, name: str, value: object) -> None:
        """Raise ValueError unless the value is such a number."""
        if type(value) is not int:
            raise ValueError(f"{name} is {_brief(value)}, not a whole number")
        if not self.minimum <= value <= self.maximum:
            raise ValueError(f"{name} is {_brief(value)}, which is out of range")


@dataclass(frozen=True)
class Text:
    """A text that matches a regular expression; `meaning` describes it in error messages."""

    pattern: str
    meaning: str = "a text"

    def check(self, name: str, value: object) -> None:
        """Raise ValueError unless the value is such a text."""
        if type(value) is not str:
            raise ValueError(f"{name} is {_brief(value)}, not a text")
        if not re.fullmatch(self.pattern, value):
            raise ValueError(f"{name} is {_brief(value)}, not {self.meaning}")


@dataclass(frozen=True)
class Nullable:
    """A value of another type, or null."""

    kind: Text

    def check(self, name: str, value: object) -> None:
        """Raise ValueError unless the value is null or of that type."""
        if value is not None:
            self.kind.check(name, value)


@dataclass(frozen=True)
class Dictionary:
    """An object with keys of any name: keys of one type, values of another, at most `size` of them."""

    keys: Text
    values: WholeNumber | Text
    size: int

    def check(self, name: str, value: object) -> None:
        """Raise ValueError unless the value is such an object."""
        table = require_object(name, value)
        if len(table) > self.size:
            raise ValueError(f"{name} has {len(table):,} entries, which is out of range")
        for key, entry in table.items():
            self.keys.check(f"a name in {name}", key)
            self.values.check(key, entry)


@dataclass(frozen=True)
class Object:
    """An object with exactly these fields."""

    fields: "Mapping[str, Field]"

    def check(self, name: str, value: object) -> None:
        """Raise ValueError unless the value is such an object."""
        found = require_object(name, value)
        for key, field in self.fields.items():
            if key not in found:
                raise ValueError(f"'{key}' is missing")
            field.check(key, found[key])
        if unknown := sorted(found.keys() - self.fields.keys()):
            raise ValueError(f"{_brief(unknown[0])} in {name} is not known to this clusterlift")


Field = WholeNumber | Text | Nullable | Dictionary | Object

DIGEST = Text("[0-9a-f]{16}", "16 hexadecimal digits")
LAYOUT = Nullable(Text(r"[a-z]{1,10}(:[0-9a-z+]{1,20}){0,2}", "a layout"))
ROWS = WholeNumber(0, MAX_ROWS)
COUNTS = Dictionary(Text("[0-9a-f]{2}", "two hexadecimal digits"), WholeNumber(1, MAX_ROWS), 256)
FILES = Dictionary(
    Text(r"[^/\x00-\x1f]{1,255}", "the name of a file"), WholeNumber(0, MAX_FILE_BYTES), MAX_FILES
)

VERSION_1: Mapping[str, Field] = {
    "schema_version": WholeNumber(1, 1),
    "recipe": Object(
        {
            "name": Text(".{1,100}"),
            "version": WholeNumber(1, 10**6),
            "seed": WholeNumber(0, recipes.MAX_SEED),
            "rows": ROWS,
        }
    ),
    "format": Text("csv|parquet", "csv or parquet"),
    "rows": ROWS,
    "partitions": WholeNumber(1, MAX_FILES),
    "bytes": WholeNumber(0, MAX_FILES * MAX_FILE_BYTES),
    "file_count": WholeNumber(0, MAX_FILES),
    "layout": Object({"requested": LAYOUT, "observed": LAYOUT}),
    "digest": DIGEST,
    "written_by": Text(r"clusterlift \S{1,100}", "a version of clusterlift"),
    "written_at": Text(
        r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z",
        "a time such as 2026-01-31T12:00:00Z",
    ),
    "totals": Object(
        {
            "rows": ROWS,
            "integer_sum": WholeNumber(0, MAX_SUM // recipes.SCALE),
            "float_sum_e9": WholeNumber(0, MAX_SUM),
            "rows_per_prefix2": COUNTS,
        }
    ),
    "files": FILES,
}
VERSION_2 = {
    **VERSION_1,
    "schema_version": WholeNumber(2, 2),
    "digest_without_value": DIGEST,
    "checksum": DIGEST,
}
SCHEMAS = {1: Object(VERSION_1), 2: Object(VERSION_2)}
"""The fields of a manifest by its schema version."""


def require_object(name: str, value: object) -> dict[str, Any]:
    """Return the value. Raise ValueError unless it is an object."""
    if type(value) is not dict:
        raise ValueError(f"{name} is {_brief(value)}, not an object")
    return value


def _brief(value: object) -> str:
    return shorten(repr(value), VALUE_WIDTH)
