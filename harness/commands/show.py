"""`clusterlift show`: one run."""

from __future__ import annotations

from pathlib import Path

import click

from harness.commands.options import results_option
from harness.present import run
from harness.records.lookup import find_run


@click.command("show")
@click.argument("name", metavar="RUN")
@results_option
def show_command(name: str, results: Path) -> None:
    """Show one run: its circumstances, trials, summary.

    RUN is a results file; or a directory of them or the name of a configuration under --results,
    which stand for their newest run.
    """
    click.echo(run.render(find_run(name, results)), nl=False)
