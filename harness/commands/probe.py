"""`clusterlift probe`: measure the network itself, between hosts. Each kind of probe is a command."""

from typing import Any

import click

from harness.commands.command import Command, Group, command, group
from harness.commands.probe_hosts import ProbeSite, on_site
from harness.model.errors import INTERRUPTED
from harness.model.run import Ending
from harness.present.probes import remarks
from harness.probes.kind import ProbeKind
from harness.probes.kinds import findings, kinds
from harness.terminal import show
from harness.words import visible


class _Probes(Group):
    """A command for each kind of probe."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(kinds())

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        kind = kinds().get(cmd_name)
        return None if kind is None else probe_command(kind)


@group("probe", cls=_Probes)
def probe_group() -> None:
    """Measure the network between hosts that ssh reaches, or in the lab."""


def probe_command(kind: ProbeKind) -> Command:
    """Return the command that measures, records and prints a kind of probe.

    Its exit code is 1 if something was found that has to be mended.
    """

    def call(site: ProbeSite, **options: Any) -> int:
        plan = kind.plan(site, **options)
        with plan.context:
            probed = site.probe(plan, kind.name)
        found = findings(probed)
        notes = "".join(f"{visible(line)}\n" for line in remarks(probed))
        show(f"{notes}\n{kind.page(probed, found)}" if notes else kind.page(probed, found))
        if probed.source:
            show(f"\n{visible(probed.source)}")
        if probed.ending is Ending.INTERRUPTED:
            return INTERRUPTED
        return int(any(finding.is_fault for finding in found))

    for option in reversed(kind.options):
        call = option(call)
    return command(kind.name, help=kind.help)(on_site(call))
