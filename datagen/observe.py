"""`spark-submit datagen/observe.py URI`: how every file of a directory really lies, as JSON.

`clusterlift layout URI` runs this and makes tables of it.
"""

from __future__ import annotations

import sys
from pathlib import Path

# spark-submit put this script's own directory first; our packages are one level above it.
sys.path[0] = str(Path(__file__).resolve().parents[1])

import argparse
import json
from typing import Any

from pyspark.sql import SparkSession

from datagen.dataset import INVALID, is_data, file_differences
from datagen.dataset import observed as held
from datagen.manifest import FILE_NAME, Manifest
from datagen.spark.errors import spark_errors_as_one_line
from datagen.spark.filesystem import Directory
from datagen.spark.session import start_session
from datagen.storage import locate
from harness.model.errors import BadInput
from harness.runtime.command_line import Parser, guarded
from harness.runtime.interrupt import interruptible

PROG = "observe.py"


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = Parser(PROG, "Say how every file of a directory really lies, as JSON.")
    add = parser.add_argument
    add("uri", metavar="URI", help="a dataset, or any other directory with files")
    add("--output", type=Path, metavar="FILE", help="where to write; by default standard output")
    return parser.parse_args(arguments)


def main() -> int:
    """Observe and write what was observed."""
    options = parse()
    spark = start_session("clusterlift layout")
    with interruptible(), spark_errors_as_one_line("Spark failed"):
        text = json.dumps(observed(spark, options.uri), indent=1) + "\n"
    if options.output is None:
        print(text, end="")
        return 0
    try:
        options.output.write_text(text)
    except OSError as error:
        raise BadInput(f"--output {options.output}: {error.strerror}") from error
    return 0


def observed(spark: SparkSession, uri: str) -> dict[str, Any]:
    """The files, and what is wrong with them: held against the manifest, or against each other.

    `problem` is None where all is as it should be; `requested` and `manifest` are layouts, None where
    nothing says.
    """
    directory, storage = locate(spark, uri)
    if not directory.exists():
        raise BadInput(f"{directory.uri} does not exist")
    entries = directory.entries()
    manifest = _manifest(directory) if FILE_NAME in entries else None
    names = {entry.name for entry in entries.values() if is_data(entry) and not entry.is_directory}
    stored = held(storage, directory, names)
    expected = manifest.observed_layout if manifest else None
    other = file_differences(manifest, entries) if manifest else None
    problem = "; ".join(filter(None, [other, stored.problem(expected)])) or None
    return {
        "uri": directory.uri,
        "storage": storage.name,
        "requested": _text(manifest and manifest.requested_layout),
        "manifest": _text(expected),
        "invalid": directory.read(INVALID) if INVALID in entries else None,
        "problem": problem,
        "why": storage.why(expected or stored.layout, stored) if problem else "",
        "differing": stored.differing_files(expected),
        "directories": sum(e.is_directory and is_data(e) for e in entries.values()),
        **stored.as_facts(),
        "files": {
            name: {
                "layout": str(file.layout),
                "bytes": file.bytes,
                "lacking": file.missing,
                "surplus": file.excess,
                "placement": dict(file.placement),
            }
            for name, file in sorted(stored.files.items())
        },
    }


def _manifest(directory: Directory) -> Manifest:
    try:
        return Manifest.from_json(directory.read(FILE_NAME))
    except ValueError as error:
        raise BadInput(f"{directory.uri}/{FILE_NAME}: {error}") from error


def _text(layout: object) -> str | None:
    return None if layout is None else str(layout)


if __name__ == "__main__":
    guarded(PROG, main)
