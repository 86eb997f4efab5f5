"""`clusterlift scaling`: performance by the number of nodes."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.analysis.compare.scaling import find_family, scaling
from harness.base.errors import BadInput
from harness.base.terminal import show
from harness.commands.command import command
from harness.commands.options import results_option
from harness.present import text
from harness.present.scaling_page import scaling_page


@command("scaling")
@click.argument("configurations", nargs=-1, required=True, metavar="CONFIGURATION...")
@results_option
def scaling_command(configurations: Sequence[str], results: Path) -> None:
    """Show how performance grows with the number of nodes, for each CONFIGURATION.

    CONFIGURATION is the name without -n1, -n2, ..., which --nodes 1,2,4 (or `scaling` in the file of an
    experiment) appended.
    """
    if len(set(configurations)) < len(configurations):
        raise BadInput("a configuration is named twice; name it once")
    families = {name: find_family(name, results) for name in configurations}
    show(text.render(scaling_page(scaling(families))))
