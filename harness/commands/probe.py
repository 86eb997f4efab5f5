"""`clusterlift probe`: measure the network itself, between hosts. Each kind of probe is a command."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.base.errors import INTERRUPTED
from harness.base.interrupt import interruptible
from harness.base.option_types import WholeNumber
from harness.base.terminal import show
from harness.base.words import visible
from harness.commands.command import Command, Group, command, group
from harness.commands.options import configuration_option, results_option
from harness.commands.site import on_site
from harness.model.probe import ProbeRun
from harness.model.run import Ending
from harness.present.findings import remarks
from harness.probes.kind import ProbeKind, findings, kinds
from harness.probes.options import Site, integer_option
from harness.probes.plan import run_probes
from harness.records.lookup import recorded_probes


class _Probes(Group):
    """A command for each kind of probe, which share options."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_commands(ctx, formatter)
        shared = [each for each in self.commands["all"].params if each.name in _SHARED]
        _list_options("Options of every probe", shared, ctx, formatter)


class _Probe(Command):
    """A kind of probe, whose help leaves the options of every probe to `probe --help`."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        own = [each for each in self.get_params(ctx) if each.name not in _SHARED]
        _list_options("Options", own, ctx, formatter)


def _list_options(
    title: str,
    options: Sequence[click.Parameter],
    ctx: click.Context,
    formatter: click.HelpFormatter,
) -> None:
    with formatter.section(title):
        formatter.write_dl(list(filter(None, (each.get_help_record(ctx) for each in options))))


@group("probe", cls=_Probes)
def probe_group() -> None:
    """Measure the network between hosts that ssh reaches, or in the lab."""


def probe_command(kind: ProbeKind) -> Command:
    """Return the command that measures, records and prints a kind of probe.

    Its exit code is 1 if something has to be mended or could not be judged.
    """

    def call(
        site: Site, *, configuration: str | None, results: Path, repeats: int, **options: Any
    ) -> int:
        plan = replace(kind.plan(replace(site, directory=results), **options), repeats=repeats)
        parameters = {"probe": kind.name, **plan.parameters}
        run = ProbeRun(
            configuration=configuration or "",
            hosts=tuple(host.name for host in plan.hosts),
            parameters={name: str(value) for name, value in parameters.items()},
            facts=dict(site.facts),
        )
        earlier = recorded_probes(configuration, results) if configuration else []
        with plan.context, interruptible(once=True):
            probed = run_probes(plan, run, results if configuration else None)
        found = findings(probed, earlier[::-1])
        page = kind.page(probed, found)
        notes = [f"{visible(line)}\n" for line in remarks(probed)]
        if notes:
            page = f"{''.join(notes)}\n{page}"
        show(page)
        if probed.source:
            show(f"\n{visible(probed.source)}")
        if probed.ending is Ending.INTERRUPTED:
            return INTERRUPTED
        return int(any(finding.is_open for finding in found))

    call = on_site(call)
    for option in reversed((*kind.options, *_RECORD_OPTIONS)):
        call = option(call)
    return command(kind.name, cls=_Probe, help=kind.help, epilog=_MORE)(call)


_SHARED = {"names", "in_lab", "via", "repeats", "configuration", "results"}
_MORE = "`clusterlift probe --help` describes --hosts, --lab, --via, --repeats, --configuration, --results."
_RECORD_OPTIONS = (
    integer_option("--repeats", WholeNumber(1, 1000), 1, "Number of times to measure everything."),
    configuration_option(
        "Record the probe below --results, under this name.  [default: only print it]"
    ),
    results_option,
)

for _kind in kinds().values():
    probe_group.add_command(probe_command(_kind))
