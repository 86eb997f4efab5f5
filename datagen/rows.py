"""A recipe's rows as a DataFrame, and what is learnt of them while they go by."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from datagen import recipe as recipes
from datagen.dataset import ROW_HASH
from datagen.recipe import Recipe, Totals

# Computed together with what is written, in the same generated code, and observed on its way.
OBSERVED_COLUMNS = {
    "_integer": "integer_val",
    "_fraction": "fraction",
    "_hash": ROW_HASH,
    "_prefix": "crc32(cast(prefix2 as binary))",
}
SKETCH = "count_min_sketch(_prefix, 0.0001D, 0.5D, 3)"
OBSERVED = {
    "rows": "count(*)",
    "integer_sum": "sum(_integer)",
    "fraction_sum": "sum(_fraction)",
    "digest": "try_sum(_hash)",
    "sketch": f"hex({SKETCH})",
}
"""Aggregates over the observed columns."""

PREFIXES = tuple(f"{number:02x}" for number in range(256))

ANSI = "spark.sql.ansi.enabled"


def row_frame(spark: SparkSession, recipe: Recipe, partitions: int) -> DataFrame:
    """The recipe's rows, not yet computed: its six columns and `fraction`."""
    rows = spark.range(0, recipe.rows, 1, partitions)
    with _ansi_disabled(spark):
        for stage in recipes.base_stages(recipe):
            rows = rows.selectExpr(*stage)
    return rows.selectExpr(*recipes.column_expressions())


@contextmanager
def _ansi_disabled(spark: SparkSession) -> Iterator[None]:
    """ANSI mode is a property of an expression from when it is made; later ones keep the session's."""
    before = spark.conf.get(ANSI)
    spark.conf.set(ANSI, "false")
    try:
        yield
    finally:
        spark.conf.set(ANSI, str(before))


def totals_from(seen: Mapping[str, Any]) -> Totals:
    """The totals that the values of OBSERVED amount to."""
    return Totals(
        rows=seen["rows"],
        integer_sum=seen["integer_sum"],
        float_sum_e9=seen["integer_sum"] * recipes.SCALE + seen["fraction_sum"],
        rows_per_prefix2=rows_per_prefix(bytes.fromhex(seen["sketch"])),
    )


def rows_per_prefix(sketch: bytes) -> dict[str, int]:
    """The counts in a SKETCH, which are exact: it has one row, and no two prefixes share a cell.

    A count-min sketch is the only aggregate of Spark that counts groups beside a write in less time
    than the write takes. The layout is that of org.apache.spark.util.sketch.CountMinSketch, version
    1. Raises ValueError if it is another.
    """
    header = struct.Struct(">iqiiq")
    version, rows, depth, width, factor = header.unpack_from(sketch)
    if (version, depth) != (1, 1):
        raise ValueError(f"Spark's count-min sketch is of version {version}, depth {depth}")
    counts = struct.unpack_from(f">{width}q", sketch, header.size)
    cells = {prefix: _cell(zlib.crc32(prefix.encode()), factor, width) for prefix in PREFIXES}
    found = {prefix: counts[cell] for prefix, cell in cells.items() if counts[cell]}
    if len(set(cells.values())) < len(PREFIXES) or sum(found.values()) != rows:
        raise ValueError("Spark's count-min sketch does not tell all prefixes apart")
    return found


def _cell(item: int, factor: int, width: int) -> int:
    product = (factor * item) % 2**64
    signed = product - 2**64 if product >> 63 else product
    return (signed + (signed >> 32)) % 2**31 % width
