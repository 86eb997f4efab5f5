"""`clusterlift ready`: whether the old network may be unplugged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.configuration import find_configuration
from harness.analysis.readiness import readiness
from harness.commands.options import results_option
from harness.present.readiness import render


@click.command("ready")
@click.argument("configurations", nargs=-1, required=True, metavar="RUN [MORE...]")
@results_option
def ready_command(configurations: Sequence[str], results: Path) -> int:
    """Check whether a baseline has all that a comparison will need.

    RUN is a results file, a directory of one configuration's results files, or the name of a
    configuration under --results. It also tells, for each workload, how small a change will be found.
    The exit code is 1 if something lacks that cannot be had after the upgrade.
    """
    found = [readiness(find_configuration(name, results)) for name in configurations]
    click.echo("\n".join(map(render, found)), nl=False)
    return int(any(one.missing for one in found))
