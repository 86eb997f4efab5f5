"""The dataset of a run: the named one, or a small default one; proven before the first trial."""

from __future__ import annotations

import fcntl

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.manifest import Format
from datagen.recipe import VERSION, Recipe
from datagen.writer import Request, write_dataset
from harness.model.errors import BadInput
from harness.runtime.cache import cache_directory
from harness.terminal import say
from jobs.options import DatasetOptions

DEFAULT_RECIPE = Recipe(rows=300_000)


def proven_dataset(spark: SparkSession, options: DatasetOptions) -> Dataset:
    """Return the dataset after comparing its files and, unless skipped, its content with its manifest.

    Raises BadInput if they differ.
    """
    if options.uri is None:
        dataset = default_dataset(spark)
    else:
        drift = options.accept_layout_drift
        dataset = open_dataset(spark, options.uri, accept_layout_drift=drift)
    if dataset.drift:
        say(f"accepted: {dataset.uri} differs from its manifest: {dataset.drift}")
    if not options.skip_content_check:
        say(f"checking the {dataset.manifest.recipe.rows:,} rows of {dataset.uri}")
        verify_content(spark, dataset)
    return dataset


def default_dataset(spark: SparkSession) -> Dataset:
    """Return the default dataset in the user's cache; generate it if it is missing or incomplete.

    Raises BadInput if the cache cannot be written.
    """
    directory = cache_directory() / "datasets"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / ".lock").open("w")
    except OSError as error:
        raise BadInput(
            f"the default dataset cannot be written to {directory}: {error.strerror}; "
            "name a dataset with --dataset, or set XDG_CACHE_HOME"
        ) from error
    with lock:
        # Without the lock, two first runs at the same time would both generate the dataset.
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Path.as_uri() would encode special characters, and Hadoop does not decode them.
        return _open_or_generate(spark, f"file://{directory}/v{VERSION}-{DEFAULT_RECIPE.rows}-rows")


def _open_or_generate(spark: SparkSession, uri: str) -> Dataset:
    try:
        return open_dataset(spark, uri)
    except BadInput:
        say(f"generating {DEFAULT_RECIPE.rows:,} rows once, in {uri}")
    return write_dataset(spark, Request(uri, DEFAULT_RECIPE, Format.CSV, overwrite=True))
