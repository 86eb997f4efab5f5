"""The rows of a recipe as a DataFrame, and the aggregates that are computed while it is written."""

from __future__ import annotations  # for Python 3.8

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from datagen import recipe as recipes
from datagen.dataset import row_hash
from datagen.recipe import Recipe, Totals

OBSERVED_COLUMNS = {
    "_integer": "integer_val",
    "_fraction": "fraction",
    "_hash": row_hash(recipes.COLUMNS),
    "_hash_without_value": row_hash(recipes.COLUMNS_WITHOUT_VALUE),
    "_prefix": "crc32(cast(prefix2 as binary))",
}
"""Columns that Spark computes in the same generated code as the columns that it writes."""
SKETCH = "count_min_sketch(_prefix, 0.0001D, 0.5D, 3)"
DIGESTS = {
    "digest": "try_sum(_hash)",
    "digest_without_value": "try_sum(_hash_without_value)",
}
OBSERVED = {
    "rows": "count(*)",
    "integer_sum": "sum(_integer)",
    "fraction_sum": "sum(_fraction)",
    **DIGESTS,
    "sketch": f"hex({SKETCH})",
}
"""Aggregates over OBSERVED_COLUMNS."""

PREFIXES = tuple(f"{number:02x}" for number in range(256))

ANSI = "spark.sql.ansi.enabled"


def row_frame(spark: SparkSession, recipe: Recipe, partitions: int) -> DataFrame:
    """Return the rows of a recipe, not yet computed: its six columns and `fraction`."""
    rows = spark.range(0, recipe.rows, 1, partitions)
    with _ansi_disabled(spark):
        for stage in recipes.base_stages(recipe):
            rows = rows.selectExpr(*stage)
    return rows.selectExpr(*recipes.column_expressions())


@contextmanager
def _ansi_disabled(spark: SparkSession) -> Iterator[None]:
    """Disable ANSI mode for the expressions that are created meanwhile. Each keeps its mode."""
    before = spark.conf.get(ANSI)
    spark.conf.set(ANSI, "false")
    try:
        yield
    finally:
        spark.conf.set(ANSI, str(before))


def totals_from(observed: Mapping[str, Any]) -> Totals:
    """Return the totals from the values of OBSERVED, by name."""
    return Totals(
        rows=observed["rows"],
        integer_sum=observed["integer_sum"],
        float_sum_e9=observed["integer_sum"] * recipes.SCALE + observed["fraction_sum"],
        rows_per_prefix2=rows_per_prefix(bytes.fromhex(observed["sketch"])),
    )


def rows_per_prefix(sketch: bytes) -> dict[str, int]:
    """Return the number of rows of each prefix2 in a SKETCH.

    A count-min sketch is the only aggregate of Spark that counts groups in less time than the write beside
    it takes. Its counts are exact here: it has one row, and no two prefixes share a cell. The bytes are
    laid out as in version 1 of org.apache.spark.util.sketch.CountMinSketch. Raises ValueError for
    another version, and where prefixes do share a cell.
    """
    header = struct.Struct(">iqiiq")
    version, rows, depth, width, factor = header.unpack_from(sketch)
    if (version, depth) != (1, 1):
        raise ValueError(f"Spark's count-min sketch is of version {version}, depth {depth}")
    counts = struct.unpack_from(f">{width}q", sketch, header.size)
    found = {}
    cells = set()
    for prefix in PREFIXES:
        cell = _cell(zlib.crc32(prefix.encode()), factor, width)
        cells.add(cell)
        if counts[cell]:
            found[prefix] = counts[cell]
    if len(cells) < len(PREFIXES) or sum(found.values()) != rows:
        raise ValueError("Spark's count-min sketch puts several prefixes into one cell")
    return found


def _cell(item: int, factor: int, width: int) -> int:
    """Return the cell of an item: Spark's hash function, in Java's 64-bit arithmetic."""
    signed = (factor * item) % 2**64
    if signed >= 2**63:
        signed -= 2**64
    return (signed + (signed >> 32)) % 2**31 % width
