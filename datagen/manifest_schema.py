"""The fields of a manifest, with their types and bounds; `harness/records/rules.py` checks them."""

from typing import Annotated, TypedDict

from datagen import recipe as recipes
from harness.model.bounds import Closed, Length, Pattern, Range
from harness.model.limits import MAX_ROWS

MAX_FILES = 10**6
MAX_FILE_BYTES = 2**63 - 1
MAX_SUM = MAX_ROWS * recipes.DRAWS

Rows = Annotated[int, Range(ge=0, le=MAX_ROWS)]
Digest = Annotated[str, Pattern("[0-9a-f]{16}", "16 hexadecimal digits")]
LayoutText = Annotated[str, Pattern(r"[a-z]{1,10}(:[0-9a-z+]{1,20}){0,2}", "a layout")]
FileName = Annotated[str, Pattern(r"[^/\x00-\x1f]{1,255}", "the name of a file")]
Prefix = Annotated[str, Pattern("[0-9a-f]{2}", "two hexadecimal digits")]


class RecipeFacts(TypedDict):
    name: Annotated[str, Pattern(".{1,100}", "a name")]
    version: Annotated[int, Range(ge=1, le=10**6)]
    seed: Annotated[int, Range(ge=0, le=recipes.MAX_SEED)]
    rows: Rows


class LayoutFacts(TypedDict):
    requested: LayoutText | None
    observed: LayoutText | None


class TotalsFacts(TypedDict):
    rows: Rows
    integer_sum: Annotated[int, Range(ge=0, le=MAX_SUM // recipes.SCALE)]
    float_sum_e9: Annotated[int, Range(ge=0, le=MAX_SUM)]
    rows_per_prefix2: Annotated[
        dict[Prefix, Annotated[int, Range(ge=1, le=MAX_ROWS)]], Length(0, 256)
    ]


class Versioned(TypedDict):
    """What every version has."""

    schema_version: Annotated[int, Range(ge=0, le=10**6)]


class Version1(Versioned):
    recipe: Annotated[RecipeFacts, Closed(RecipeFacts)]
    format: Annotated[str, Pattern("csv|parquet", "csv or parquet")]
    rows: Rows
    partitions: Annotated[int, Range(ge=1, le=MAX_FILES)]
    bytes: Annotated[int, Range(ge=0, le=MAX_FILES * MAX_FILE_BYTES)]
    file_count: Annotated[int, Range(ge=0, le=MAX_FILES)]
    layout: Annotated[LayoutFacts, Closed(LayoutFacts)]
    digest: Digest
    written_by: Annotated[str, Pattern(r"clusterlift \S{1,100}", "a version of clusterlift")]
    written_at: Annotated[
        str,
        Pattern(
            r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
            r"T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?Z",
            "a time such as 2026-01-31T12:00:00Z",
        ),
    ]
    totals: Annotated[TotalsFacts, Closed(TotalsFacts)]
    files: Annotated[
        dict[FileName, Annotated[int, Range(ge=0, le=MAX_FILE_BYTES)]], Length(0, MAX_FILES)
    ]


class Version2(Version1):
    digest_without_value: Digest
    checksum: Digest


SCHEMAS = {1: Version1, 2: Version2}
"""By the schema version."""
