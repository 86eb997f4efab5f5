"""Writes a dataset in one pass: the rows, and what is to be known of them, as they go by.

CSV is written as lines of text that Spark's expressions put together: Spark's CSV writer would take
as long again as making the rows.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, DataFrameWriter, Observation, SparkSession
from pyspark.sql import functions as F

from datagen import recipe as recipes
from datagen.dataset import GENERATING, ROW_HASH, Dataset, data_files, digest_text, open_dataset
from datagen.filesystem import Directory
from datagen.layout import Layout
from datagen.manifest import FILE_NAME, Format, Manifest
from datagen.recipe import Recipe, Totals
from datagen.storage import locate
from harness import __version__
from harness.errors import BadInput
from harness.record.store import timestamp

OURS = re.compile(
    rf"{re.escape(FILE_NAME)}|{GENERATING}|_unborn\..*|_SUCCESS|_temporary|part-.*|\..*\.crc"
)
"""The files that a generation leaves in a dataset's directory; nothing else is ever deleted."""

PAYLOADS = {
    Format.CSV: [f"{recipes.CSV_LINE} as line"],
    Format.PARQUET: list(recipes.COLUMNS),
}
"""What goes into the files."""

# What is observed beside it is computed before, in the same generated code as the payload.
OBSERVED_COLUMNS = (
    "integer_val as _integer",
    "fraction as _fraction",
    f"{ROW_HASH} as _hash",
    "cast(crc32(cast(prefix2 as binary)) as double) as _prefix",
)
OBSERVED = {
    "rows": "count(*)",
    "integer_sum": "sum(_integer)",
    "fraction_sum": "sum(_fraction)",
    "digest": "try_sum(_hash)",
    # There are 256 prefixes, and as many bins never merge two of them: the counts are exact.
    "prefixes": "to_json(histogram_numeric(_prefix, 256))",
}
PREFIX_OF_CRC = {zlib.crc32(prefix.encode()): prefix for prefix in map("{:02x}".format, range(256))}
"""A histogram is over numbers; of all ways to make one of a prefix, CRC-32 is Spark's fastest."""

SPLIT_BYTES = 128 * 2**20

Progress = Callable[[int], AbstractContextManager[object]]
"""Shows how far the job of so many tasks is, while it is entered."""


@dataclass(frozen=True)
class Request:
    """What to write; `layout` None asks for the file system's default.

    `overwrite` replaces a dataset, `reuse` keeps one that is what this asks for.
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
        layouts = (None, manifest.requested_layout)
        return (manifest.recipe, manifest.format) == wanted and self.layout in layouts


def default_partitions(spark: SparkSession, rows: int) -> int:
    """A partition for each core, and for each 128 MiB, as Spark would split the files again."""
    by_size = -(-rows * recipes.CSV_BYTES_PER_ROW // SPLIT_BYTES)
    return max(spark.sparkContext.defaultParallelism, by_size)


def write_dataset(
    spark: SparkSession, request: Request, progress: Progress = lambda _tasks: nullcontext()
) -> Dataset:
    """Write the dataset; its manifest, the last file, is what makes it whole.

    Raises BadInput, before anything is touched, if something else lies there; and ClusterliftError
    if what was written cannot be vouched for, in which case there is no manifest.
    """
    directory, storage = locate(spark, request.uri)
    requested = storage.check_request(directory, request.layout)
    if request.reuse and directory.exists() and FILE_NAME in directory.entries():
        dataset = open_dataset(spark, request.uri)
        if request.is_met_by(dataset.manifest):
            return dataset
    _clear(directory, overwrite=request.overwrite)
    with progress(request.partitions):
        totals, digest = _write_rows(spark, request, directory.uri)
    files = data_files(directory.entries())
    least = min(request.partitions, request.recipe.rows)
    if len(files) < least:
        raise BadInput(
            f"{directory.uri}: {least} files were written and {len(files)} are to be seen from the "
            "driver; the executors' disks are not this one: choose a directory that all nodes share"
        )
    manifest = Manifest(
        recipe=request.recipe,
        format=request.format,
        partitions=request.partitions,
        files=files,
        digest=digest,
        totals=totals,
        requested_layout=requested,
        observed_layout=storage.observe(directory),
        written_by=f"clusterlift {__version__}",
        written_at=timestamp(),
    )
    directory.write(FILE_NAME, manifest.to_json())
    directory.delete(GENERATING)
    return Dataset(directory, manifest)


def _clear(directory: Directory, *, overwrite: bool) -> None:
    """Make the directory ours and empty but for the marker, or raise BadInput and touch nothing."""
    entries = directory.entries() if directory.exists() else {}
    if entries:
        if FILE_NAME not in entries and GENERATING not in entries:
            raise BadInput(
                f"{directory.uri} holds files that are no dataset (first: {min(entries)}); "
                "choose another place"
            )
        if foreign := sorted(name for name in entries if not OURS.fullmatch(name)):
            raise BadInput(
                f"{directory.uri} holds files that are no part of the dataset (first: {foreign[0]}); "
                "move them away"
            )
        if not overwrite:
            state = "is a dataset already" if FILE_NAME in entries else "is a half-written dataset"
            raise BadInput(f"{directory.uri} {state}; --overwrite replaces it")
    directory.create()
    directory.write(GENERATING, f"clusterlift {__version__} {timestamp()}\n")
    # The manifest goes first: from here on, nothing takes what is left for a dataset.
    for name in sorted(entries, key=lambda name: name != FILE_NAME):
        if name != GENERATING:
            directory.delete(name)


def _write_rows(spark: SparkSession, request: Request, uri: str) -> tuple[Totals, str]:
    rows = row_frame(spark, request.recipe, request.partitions)
    payload = PAYLOADS[request.format]
    if request.recipe.rows == 0:
        _save(rows.selectExpr(*payload), request.format, uri)
        return Totals(0, 0, 0, {}), digest_text(None)
    observation = Observation()
    observed = rows.selectExpr(*payload, *OBSERVED_COLUMNS).observe(
        observation, *(F.expr(expression).alias(name) for name, expression in OBSERVED.items())
    )
    _save(observed.drop("_integer", "_fraction", "_hash", "_prefix"), request.format, uri)
    seen = observation.get
    return totals_from(seen), digest_text(seen["digest"])


def row_frame(spark: SparkSession, recipe: Recipe, partitions: int) -> DataFrame:
    """The recipe's rows as a lazy DataFrame: its six columns and `fraction`."""
    return (
        spark.range(0, recipe.rows, 1, partitions)
        .selectExpr(*recipes.base_expressions(recipe))
        .selectExpr(*recipes.column_expressions())
    )


def totals_from(seen: Mapping[str, Any]) -> Totals:
    """The totals that were observed while the rows went by."""
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


def _save(payload: DataFrame, format_: Format, uri: str) -> None:
    if format_ is Format.PARQUET:
        _plain(payload.write).parquet(uri)
        return
    # The low 33 bits number the rows of a partition, which is a file.
    first = "(monotonically_increasing_id() & 8589934591L) = 0"
    lines = payload.selectExpr(
        f"if({first}, concat('{recipes.CSV_HEADER}\\n', line), line) as line"
    )
    _plain(lines.write).text(uri)


def _plain(writer: DataFrameWriter) -> DataFrameWriter:
    """One file a partition, whatever the cluster's configuration; beside the marker, not over it."""
    return writer.mode("append").option("maxRecordsPerFile", 0)
