"""`clusterlift explain`: which parts of the run time changed."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.comparability import MIN_CONFIGURATIONS
from harness.analysis.compare.comparison import compare
from harness.analysis.explain.attribution import explain
from harness.analysis.explain.timeline import disk_uses, link_uses, trial_disks, trial_links
from harness.analysis.observed.configuration import probe_measurements
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.log_options import NamedSides, log_options
from harness.commands.options import results_option
from harness.present import text
from harness.present.explanation_page import explanation_page
from harness.present.plan_page import plan_page


@command("explain")
@click.argument("configurations", nargs=-1, metavar="BEFORE AFTER")
@log_options
@click.option(
    "--details",
    is_flag=True,
    help="Add the tables: the parts of each change, bytes received, when links and disks were full, stacks.",
)
@click.option(
    "--plan",
    "workload",
    metavar="WORKLOAD",
    help="Show the plans of this workload side by side instead: before, and after.",
)
@results_option
def explain_command(
    configurations: Sequence[str],
    workload: str | None,
    results: Path,
    sides: NamedSides,
    *,
    details: bool,
) -> None:
    """Show where the time went before and after a change.

    BEFORE and AFTER are names of configurations under --results, directories of results files, or
    results files. For each workload, a sentence says what its tasks spent more or less time on, such as
    waiting for shuffle blocks, computing or reading, and for how long a link or a disk was full.
    """
    columns = sides.columns(configurations, results)
    if len(columns) != MIN_CONFIGURATIONS:
        raise BadInput("name two configurations: BEFORE AFTER")
    comparison = compare(columns)
    if workload is not None:
        show(text.render(plan_page(comparison, workload)))
        return
    uses = [
        link_uses(trial_links(column, probe_measurements(column))) for column in comparison.columns
    ]
    disks = [disk_uses(trial_disks(column)) for column in comparison.columns]
    show(text.render(explanation_page(explain(comparison), uses, disks, details=details)))
