"""`clusterlift packets`: what packets of each size carry and cost, before and after."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from harness.commands.command import command
from harness.commands.options import results_option
from harness.model.errors import BadInput
from harness.model.probe import RecordedProbes, links_seen
from harness.present.packets import packet_sections, uncounted
from harness.present.probes import REMARKED, page, remarks
from harness.records.lookup import check_no_run_twice, find_probes
from harness.terminal import show
from harness.words import visible


@command("packets")
@click.argument("configurations", nargs=-1, required=True, metavar="CONFIGURATION...")
@results_option
def packets_command(configurations: Sequence[str], results: Path) -> None:
    """Show what packets of each size carry and cost, for each CONFIGURATION.

    They were measured with `clusterlift probe mtu --sizes`, or imported from a published table.
    """
    if len(set(configurations)) < len(configurations):
        raise BadInput("a configuration is named twice; name it once")
    found = {name: find_probes(name, results) for name in configurations}
    check_no_run_twice(probed for probes in found.values() for probed in probes)
    sweeps = {
        name: ([each for probed in probes for each in probed.measurements], links_seen(probes))
        for name, probes in found.items()
    }
    sections = packet_sections(sweeps)
    if not sections:
        raise BadInput(
            f"the probes of {', '.join(configurations)} have no packet sizes; measure them: "
            "clusterlift probe mtu --sizes 1500,9000"
        )
    lines = dict.fromkeys(line for name, probes in found.items() for line in _about(name, probes))
    show(page(["\n".join(map(visible, lines)), *sections, uncounted(sweeps)]))


def _about(name: str, probes: Sequence[RecordedProbes]) -> Iterator[str]:
    """Yield what a reader must know of a configuration, and what was declared of it, such as the source."""
    for probed in probes:
        yield from remarks(probed)
        facts = probed.run.facts.items()
        if declared := [f"{key} {text}" for key, text in facts if key not in REMARKED]:
            yield f"{name}: {', '.join(declared)}"
