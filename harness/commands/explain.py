"""`clusterlift explain`: where the time of a change went."""

from __future__ import annotations

from pathlib import Path

import click

from harness.analysis.comparison import compare
from harness.analysis.configuration import find_configuration
from harness.analysis.explanation import explain
from harness.commands.options import results_option
from harness.present.explanation import render


@click.command("explain")
@click.argument("before")
@click.argument("after")
@results_option
def explain_command(before: str, after: str, results: Path) -> None:
    """Tell where the time went between two configurations.

    Each is a results file, a directory of one configuration's results files, or the name of a
    configuration under --results. The change of each workload is divided over what its tasks did:
    waiting for shuffle blocks, computing, and so on.
    """
    columns = [find_configuration(name, results) for name in (before, after)]
    click.echo(render(explain(compare(columns))), nl=False)
