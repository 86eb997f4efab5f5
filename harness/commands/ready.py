"""`clusterlift ready`: whether a baseline is complete before the upgrade begins."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.observed.configuration import find_configuration
from harness.analysis.predict.readiness import readiness
from harness.commands.command import command
from harness.commands.options import results_option
from harness.present.readiness import render
from harness.terminal import show


@command("ready")
@click.argument("configurations", nargs=-1, required=True, metavar="RUNS...")
@results_option
def ready_command(configurations: Sequence[str], results: Path) -> int:
    """Check that a baseline has all that a comparison needs.

    Run this before the upgrade. RUNS are names of configurations under --results, directories of
    results files, or results files. The command also computes the smallest change of each workload
    that a comparison will detect. The exit code is 1 if something is missing that cannot be measured
    after the upgrade.
    """
    checked = [readiness(find_configuration(name, results)) for name in configurations]
    show("\n".join(map(render, checked)))
    return int(any(baseline.missing for baseline in checked))
