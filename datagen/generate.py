"""`spark-submit datagen/generate.py URI`: writes a dataset and proves what was written."""

from __future__ import annotations

import sys
from pathlib import Path

# spark-submit put this script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import argparse
from contextlib import AbstractContextManager

from pyspark.sql import SparkSession

from datagen.dataset import Dataset
from datagen.layout import FORMS, Layout
from datagen.manifest import Format
from datagen.recipe import MAX_ROWS, MAX_SEED, Recipe
from datagen.replication_wait import PATIENCE_S, ReplicationWait
from datagen.spark.errors import spark_errors_as_one_line
from datagen.spark.session import start_session, tasks_done, wait_for_executors
from datagen.writer import Request, default_partitions, write_dataset
from harness.runtime.command_line import Parser, option_type, run_main, whole_number
from harness.runtime.interrupt import interruptible
from harness.runtime.progress import task_progress

PROG = "generate.py"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = Parser(
        PROG, "Write a dataset: the same seed and row number give the same row anywhere."
    )
    add = parser.add_argument
    add(
        "uri", metavar="URI", help="the directory to write, as Spark names it: a path or scheme://…"
    )
    add("--rows", type=whole_number(0, MAX_ROWS), default=10**6, metavar="N",
        help="rows, about 75 bytes of CSV each")  # fmt: skip
    add("--partitions", type=whole_number(1, 10**6), metavar="K",
        help="files to write; by default one a core and one each 128 MiB")  # fmt: skip
    add("--seed", type=whole_number(0, MAX_SEED), default=0, metavar="S",
        help="which rows: another seed, other rows")  # fmt: skip
    add("--format", type=Format, choices=list(Format), default=Format.CSV, help="the files' format")
    add("--layout", type=option_type(Layout.parse), metavar="L",
        help=f"how the file system is to store them: {FORMS}; by default as it likes")  # fmt: skip
    add("--overwrite", action="store_true", help="replace a dataset that lies there already")
    add(
        "--reuse",
        action="store_true",
        help="leave a dataset alone that lies there already, if it is the one asked for",
    )
    add("--patience", type=whole_number(0, 10**6), default=PATIENCE_S, metavar="S",
        help="seconds to wait for copies that are on their way while none arrives")  # fmt: skip
    return parser.parse_args(arguments)


def main() -> int:
    """Write the dataset and say what it is."""
    options = parse()
    spark = start_session("clusterlift generate")
    with interruptible(), spark_errors_as_one_line("Spark failed"):
        print(described(generate(spark, options)))
    return 0


def generate(spark: SparkSession, options: argparse.Namespace) -> Dataset:
    """Write what the options ask for, with progress."""

    def progress(tasks: int) -> AbstractContextManager[None]:
        return task_progress("generating", tasks, lambda: tasks_done(spark))

    wait_for_executors(spark)
    request = Request(
        uri=options.uri,
        recipe=Recipe(options.rows, options.seed),
        format=options.format,
        partitions=options.partitions or default_partitions(spark, options.rows),
        layout=options.layout,
        overwrite=options.overwrite,
        reuse=options.reuse,
    )
    return write_dataset(spark, request, progress, ReplicationWait(options.patience))


def described(dataset: Dataset) -> str:
    """What was written, in a line."""
    manifest = dataset.manifest
    return (
        f"{dataset.uri}: {manifest.recipe.rows:,} rows, {manifest.bytes:,} bytes of "
        f"{manifest.format} in {len(manifest.files):,} files, layout {manifest.observed_layout}, "
        f"digest {manifest.digest}"
    )


if __name__ == "__main__":
    run_main(PROG, main)
