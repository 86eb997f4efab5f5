"""`clusterlift explain`: which parts of the run time changed."""

from pathlib import Path

import click

from harness.analysis.compare.comparison import compare
from harness.analysis.explain.attribution import explain
from harness.analysis.explain.timeline import disk_uses, link_uses, trial_disks, trial_links
from harness.analysis.observed.configuration import find_columns, probe_measurements
from harness.commands.command import command
from harness.commands.options import event_logs_option, results_option
from harness.present.explanation import render
from harness.terminal import show


@command("explain")
@click.argument("before")
@click.argument("after")
@event_logs_option
@results_option
def explain_command(before: str, after: str, results: Path, *, event_logs: bool) -> None:
    """Show where the time went before and after a change.

    BEFORE and AFTER are names of configurations under --results, directories of results files, or
    results files. The command divides each workload's change into what its tasks spent time on:
    waiting for shuffle blocks, computing, writing shuffle files and so on. It also shows for how long
    the busiest link and the busiest disk were full, and in which stage.
    """
    comparison = compare(find_columns((before, after), results, event_logs=event_logs))
    uses = [
        link_uses(trial_links(column, probe_measurements(column))) for column in comparison.columns
    ]
    disks = [disk_uses(trial_disks(column)) for column in comparison.columns]
    show(render(explain(comparison), uses, disks))
