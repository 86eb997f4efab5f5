"""`clusterlift import`: results that others have published."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.run import Ending, new_run_id, timestamp
from harness.records.published import read_published
from harness.records.published_packets import has_packets, read_published_packets
from harness.records.writer import ProbeRecording, Recording
from harness.runtime.command_line import parse_facts
from harness.terminal import show, visible


@command("import")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.csv")
@click.option(
    "--configuration",
    required=True,
    metavar="NAME",
    help="Name of the configuration that was measured.",
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
    """Import results that others have published.

    FILE.csv has the columns test,seconds, as the original pyspark-benchmark writes it; the directory of part
    files that its option -o names works, too. Or it has test,performance,unit and possibly peak, such as
    hpl,21.24e9,flop,35.2e9. A sweep of packet sizes, which `clusterlift packets` shows, has
    sender,receiver,mtu_bytes,direction,goodput_bit_s,sender_cpu_percent,receiver_cpu_percent; the direction
    is `one way` or `both ways`. The command prints the path of the new results file.
    """
    if has_packets(file):
        show(visible(str(_import_packets(file, configuration, results, parse_facts(facts)))))
        return
    imported, trials = read_published(
        file, new_run_id(), configuration, timestamp(), parse_facts(facts)
    )
    with Recording(results, imported) as recording:
        for trial in trials:
            recording.trial(trial)
        recording.end(Ending.COMPLETED)
    show(visible(str(recording.path)))


def _import_packets(
    file: Path, configuration: str, results: Path, facts: Mapping[str, str]
) -> Path | None:
    """Record a sweep as a probe run, and return the path of its file."""
    run, measurements = read_published_packets(file, configuration, facts)
    with ProbeRecording(run, results) as recording:
        for measurement in measurements:
            recording.event(measurement)
        recording.end(Ending.COMPLETED)
        return recording.path
