"""Write a dataset and compute its totals and digest in the same pass, then prove how it is stored.

CSV is written as lines of text that are composed by Spark's expressions: Spark's CSV writer would
take as much time as computing the rows.
"""

from __future__ import annotations  # for Python 3.8

import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame, DataFrameWriter, Observation, SparkSession
from pyspark.sql import functions as F

from datagen import recipe as recipes
from datagen.dataset import (
    Dataset,
    data_files,
    digest_text,
    fingerprint,
    in_brackets,
    observe_files,
    open_dataset,
)
from datagen.filesystem import Directory
from datagen.manifest import DEFAULT_FORMAT, FILE_NAME, Format, Manifest
from datagen.marker import DRAFT, PART, check_replaceable, generating, own_names
from datagen.observed_layout import StoredFiles
from datagen.recipe import Recipe, Totals
from datagen.rows import DIGESTS, OBSERVED, OBSERVED_COLUMNS, row_frame, totals_from
from datagen.spark import (
    cancel_jobs_on_error,
    completed_tasks,
    spark_errors_as_one_line,
    tasks_have_ended,
)
from datagen.storage import Storage, locate
from harness import __version__
from harness.base.clock import Clock, duration_text
from harness.base.errors import BadInput, ClusterliftError
from harness.base.terminal import say
from harness.model.layout import Layout
from harness.model.run import timestamp
from harness.trials.progress import task_progress

PAYLOADS = {
    Format.CSV: [f"{recipes.CSV_LINE} as line"],
    Format.PARQUET: list(recipes.COLUMNS),
}
"""The columns that are written to the files."""

SPLIT_BYTES = 128 * 2**20
PATIENCE_S = 60
OBSERVE_S = 1.0


@dataclass(frozen=True)
class Request:
    """What to write, and where.

    A `layout` of None leaves the choice to the file system; `partitions` None lets the number of cores
    and the size of the data decide; `format` None is DEFAULT_FORMAT, but any will do in a dataset that is
    kept. `overwrite` replaces an existing dataset. `reuse` keeps an existing dataset that meets the request,
    and replaces one that was never finished. Copies that the file system is still creating or deleting are
    waited for until nothing has improved for `patience_s` seconds.
    """

    uri: str
    recipe: Recipe
    format: Format | None = None
    partitions: int | None = None
    layout: Layout | None = None
    overwrite: bool = False
    reuse: bool = False
    patience_s: float = PATIENCE_S

    @property
    def file_format(self) -> Format:
        """The format of new files."""
        return self.format or DEFAULT_FORMAT

    def difference(self, manifest: Manifest) -> str | None:
        """Return how a dataset differs from the request, in any number of files; None if it does not."""
        if manifest.recipe != self.recipe:
            return f"of {manifest.recipe.rows:,} rows with the seed {manifest.recipe.seed}"
        if self.format not in {None, manifest.format}:
            return f"in {manifest.format}"
        if self.layout and not self.layout.is_met_by(manifest.observed_layout):
            return f"in the layout {manifest.observed_layout}"
        return None


