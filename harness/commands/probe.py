"""`clusterlift probe`: the network itself, measured between hosts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import click

from harness.commands.probe_hosts import Site, on_site
from harness.model.errors import BadInput
from harness.model.interface import HostLink
from harness.model.link import MAX_MTU, MIN_MTU
from harness.model.probe import RecordedProbes
from harness.model.run import Ending
from harness.present.probes import latency as latency_page
from harness.present.probes import link as link_page
from harness.present.probes import mesh as mesh_page
from harness.present.probes import mtu as mtu_page
from harness.present.probes import racks as racks_page
from harness.present.probes.acceptance import emulation
from harness.probes.all_probes import LATENCY, LINK, MESH, MTU, all_probes
from harness.probes.latency import MESSAGE_BYTES, latency
from harness.probes.mesh import mesh
from harness.probes.mtu import paths, sweep
from harness.probes.plan import ProbeStep
from harness.probes.racks import Rack, racks
from harness.probes.rdma import rdma
from harness.probes.runner import ProbePlan
from harness.probes.traffic import FIRST_PORT, Load
from harness.probes.transports.host import Host
from harness.terminal import visible

INTERRUPTED = 130

Links = Mapping[str, HostLink]


@click.group("probe")
def probe_group() -> None:
    """Measure the network itself, between hosts that ssh reaches, or in the lab."""


seconds_option = click.option(
    "--seconds",
    type=click.IntRange(1, 3600),
    default=10,
    show_default=True,
    help="How long each transfer is measured.",
)
streams_option = click.option(
    "--streams",
    type=click.IntRange(1, 128),
    default=1,
    show_default=True,
    help="TCP streams of each transfer.",
)
port_option = click.option(
    "--port",
    type=click.IntRange(1024, 60000),
    default=FIRST_PORT,
    show_default=True,
    help="The first port that is listened at; as many follow as there are hosts.",
)
both_ways_option = click.option(
    "--bidir", "both_ways", is_flag=True, help="Measure both ways at once, too."
)
alone_option = click.option(
    "--alone", is_flag=True, help="One pair at a time, so that what pairs share does not show."
)
message_option = click.option(
    "--message-bytes",
    type=click.IntRange(14, 65000),
    default=MESSAGE_BYTES,
    show_default=True,
    help="How long a message is.",
)
sizes_option = click.option(
    "--sizes",
    metavar="BYTES,...",
    help="Measure packets of these sizes, too, such as 1500,3000,9000.",
)


@probe_group.command("link")
@on_site
def link_command(site: Site) -> int:
    """Show what every host says of its link."""
    order = ProbePlan(site.hosts(), LINK, lambda _hosts, _links: [], least_hosts=1)
    return _shown(site.probe(order, {"probe": "link"}), [link_page.render])


@probe_group.command("mesh")
@on_site
@seconds_option
@streams_option
@both_ways_option
@alone_option
@port_option
def mesh_command(
    site: Site,
    *,
    seconds: int,
    streams: int,
    both_ways: bool,
    alone: bool,
    port: int,
) -> int:
    """Measure what TCP carries between every two hosts, and what it costs them."""
    load = Load(seconds, streams, first_port=port)
    order = ProbePlan(
        site.hosts(),
        MESH,
        lambda hosts, _links: mesh(hosts, load, both_ways=both_ways, alone=alone),
        repeats=site.repeats,
    )
    asked = {"probe": "mesh", "seconds": seconds, "streams": streams, "alone": alone}
    return _shown(site.probe(order, asked), [mesh_page.render])


@probe_group.command("racks")
@on_site
@click.option(
    "--rack",
    "written",
    multiple=True,
    metavar="NAME=HOSTS",
    help="One of two, such as a=node[1-20].",
)
@seconds_option
@streams_option
@click.option(
    "--draws",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    help="How often it is drawn who sends to whom.",
)
@click.option("--seed", type=int, default=1, show_default=True, help="Of the draws.")
@port_option
def racks_command(
    site: Site,
    *,
    written: Sequence[str],
    seconds: int,
    streams: int,
    draws: int,
    seed: int,
    port: int,
) -> int:
    """Measure what two racks carry within and between each other, all hosts at once."""
    first, second = site.racks(written)
    load = Load(seconds, streams, first_port=port)

    def plan(hosts: Sequence[Host], _links: Links) -> list[ProbeStep]:
        usable = {host.name: host for host in hosts}
        a, b = (
            Rack(one.name, tuple(usable[host.name] for host in one.hosts if host.name in usable))
            for one in (first, second)
        )
        return racks(a, b, load, draws, seed)

    order = ProbePlan([*first.hosts, *second.hosts], MESH, plan, repeats=site.repeats)
    asked = {"probe": "racks", "seconds": seconds, "streams": streams, "draws": draws, "seed": seed}
    return _shown(site.probe(order, asked), [racks_page.render])


@probe_group.command("latency")
@on_site
@seconds_option
@message_option
@port_option
def latency_command(site: Site, *, seconds: int, message_bytes: int, port: int) -> int:
    """Measure how long small messages take there and back, alone and beside a transfer."""
    order = ProbePlan(
        site.hosts(),
        LATENCY,
        lambda hosts, _links: [
            *latency(hosts, seconds, message_bytes, port),
            *rdma(hosts, message_bytes),
        ],
        repeats=site.repeats,
    )
    asked = {"probe": "latency", "seconds": seconds, "message_bytes": message_bytes}
    return _shown(site.probe(order, asked), [latency_page.render])


@probe_group.command("mtu")
@on_site
@sizes_option
@seconds_option
@port_option
def mtu_command(site: Site, *, sizes: str | None, seconds: int, port: int) -> int:
    """Find the largest packet that every path carries; and what packets of some sizes cost."""
    wanted = _sizes(sizes)
    order = ProbePlan(
        site.hosts(),
        (*MTU, "iperf3") if wanted else MTU,
        lambda hosts, links: [
            *paths(hosts, links),
            *sweep(hosts, wanted, Load(seconds, first_port=port)),
        ],
        repeats=site.repeats,
    )
    asked = {"probe": "mtu", "sizes": sizes or "", "seconds": seconds}
    return _shown(site.probe(order, asked), [mtu_page.render])


@probe_group.command("all")
@on_site
@seconds_option
@streams_option
@both_ways_option
@alone_option
@message_option
@sizes_option
@click.option("--no-latency", is_flag=True, help="Without that, which needs sockperf everywhere.")
@port_option
def all_command(
    site: Site,
    *,
    seconds: int,
    streams: int,
    both_ways: bool,
    alone: bool,
    message_bytes: int,
    sizes: str | None,
    no_latency: bool,
    port: int,
) -> int:
    """Look at links, paths, transfers and latencies: all that a gate needs."""
    order = all_probes(
        site.hosts(),
        Load(seconds, streams, first_port=port),
        message_bytes=None if no_latency else message_bytes,
        sizes=_sizes(sizes),
        both_ways=both_ways,
        alone=alone,
        repeats=site.repeats,
    )
    asked = {"probe": "all", "seconds": seconds, "streams": streams, "alone": alone}
    pages = [link_page.render, mtu_page.render, mesh_page.render]
    return _shown(
        site.probe(order, asked), [*pages, *([] if no_latency else [latency_page.render])]
    )


def _sizes(text: str | None) -> list[int]:
    """Bytes of packets, in ascending order. Raises BadInput that names what is none."""
    sizes = []
    for part in text.split(",") if text else ():
        if not (part.strip().isdecimal() and MIN_MTU <= int(part) <= MAX_MTU):
            raise BadInput(
                f"--sizes: {part!r} is not from {MIN_MTU} to {MAX_MTU}; write 1500,3000,9000"
            )
        sizes.append(int(part))
    return sorted(set(sizes))


def _shown(probed: RecordedProbes, pages: Sequence[Callable[[RecordedProbes], str]]) -> int:
    """Print what was found; the exit code is 1 if a host was left out or something was not measured."""
    click.echo("\n".join([*_remarks(probed), *(page(probed) for page in pages)]), nl=False)
    if probed.source:
        click.echo(f"\n{visible(probed.source)}")
    if probed.ending is Ending.INTERRUPTED:
        return INTERRUPTED
    return int(bool(probed.excluded_hosts) or any(one.error for one in probed.measurements))


def _remarks(probed: RecordedProbes) -> list[str]:
    lines = emulation(probed)
    return ["\n".join(map(visible, lines)) + "\n"] if lines else []
