"""What datagen/observe.py does: report as JSON how every file of a directory is stored.

`clusterlift layout URI` runs this script and shows its output as tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from datagen.dataset import (
    file_differences,
    is_data,
    locate_existing,
    observe_files,
    read_manifest,
)
from datagen.manifest import FILE_NAME
from datagen.spark import spark_errors_as_one_line, start_session
from harness.base.command_line import Parser
from harness.base.interrupt import interruptible
from harness.base.terminal import show
from harness.model.layout import layout_text
from harness.records.outputs import OutputKind, write_file

PROG = "observe.py"


def main() -> int:
    """Observe the directory, write the JSON, and return the exit code."""
    parser = Parser(PROG, "Report as JSON how the file system stores every file of a directory.")
    add = parser.add_argument
    add("uri", metavar="URI", help="a dataset, or any other directory with files")
    add("--output", type=Path, metavar="FILE", help="file to write; by default standard output")
    options = parser.parse_args()
    spark = start_session("clusterlift layout")
    with interruptible(), spark_errors_as_one_line("Spark failed"):
        text = json.dumps(observe(spark, options.uri), indent=1) + "\n"
    if options.output is None:
        show(text)
        return 0
    write_file(options.output, text.encode(), OutputKind("empty", lambda _: False))
    return 0


def observe(spark: SparkSession, uri: str) -> dict[str, Any]:
    """Return how the files of a directory are stored, and what is wrong with that.

    They are compared with the manifest or, without one, with each other. `problem` is None if nothing
    is wrong. `requested` and `manifest` are layouts, None if there is no manifest that names one.
    """
    directory, storage = locate_existing(spark, uri)
    entries = directory.entries()
    data = [entry for entry in entries.values() if is_data(entry)]
    files = {entry.name for entry in data if not entry.is_directory}
    stored = observe_files(storage, directory, files)
    requested = None
    expected = None
    problems = []
    if FILE_NAME in entries:
        manifest = read_manifest(directory)
        requested = manifest.requested_layout
        expected = manifest.observed_layout
        problems.append(file_differences(manifest, entries))
    problems.append(stored.problem(expected))
    problem = "; ".join(filter(None, problems)) or None
    why = ""
    if problem:
        why = storage.explain(expected or stored.layout, stored)
    return {
        "uri": directory.uri,
        "storage": storage.name,
        "requested": layout_text(requested),
        "manifest": layout_text(expected),
        "problem": problem,
        "why": why,
        "differing": stored.differing_files(expected),
        "directories": len(data) - len(files),
        **stored.as_facts(),
        "files": {
            name: {
                "layout": str(file.layout),
                "bytes": file.bytes,
                "missing": file.missing,
                "excess": file.excess,
                "placement": dict(file.placement),
            }
            for name, file in sorted(stored.files.items())
        },
    }
