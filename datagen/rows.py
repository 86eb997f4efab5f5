"""A recipe's rows as a DataFrame, and what is learnt of them while they go by."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping
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
    "_prefix": "cast(crc32(cast(prefix2 as binary)) as double)",
}
OBSERVED = {
    "rows": "count(*)",
    "integer_sum": "sum(_integer)",
    "fraction_sum": "sum(_fraction)",
    "digest": "try_sum(_hash)",
    # There are 256 prefixes, and as many bins never merge two of them: the counts are exact.
    "prefixes": "to_json(histogram_numeric(_prefix, 256))",
}
"""Aggregates over the observed columns."""

PREFIX_OF_CRC = {zlib.crc32(prefix.encode()): prefix for prefix in map("{:02x}".format, range(256))}
"""A histogram is over numbers; of all ways to make one of a prefix, CRC-32 is Spark's fastest."""


def row_frame(spark: SparkSession, recipe: Recipe, partitions: int) -> DataFrame:
    """The recipe's rows, not yet computed: its six columns and `fraction`."""
    return (
        spark.range(0, recipe.rows, 1, partitions)
        .selectExpr(*recipes.base_expressions(recipe))
        .selectExpr(*recipes.column_expressions())
    )


def totals_from(seen: Mapping[str, Any]) -> Totals:
    """The totals that the values of OBSERVED amount to."""
    per_prefix: Counter[str] = Counter()
    for bin_ in json.loads(seen["prefixes"]):
        # Histograms of two partitions are joined, not added up: a prefix may come twice.
        per_prefix[PREFIX_OF_CRC[round(bin_["x"])]] += int(bin_["y"])
    return Totals(
        rows=seen["rows"],
        integer_sum=seen["integer_sum"],
        float_sum_e9=seen["integer_sum"] * recipes.SCALE + seen["fraction_sum"],
        rows_per_prefix2=dict(per_prefix),
    )
