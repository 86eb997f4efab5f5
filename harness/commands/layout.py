"""`clusterlift layout`: how files really lie."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import click

from harness.local_spark import spark_submit
from harness.present import layout


@click.command("layout")
@click.argument("uri", metavar="URI")
@click.option(
    "--properties-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Properties for spark-submit; QFS needs some.  [default: Spark's own]",
)
def layout_command(uri: str, properties_file: str | None) -> int:
    """Say how every file at URI really lies, on which nodes, and in how many bytes.

    Needs Spark. The exit code is 1 if a file is not as the dataset's manifest says, or lacks a part;
    without a manifest, if the files differ among themselves.
    """
    properties = ["--properties-file", properties_file] if properties_file else []
    options = ["--master", "local[1]", *properties]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "observed.json"
        spark_submit("datagen/observe.py", uri, "--output", str(file), options=options)
        observed = json.loads(file.read_text())
    click.echo(layout.render(observed), nl=False)
    return int(bool(observed["problem"] or observed["invalid"]))
