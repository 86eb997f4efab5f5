"""The dataset of a run, proven to be what its manifest says."""

from __future__ import annotations

import os
import time
from dataclasses import replace

from pyspark.sql import SparkSession

from datagen.dataset import Dataset, open_dataset, verify_content
from datagen.manifest import DEFAULT_FORMAT
from datagen.recipe import VERSION, Recipe
from datagen.writer import Request, write_dataset
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.records.directories import cache_directory, locked
from harness.work.script_options import BenchmarkOptions
from harness.work.series import PROVEN
from jobs.options import requested_dataset

DEFAULT_RECIPE = Recipe(rows=300_000)


def proven_dataset(spark: SparkSession, options: BenchmarkOptions) -> Dataset:
    """Return the dataset after comparing its files and, unless skipped, its content with its manifest.

    It is generated first if the options say so, and it is not there. The content is not read again if an
    earlier run of the series did, and no file was changed since. Raises BadInput if they differ.
    """
    started = time.monotonic()
    request = requested_dataset(options)
    if request is not None:
        dataset = write_dataset(spark, request)
    elif options.dataset is None:
        dataset = _default_dataset(spark)
    else:
        drift = options.accept_layout_drift
        dataset = open_dataset(spark, options.dataset, accept_layout_drift=drift)
    if dataset.drift:
        say(f"accepted: {dataset.uri} differs from its manifest: {dataset.drift}")
    if dataset.fingerprint in os.environ.get(PROVEN, "").split():
        return dataset
    if not options.skip_content_check:
        say(f"checking the {dataset.manifest.recipe.rows:,} rows of {dataset.uri}")
        verify_content(spark, dataset)
    return replace(dataset, first_use_s=time.monotonic() - started)


def _default_dataset(spark: SparkSession) -> Dataset:
    """Return the default dataset in the user's cache; generate it if it is missing or incomplete.

    Raises BadInput if the cache cannot be written.
    """
    directory = cache_directory() / "datasets"
    advice = "name a dataset with --dataset, or set XDG_CACHE_HOME"
    # Without the lock, two first runs at the same time would both generate the dataset.
    with locked(directory / ".lock", "the default dataset", advice=advice):
        # Path.as_uri() would encode special characters, and Hadoop does not decode them.
        uri = f"file://{directory}/v{VERSION}-{DEFAULT_RECIPE.rows}-rows-{DEFAULT_FORMAT}"
        try:
            return open_dataset(spark, uri)
        except BadInput:
            say(f"generating {DEFAULT_RECIPE.rows:,} rows once, in {uri}")
        return write_dataset(spark, Request(uri, DEFAULT_RECIPE, overwrite=True))
