"""What datagen/generate.py does: write a dataset and prove how it is stored."""

from __future__ import annotations

from datagen.dataset import Dataset
from datagen.executor_pods import pods_explained
from datagen.manifest import DEFAULT_FORMAT, Format
from datagen.missing_executors import missing_executors_explained
from datagen.recipe import MAX_SEED, Recipe
from datagen.spark import spark_errors_as_one_line, start_session, wait_for_executors
from datagen.writer import PATIENCE_S, Request, write_dataset
from harness.base.command_line import Parser
from harness.base.interrupt import interruptible
from harness.base.option_values import whole_number
from harness.base.terminal import show
from harness.base.words import visible
from harness.model.layout import FORMS, Layout
from harness.model.limits import MAX_ROWS

PROG = "generate.py"


def main() -> int:
    """Write the dataset, print one line about it, and return the exit code."""
    request = parse()
    spark = start_session("clusterlift generate")
    with interruptible(), spark_errors_as_one_line("Spark failed"):
        with pods_explained(spark):
            wait_for_executors(spark)
        with missing_executors_explained(spark):
            dataset = write_dataset(spark, request)
    show(visible(summary(dataset)))
    return 0


def parse(arguments: list[str] | None = None) -> Request:
    """Return what to write, from the command line.

    Exit with code 2, and one line on the reason, if it is wrong.
    """
    parser = Parser(
        PROG,
        "Write a dataset and prove how the file system stores it. "
        "The same seed and row number give the same row everywhere.",
    )
    add = parser.add_argument
    add("uri", metavar="URI", help="directory to write: a path, or scheme://host:port/path")
    add("--rows", type=whole_number(0, MAX_ROWS), default=10**6, metavar="N",
        help="number of rows; a row takes about 61 bytes of Parquet, or 75 of CSV")  # fmt: skip
    add("--partitions", type=whole_number(1, 10**6), metavar="N",
        help="number of files; by default one per core, or one per 128 MiB if that is more")  # fmt: skip
    add("--seed", type=whole_number(0, MAX_SEED), default=0, metavar="N",
        help="seed of the rows: another seed gives other rows")  # fmt: skip
    add("--format", type=Format, choices=list(Format),
        help=f"file format (default: {DEFAULT_FORMAT}; with --reuse, any that is there)")  # fmt: skip
    add("--layout", type=Layout.parse, metavar="LAYOUT",
        help=f"layout in which the file system must store the files: {FORMS}; "
        "by default the file system chooses")  # fmt: skip
    add("--overwrite", action="store_true", help="replace an existing dataset")
    add("--reuse", action="store_true",
        help="keep an existing dataset if it has the requested rows, format and layout")  # fmt: skip
    add("--patience", type=whole_number(0, 10**6), default=PATIENCE_S, metavar="SECONDS",
        help="how long to wait, without progress, for copies that the file system is still "
        "creating or deleting")  # fmt: skip
    options = parser.parse_args(arguments)
    return Request(
        uri=options.uri,
        recipe=Recipe(options.rows, options.seed),
        format=options.format,
        partitions=options.partitions,
        layout=options.layout,
        overwrite=options.overwrite,
        reuse=options.reuse,
        patience_s=options.patience,
    )


def summary(dataset: Dataset) -> str:
    """Return one line about what was written."""
    manifest = dataset.manifest
    return (
        f"{dataset.uri}: {manifest.recipe.rows:,} rows, {manifest.bytes:,} bytes of "
        f"{manifest.format} in {len(manifest.files):,} files, layout {manifest.observed_layout}, "
        f"digest {manifest.digest}"
    )
