"""`clusterlift probe`: measure the network itself, between hosts. Each kind of probe is a command."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.base.errors import INTERRUPTED
from harness.base.interrupt import interruptible
from harness.base.option_types import WholeNumber
from harness.base.terminal import show
from harness.commands.command import Command, command, group
from harness.commands.options import configuration_option, results_option
from harness.commands.site import on_site
from harness.model.probe import ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.present import text
from harness.present.blocks import Lines
from harness.present.findings import remarks
from harness.probes.kind import ProbeKind, findings, kinds
from harness.probes.options import NamedHosts, integer_option
from harness.probes.plan import run_probes
from harness.records.lookup import recorded_probes


@group("probe")
def probe_group() -> None:
    """Measure the network between hosts that ssh reaches, or in the lab."""


def probe_command(kind: ProbeKind) -> Command:
    """Return the command that measures, records and prints a kind of probe.

    Its exit code is 1 if something has to be mended or could not be judged.
    """

    def call(
        site: NamedHosts, *, configuration: str | None, results: Path, repeats: int, **options: Any
    ) -> int:
        plan = replace(kind.plan(replace(site, directory=results), **options), repeats=repeats)
        parameters = {"probe": kind.name, **plan.parameters}
        run = ProbeRun(
            configuration=configuration or "",
            hosts=tuple(host.name for host in plan.hosts),
            parameters={name: str(value) for name, value in parameters.items()},
            facts=dict(site.facts),
        )
        earlier: list[RecordedProbes] = []
        directory = None
        if configuration:
            earlier = recorded_probes(configuration, results)
            directory = results
        with plan.context, interruptible(once=True):
            probed = run_probes(plan, run, directory)
        found = findings(probed, earlier[::-1])
        above = Lines(remarks(probed))
        below = Lines([probed.source] if probed.source else [])
        show(text.render([above, *kind.page(probed, found), below]))
        if probed.ending is Ending.INTERRUPTED:
            return INTERRUPTED
        return int(any(finding.is_open for finding in found))

    call = on_site(call)
    for option in reversed((*kind.options, *_RECORD_OPTIONS)):
        call = option(call)
    return command(kind.name, help=kind.help)(call)


_RECORD_OPTIONS = (
    integer_option("--repeats", WholeNumber(1, 1000), 1, "Number of times to measure everything."),
    configuration_option(
        "Record the probe below --results, under this name.  [default: only print it]"
    ),
    results_option,
)

for _kind in kinds().values():
    probe_group.add_command(probe_command(_kind))
