"""The small dataset of those who name none: generated once, kept in the user's cache."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset
from datagen.manifest import Format
from datagen.recipe import VERSION, Recipe
from datagen.writer import Request, default_partitions, write_dataset
from harness.errors import BadInput

RECIPE = Recipe(rows=10**6)


def cache_directory() -> Path:
    """`$XDG_CACHE_HOME/clusterlift`, or `~/.cache/clusterlift`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "clusterlift"


def default_dataset(spark: SparkSession) -> Dataset:
    """The default dataset, generated if it is not there or not whole."""
    name = f"default-v{VERSION}-{RECIPE.rows}-rows"
    uri = (cache_directory() / "datasets" / name).as_uri()
    try:
        return open_dataset(spark, uri)
    except BadInput:
        print(f"generating {RECIPE.rows:,} rows once, into {uri}", file=sys.stderr)
    partitions = default_partitions(spark, RECIPE.rows)
    return write_dataset(spark, Request(uri, RECIPE, Format.CSV, partitions, overwrite=True))
