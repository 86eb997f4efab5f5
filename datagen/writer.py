"""Writes a dataset in one pass: the rows, and what is to be known of them, as they go by.

CSV is written as lines of text that Spark's expressions put together: Spark's CSV writer would take
as long again as making the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from pyspark.sql import DataFrame, DataFrameWriter, Observation, SparkSession
from pyspark.sql import functions as F

from datagen import recipe as recipes
from datagen.dataset import (
    INVALID,
    Dataset,
    data_files,
    digest_text,
    observed,
    open_dataset,
    reason,
)
from datagen.layout import Layout
from datagen.manifest import FILE_NAME, Format, Manifest
from datagen.observed_layout import StoredFiles
from datagen.recipe import Recipe, Totals
from datagen.replication_wait import ReplicationWait
from datagen.rows import OBSERVED, OBSERVED_COLUMNS, row_frame, totals_from
from datagen.spark.errors import spark_errors_as_one_line
from datagen.storage import Storage, locate
from datagen.write_lock import WriteLock, check_claimable, lock_directory
from harness import __version__
from harness.model.errors import BadInput, ClusterliftError
from harness.model.run import timestamp

PAYLOADS = {
    Format.CSV: [f"{recipes.CSV_LINE} as line"],
    Format.PARQUET: list(recipes.COLUMNS),
}
"""What goes into the files."""

SPLIT_BYTES = 128 * 2**20

Progress = Callable[[int], AbstractContextManager[object]]
"""Shows how far the job of so many tasks is, while it is entered."""


@dataclass(frozen=True)
class Request:
    """What to write; `layout` None asks for the file system's default.

    `overwrite` replaces a dataset; `reuse` keeps one that is what this asks for, and replaces one
    that was never finished.
    """

    uri: str
    recipe: Recipe
    format: Format
    partitions: int
    layout: Layout | None = None
    overwrite: bool = False
    reuse: bool = False

    def is_met_by(self, manifest: Manifest) -> bool:
        """Whether a dataset is the one asked for; how many files it has does not matter."""
        wanted = (self.recipe, self.format)
        if (manifest.recipe, manifest.format) != wanted:
            return False
        return self.layout is None or self.layout.is_met_by(manifest.observed_layout)


def default_partitions(spark: SparkSession, rows: int) -> int:
    """A partition for each core, and for each 128 MiB, as Spark would split the files again."""
    by_size = -(-rows * recipes.CSV_BYTES_PER_ROW // SPLIT_BYTES)
    return max(spark.sparkContext.defaultParallelism, by_size)


def write_dataset(
    spark: SparkSession,
    request: Request,
    progress: Progress = lambda _tasks: nullcontext(),
    replication_wait: ReplicationWait | None = None,
) -> Dataset:
    """Write the dataset; its manifest, the last file, is what makes it whole.

    Raises BadInput, before anything is touched, if something else lies there or the file system
    cannot store the layout; and ClusterliftError if what was written cannot be vouched for, in which
    case there is no manifest.
    """
    directory, storage = locate(spark, request.uri)
    if request.reuse and directory.exists() and FILE_NAME in directory.entries():
        dataset = open_dataset(spark, request.uri)
        if request.is_met_by(dataset.manifest):
            return dataset
    replacing = {"overwrite": request.overwrite, "replace_half_written": request.reuse}
    check_claimable(directory, **replacing)
    requested = storage.check_request(directory, request.layout)
    held = lock_directory(directory, **replacing)
    properties = storage.prepare(directory, requested)
    lost = ", and what lay there before is gone" if held.replaced else ""
    with (
        progress(request.partitions),
        spark_errors_as_one_line(f"{directory.uri} could not be written{lost}"),
    ):
        totals, digest = _write_rows(spark, request, directory.uri, properties)
    held.check()
    files = data_files(directory.entries())
    _check_written(directory.uri, request, files)
    storage.finish(directory, sorted(files), requested)
    stored = (replication_wait or ReplicationWait()).wait(
        lambda: observed(storage, directory, files), requested
    )
    held.check()
    _check_layout(held, storage, requested, stored)
    manifest = Manifest(
        recipe=request.recipe,
        format=request.format,
        partitions=request.partitions,
        files=files,
        digest=digest,
        totals=totals,
        requested_layout=requested,
        observed_layout=stored.layout,
        written_by=f"clusterlift {__version__}",
        written_at=timestamp(),
    )
    directory.write(FILE_NAME, manifest.to_json())
    held.release()
    return Dataset(directory, manifest, stored)


def _check_layout(
    held: WriteLock, storage: Storage, requested: Layout | None, stored: StoredFiles
) -> None:
    """Raise ClusterliftError, and leave the dataset marked, unless every file lies as asked for."""
    problem = stored.problem(requested)
    if not problem:
        return
    asked = f"layout {requested} was asked for" if requested else "no layout was asked for"
    problem = f"{asked}, and {problem}{reason(storage.why(requested, stored))}"
    held.directory.write(INVALID, problem)
    held.release()
    raise ClusterliftError(f"{held.directory.uri} is not valid: {problem}")


def _check_written(uri: str, request: Request, files: Mapping[str, int]) -> None:
    """Raise unless the files to be seen are those of one Spark job, and all of them."""
    # Spark writes a file for each partition that has rows, and for the first in any case.
    least, most = min(request.partitions, request.recipe.rows), request.partitions
    if len(files) < least:
        raise BadInput(
            f"{uri}: {least} files were written and {len(files)} are to be seen from the driver; "
            "the executors' disks are not this one: choose a directory that all nodes share"
        )
    jobs = {re.sub(r"part-\d+-(.{36}).*", r"\1", name) for name in files}
    if len(files) > most or len(jobs) > 1:
        raise ClusterliftError(f"{uri}: another generation wrote here at the same time; repeat")


def _write_rows(
    spark: SparkSession, request: Request, uri: str, properties: Mapping[str, str]
) -> tuple[Totals, str]:
    rows = row_frame(spark, request.recipe, request.partitions)
    payload = PAYLOADS[request.format]
    if request.recipe.rows == 0:
        _save(rows.selectExpr(*payload), request.format, uri, properties)
        return Totals(0, 0, 0, {}), digest_text(None)
    observation = Observation()
    columns = [f"{expression} as {name}" for name, expression in OBSERVED_COLUMNS.items()]
    aggregates = [F.expr(expression).alias(name) for name, expression in OBSERVED.items()]
    observed = rows.selectExpr(*payload, *columns).observe(observation, *aggregates)
    _save(observed.drop(*OBSERVED_COLUMNS), request.format, uri, properties)
    seen = observation.get
    return totals_from(seen), digest_text(seen["digest"])


def _save(payload: DataFrame, format_: Format, uri: str, properties: Mapping[str, str]) -> None:
    if format_ is Format.PARQUET:
        _plain(payload.write, properties).parquet(uri)
        return
    # The low 33 bits number the rows of a partition, which is a file.
    first = "(monotonically_increasing_id() & 8589934591L) = 0"
    lines = payload.selectExpr(
        f"if({first}, concat('{recipes.CSV_HEADER}\\n', line), line) as line"
    )
    _plain(lines.write, properties).text(uri)


def _plain(writer: DataFrameWriter, properties: Mapping[str, str]) -> DataFrameWriter:
    """One file a partition, whatever the cluster's configuration; beside the marker, not over it."""
    # Spark hands a writer's options on to the tasks' Hadoop configuration.
    return writer.mode("append").option("maxRecordsPerFile", 0).options(**properties)
