"""`clusterlift explain`: where the time of a change went."""

from __future__ import annotations

from pathlib import Path

import click

from harness.analysis.attribution.event_log import with_event_logs
from harness.analysis.attribution.explanation import explain
from harness.analysis.comparison import compare
from harness.analysis.lookup import find_column
from harness.commands.options import results_option
from harness.present.explanation import render


@click.command("explain")
@click.argument("before")
@click.argument("after")
@click.option(
    "--event-logs",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where the cluster's event logs are, for runs that have no task metrics of their own.",
)
@results_option
def explain_command(before: str, after: str, event_logs: Path | None, results: Path) -> None:
    """Tell where the time went between two configurations.

    Each is a results file, a directory of one configuration's results files, or the name of a
    configuration under --results. The change of each workload is divided over what its tasks did:
    waiting for shuffle blocks, computing, and so on.
    """
    columns = [find_column(name, results) for name in (before, after)]
    if event_logs is not None:
        columns = [with_event_logs(column, event_logs) for column in columns]
    click.echo(render(explain(compare(columns))), nl=False)