def wait_for_copies(
    observe: Callable[[], StoredFiles],
    layout: Layout | None,
    patience_s: float,
    clock: Clock = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> StoredFiles:
    """Observe until no copy or stripe is missing or in excess, or until the patience is over.

    Return the last observation. Files with another layout than `layout` are not waited for.
    """
    fewest = math.inf
    shown = None
    improved_at = clock()
    while True:
        stored = observe()
        wrong = stored.missing + stored.excess
        if wrong < fewest:
            fewest = wrong
            improved_at = clock()
        left_s = improved_at + patience_s - clock()
        if not wrong or layout not in (None, stored.layout) or left_s <= 0:
            return stored
        if wrong != shown:
            say(
                f"waiting until the file system has created {stored.missing:,} copies or stripes and "
                f"deleted {stored.excess:,}; giving up in {duration_text(left_s)} without progress"
            )
        shown = wrong
        sleep(OBSERVE_S)


def _default_partitions(spark: SparkSession, rows: int) -> int:
    """Return one partition per core, or one per 128 MiB of CSV if that is more: Spark splits files there.

    Both formats have the same number: with Parquet, which is smaller, each file is one row group.
    """
    by_size = math.ceil(rows * recipes.CSV_BYTES_PER_ROW / SPLIT_BYTES)
    return max(spark.sparkContext.defaultParallelism, by_size)


def write_dataset(spark: SparkSession, request: Request) -> Dataset:
    """Write the dataset into its directory and prove it. The manifest is written last.

    Raises BadInput, before anything is changed, if what is there may not be replaced, or if the file
    system cannot store the layout; ClusterliftError if writing fails or the files are not stored as
    requested. Then nothing is left of the dataset, nor of one that it replaces.
    """
    directory, storage = locate(spark, request.uri)
    if request.reuse and directory.has(FILE_NAME):
        existing = open_dataset(spark, request.uri)
        if _is_kept(existing, request):
            return existing
    unfinished = check_replaceable(directory, overwrite=request.overwrite, reuse=request.reuse)
    layout = storage.check_request(directory, request.layout)
    partitions = request.partitions or _default_partitions(spark, request.recipe.rows)
    writing = generating(
        directory, taken_over=unfinished, writing_has_ended=lambda: tasks_have_ended(spark)
    )
    with writing as marker, cancel_jobs_on_error(spark):
        properties = {**own_names(marker.token), **storage.prepare(directory, layout)}
        progress = task_progress("generating", partitions, lambda: completed_tasks(spark))
        with progress, spark_errors_as_one_line(f"{directory.uri} cannot be written"):
            rows = row_frame(spark, request.recipe, partitions)
            totals, digests = _write_rows(rows, request, directory.uri, properties)
        files = data_files(directory.entries())
        _check_written(directory.uri, files, min(partitions, request.recipe.rows), partitions)
        draft = Manifest(
            recipe=request.recipe,
            format=request.file_format,
            partitions=partitions,
            files=files,
            totals=totals,
            **digests,
            requested_layout=layout,
            observed_layout=None,
            written_by=f"clusterlift {__version__}",
            written_at=timestamp(),
        )
        marker.check()
        # From now on, the names of the files are known, whatever happens to this process.
        directory.create_file(DRAFT, draft.to_json(), overwrite=True)
        stored = prove_layout(storage, directory, files, layout, request.patience_s)
        manifest = replace(draft, observed_layout=stored.layout)
        marker.check()
        directory.write(FILE_NAME, manifest.to_json())
    found = fingerprint(manifest, directory.entries())
    return Dataset(directory, manifest, stored, fingerprint=found)


def _is_kept(dataset: Dataset, request: Request) -> bool:
    """Return whether a dataset meets the request. Raise BadInput if not, and it may not be replaced."""
    difference = request.difference(dataset.manifest)
    format_ = dataset.manifest.format
    if difference and not request.overwrite:
        raise BadInput(
            f"{dataset.uri} is a dataset already, {difference}: name another directory; "
            "--overwrite replaces it"
        )
    if not difference and format_ != request.file_format:
        say(f"{dataset.uri} is kept in {format_}; for {DEFAULT_FORMAT}, name another directory")
    return not difference


def prove_layout(
    storage: Storage,
    directory: Directory,
    files: Collection[str],
    layout: Layout | None,
    patience_s: float = PATIENCE_S,
) -> StoredFiles:
    """Return how new files are stored, after requesting what could not be requested before.

    Copies that the file system still creates or deletes are waited for. Raises ClusterliftError unless the
    files are stored in the layout, or all alike if that is None.
    """
    storage.finish(directory, sorted(files), layout)
    stored = wait_for_copies(lambda: observe_files(storage, directory, files), layout, patience_s)
    problem = stored.problem(layout)
    if problem:
        requested = "no layout was requested"
        if layout:
            requested = f"layout {layout} was requested"
        raise ClusterliftError(
            f"what was written to {directory.uri} is not accepted: {requested}, but {problem}"
            f"{in_brackets(storage.explain(layout, stored))}"
        )
    return stored


def _check_written(uri: str, files: Mapping[str, int], min_files: int, max_files: int) -> None:
    """Raise an error unless the driver sees all files of one Spark job, and no others.

    Spark writes a file for each partition that has rows, and always one for the first partition.
    """
    if len(files) < min_files:
        raise BadInput(
            f"{uri}: {min_files} files were written, but the driver sees {len(files)}: the executors "
            "wrote to other disks; choose a directory that all nodes share"
        )
    jobs: set[str | None] = set()
    for name in files:
        job = None
        part = PART.fullmatch(name)
        if part:
            job = part["job"]
        jobs.add(job)
    if len(files) > max_files or len(jobs) > 1:
        raise ClusterliftError(
            f"{uri}: another process wrote there, too; when that has finished, repeat the command"
        )


def _write_rows(
    rows: DataFrame, request: Request, uri: str, properties: Mapping[str, str]
) -> tuple[Totals, Mapping[str, str]]:
    """Write the files, and return the totals and the digests by their names in a manifest."""
    payload = PAYLOADS[request.file_format]
    if request.recipe.rows == 0:
        _save(rows.selectExpr(*payload), request.file_format, uri, properties)
        return Totals(0, 0, 0, {}), dict.fromkeys(DIGESTS, digest_text(None))
    observation = Observation()
    columns = [f"{expression} as {name}" for name, expression in OBSERVED_COLUMNS.items()]
    aggregates = [F.expr(expression).alias(name) for name, expression in OBSERVED.items()]
    frame = rows.selectExpr(*payload, *columns).observe(observation, *aggregates)
    _save(frame.drop(*OBSERVED_COLUMNS), request.file_format, uri, properties)
    observed = observation.get
    digests = {name: digest_text(observed[name]) for name in DIGESTS}
    return totals_from(observed), digests


def _save(payload: DataFrame, format_: Format, uri: str, properties: Mapping[str, str]) -> None:
    """Write one file per partition, whatever the session's configuration is."""
    if format_ is Format.CSV:
        # The low 33 bits are the row's number within its partition, and each partition is a file.
        first = "(monotonically_increasing_id() & 8589934591L) = 0"
        payload = payload.selectExpr(
            f"if({first}, concat('{recipes.CSV_HEADER}\\n', line), line) as line"
        )
    writer = appending_writer(payload, format_, properties)
    if format_ is Format.PARQUET:
        writer.parquet(uri)
    else:
        writer.text(uri)


def appending_writer(
    frame: DataFrame, format_: Format, properties: Mapping[str, str]
) -> DataFrameWriter:
    """Return a writer of a frame; it adds one file for each partition to the directory that it saves to.

    Spark adds the options of a writer to the Hadoop configuration of its tasks.
    """
    writer = frame.write.mode("append").option("maxRecordsPerFile", 0).options(**properties)
    if format_ is Format.PARQUET:
        writer.option("compression", "snappy")
    return writer
