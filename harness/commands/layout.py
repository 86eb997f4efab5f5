"""`clusterlift layout`: how a file system stores the files of a directory."""

import json
import tempfile
from pathlib import Path

import click

from harness.base.terminal import show
from harness.commands.command import command
from harness.present import text
from harness.present.layout_page import layout_page
from harness.submit.script import run_script_silently


@command("layout")
@click.argument("uri", metavar="URI")
@click.option(
    "--properties-file",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help="Properties file for spark-submit; QFS and S3 need one.  [default: Spark's own]",
)
def layout_command(uri: str, properties_file: str | None) -> int:
    """Show how the files in a directory are stored: layout, nodes, bytes.

    URI is a dataset or any other directory of files. The command needs Spark. The exit code is 1 if a
    file is incomplete or differs from the dataset's manifest, or, without a manifest, if the files'
    layouts differ.
    """
    options = ["--master", "local[1]"]
    if properties_file:
        options += ["--properties-file", properties_file]
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "observed.json"
        run_script_silently("datagen/observe.py", uri, "--output", str(file), options=options)
        observed = json.loads(file.read_text())
    show(text.render(layout_page(observed)))
    return int(bool(observed["problem"]))
