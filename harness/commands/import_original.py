"""`clusterlift import`: results of the original pyspark-benchmark of 2020."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.run import Ending, new_run_id, timestamp
from harness.records.original import read_original
from harness.records.writer import Recording
from harness.runtime.command_line import parse_facts
from harness.terminal import show, visible


@command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.csv")
@click.option(
    "--configuration",
    required=True,
    metavar="NAME",
    help="Name of the configuration that the times were measured on.",
)
@results_option
@click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="KEY=VALUE",
    help="A fact about the configuration, such as mtu=1500. Repeatable.",
)
def import_command(file: Path, configuration: str, results: Path, facts: Sequence[str]) -> None:
    """Import results of the original pyspark-benchmark.

    FILE.csv has the columns test,seconds. The directory of part files that the original's option -o
    writes works, too. The command prints the path of the new results file.
    """
    imported, trials = read_original(
        file, new_run_id(), configuration, timestamp(), parse_facts(facts)
    )
    with Recording(results, imported) as recording:
        for trial in trials:
            recording.trial(trial)
        recording.end(Ending.COMPLETED)
    show(visible(str(recording.path)))
