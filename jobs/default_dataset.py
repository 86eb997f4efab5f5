"""The small dataset of those who name none: generated once, kept in the user's cache."""

from __future__ import annotations

import fcntl
import sys

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset
from datagen.manifest import Format
from datagen.recipe import VERSION, Recipe
from datagen.writer import Request, default_partitions, write_dataset
from harness.model.errors import BadInput
from harness.runtime.cache import cache_directory

RECIPE = Recipe(rows=300_000)


def default_dataset(spark: SparkSession) -> Dataset:
    """The default dataset, generated if it is not there or not whole.

    Raises BadInput if the cache cannot be written.
    """
    place = cache_directory() / "datasets"
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = (place / ".lock").open("w")
    except OSError as error:
        raise BadInput(
            f"the default dataset cannot be kept in {place}: {error.strerror}; "
            "name one with --dataset, or set XDG_CACHE_HOME"
        ) from error
    with lock:
        # Two first runs at once would both generate it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Not Path.as_uri(): Hadoop does not decode what that encodes.
        return _opened_or_generated(spark, f"file://{place}/v{VERSION}-{RECIPE.rows}-rows")


def _opened_or_generated(spark: SparkSession, uri: str) -> Dataset:
    try:
        return open_dataset(spark, uri)
    except BadInput:
        print(f"generating {RECIPE.rows:,} rows once, into {uri}", file=sys.stderr)
    partitions = default_partitions(spark, RECIPE.rows)
    return write_dataset(spark, Request(uri, RECIPE, Format.CSV, partitions, overwrite=True))
