"""`clusterlift show`: one run."""

from pathlib import Path

import click

from harness.commands.command import command
from harness.commands.options import results_option
from harness.present import run
from harness.records.lookup import find_run
from harness.terminal import show


@command("show")
@click.argument("name", metavar="RUN")
@results_option
def show_command(name: str, results: Path) -> None:
    """Show one run: its environment, its trials and a summary.

    RUN is a results file. For the name of a configuration under --results or a directory of results
    files, the command shows the newest run.
    """
    show(run.render(find_run(name, results)))
