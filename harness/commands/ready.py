"""`clusterlift ready`: whether a baseline has all that a comparison needs."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.analysis.ready.readiness import network_check, readiness
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.options import as_fraction, results_option
from harness.model.finding import Finding
from harness.present import text
from harness.present.blocks import Block
from harness.present.readiness_page import readiness_page
from harness.probes.kind import all_findings, newest_probes
from harness.records.lookup import probes_beside


@command("ready")
@click.argument("configurations", nargs=-1, required=True, metavar="RUNS...")
@click.option(
    "--allow-no-probes",
    is_flag=True,
    help="Accept a baseline whose network no probe measured. Where there are probes, their faults, and "
    "files that cannot be read, still count.",
)
@click.option(
    "--change",
    callback=as_fraction,
    default="5%",
    show_default=True,
    metavar="PERCENT",
    help="Show how many runs find a change of this size.",
)
@results_option
def ready_command(
    configurations: Sequence[str], results: Path, *, allow_no_probes: bool, change: float
) -> int:
    """Check that a baseline has all that a comparison needs.

    Run this before the upgrade. RUNS are names of configurations under --results, directories of
    results files, or results files. The command also shows how much trials and runs of each workload
    differ, the smallest change that a comparison will detect, and how many runs find a change of a given
    size. The exit code is 1 if something is missing that cannot be measured after the upgrade.
    """
    page: list[Block] = []
    is_ready = True
    for column in [find_configuration(name, results) for name in configurations]:
        network = network_check(column, _findings(column), allow_no_probes=allow_no_probes)
        checked = readiness(column, network, change=change)
        page += readiness_page(checked)
        is_ready = is_ready and not checked.failed_checks
    show(text.render(page))
    return int(not is_ready)


def _findings(column: ConfigurationRuns) -> list[Finding] | str | None:
    """Return the findings of the newest probes; why they cannot be read; None without a probe."""
    try:
        newest = newest_probes(probes_beside(column.runs))
    except BadInput as error:
        return str(error)
    if not newest:
        return None
    return all_findings(newest)
