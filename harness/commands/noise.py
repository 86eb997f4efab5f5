"""`clusterlift noise`: how much identical runs vary."""

from pathlib import Path

import click

from harness.analysis.compare.identical_runs import identical_runs
from harness.analysis.observed.configuration import find_configuration
from harness.commands.command import command
from harness.commands.options import results_option
from harness.present.identical_runs import render
from harness.terminal import show


@command("noise")
@click.argument("configuration", metavar="RUNS")
@results_option
def noise_command(configuration: str, results: Path) -> None:
    """Compare identical runs with each other (an A/A test).

    RUNS are repetitions of one configuration: its name under --results, or a directory of results files.
    The command shows how much trials and runs vary, and how often comparisons of equal runs would claim a
    change that is not there. Six runs or more are worth looking at, such as those of `make aa RUNS=12`.
    """
    show(render(identical_runs(find_configuration(configuration, results))))
