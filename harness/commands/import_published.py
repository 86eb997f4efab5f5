"""`clusterlift import`: results that others have published."""

from collections.abc import Sequence
from pathlib import Path

import click

from harness.base.option_values import parse_facts
from harness.base.terminal import show
from harness.base.words import visible
from harness.commands.command import command
from harness.commands.options import configuration_option, fact_option, results_option
from harness.records.published import import_published


@command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.csv")
@configuration_option("Name of the configuration that was measured.", required=True)
@results_option
@fact_option
def import_command(file: Path, configuration: str, results: Path, facts: Sequence[str]) -> None:
    """Import results that others have published.

    FILE.csv has the columns test,seconds, as the original pyspark-benchmark writes it. Or it has
    test,performance,unit and possibly peak, such as hpl,21.24e9,flop,35.2e9. The command prints the path of
    the new results file. A file is imported once into a configuration: a copy is not a new measurement.
    """
    show(visible(str(import_published(file, configuration, parse_facts(facts), results))))
