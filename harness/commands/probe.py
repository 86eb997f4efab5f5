"""`clusterlift probe`: measure the network itself, between hosts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import Any

import click
from click import FloatRange, IntRange

from harness.analysis.network.soak import judge_soak
from harness.commands.command import group
from harness.commands.options import converted
from harness.commands.probe_hosts import Site, integer_option, on_site
from harness.hosts.links import LINK_PROGRAMS
from harness.hosts.parallelism import MAX_PAIRS, allow_hosts, allow_pairs
from harness.hosts.transports.host import Host
from harness.model.errors import BadInput
from harness.model.link import MAX_BIT_S, MAX_MTU, MIN_MTU, parse_rate
from harness.model.network_metrics import HARDWARE_COUNTERS, PAIRS, ROUNDS, SAMPLED
from harness.model.probe import RecordedProbes
from harness.model.run import Ending
from harness.present.probes import incast as incast_page
from harness.present.probes import latency as latency_page
from harness.present.probes import link as link_page
from harness.present.probes import mesh as mesh_page
from harness.present.probes import mtu as mtu_page
from harness.present.probes import path as path_page
from harness.present.probes import racks as racks_page
from harness.present.probes import remarks
from harness.present.probes import soak as soak_page
from harness.probes.all_probes import all_probes
from harness.probes.incast import INCAST_PROGRAMS, incast_steps
from harness.probes.latency import LATENCY_PROGRAMS, latency_steps
from harness.probes.mesh import MESH_PROGRAMS
from harness.probes.messages import MESSAGE_BYTES
from harness.probes.mtu import MTU_PROGRAMS, largest_frame_steps, path_mtu_steps
from harness.probes.mtu_of_all import mtu_of_all
from harness.probes.packets import PACKET_PROGRAMS, packet_size_steps
from harness.probes.path import PATH_PROGRAMS, STEP_PROGRAMS, path_steps
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.racks import Rack, rack_steps
from harness.probes.search import SEARCH_ABOVE, Mesh, rounds_for
from harness.probes.soak import SOAK_PROGRAMS, soak_steps
from harness.probes.traffic import FIRST_PORT, Load
from harness.runtime.command_line import parse_time
from harness.settings.in_force import put_back
from harness.settings.journal import Journal, open_journal
from harness.terminal import say, show, visible

INTERRUPTED = 130
MIN_ROUND_S, MAX_ROUND_S, MAX_SOAK_S = 5, 3600, 30 * 24 * 3600


@group("probe")
def probe_group() -> None:
    """Measure the network between hosts that ssh reaches, or in the lab."""


seconds_option = integer_option("--seconds", IntRange(1, 3600), 10, "Duration of each transfer.")
streams_option = integer_option("--streams", IntRange(1, 128), 1, "TCP streams in each transfer.")
port_option = integer_option(
    "--port",
    IntRange(1024, 60000),
    FIRST_PORT,
    "The first port for servers; concurrent transfers use consecutive ports.",
)
both_ways_option = click.option(
    "--bidir", "both_ways", is_flag=True, help="Also measure both directions at the same time."
)
alone_option = click.option(
    "--alone", is_flag=True, help="One pair at a time, so that a shared link does not show."
)
exhaustive_option = click.option(
    "--exhaustive",
    is_flag=True,
    help=f"Measure all pairs.  [default: with more than {SEARCH_ABOVE} hosts, random pairs and suspects]",
)
rounds_option = click.option(
    "--rounds",
    type=IntRange(2, 1000),
    help="Rounds of random pairs.  [default: the logarithm of the number of hosts to base 2]",
)
seed_option = click.option(
    "--seed", type=int, default=1, show_default=True, help="Seed of the random choices."
)
at_once_option = integer_option(
    "--pairs-at-once",
    IntRange(1, 2048),
    MAX_PAIRS,
    "Pairs that are measured at the same time; each takes four processes of this machine.",
)
message_option = integer_option(
    "--message-bytes",
    IntRange(14, 65000),
    MESSAGE_BYTES,
    "Size of the messages whose latency is measured.",
)
sizes_option = click.option(
    "--sizes",
    metavar="BYTES,...",
    help="Also measure packets of these sizes, such as 1500,3000,9000.",
)


def with_load(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the Load that --seconds, --streams (by default 1) and --port describe."""

    @wraps(command)
    def loaded(site: Site, *, seconds: int, port: int, streams: int = 1, **others: Any) -> int:
        return command(site, Load(seconds, streams, first_port=port), **others)

    return loaded


def with_mesh(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command the Mesh that its options describe."""

    @wraps(command)
    def meshed(
        site: Site,
        *args: Any,
        exhaustive: bool,
        rounds: int | None,
        seed: int,
        both_ways: bool,
        alone: bool,
        pairs_at_once: int,
        **others: Any,
    ) -> int:
        if exhaustive and rounds is not None:
            raise BadInput("--exhaustive measures all pairs: leave out --rounds")
        hosts = len(site.hosts())
        if rounds is None and not exhaustive and hosts > SEARCH_ABOVE:
            rounds = rounds_for(hosts)
        allow_pairs(min(pairs_at_once, hosts // 2))
        mesh = Mesh(rounds, seed, both_ways, alone, pairs_at_once)
        return command(site, *args, mesh=mesh, **others)

    for option in (
        at_once_option,
        seed_option,
        rounds_option,
        exhaustive_option,
        alone_option,
        both_ways_option,
    ):
        meshed = option(meshed)
    return meshed


def _parameters(mesh: Mesh, load: Load) -> dict[str, object]:
    """Return what a record says of how a mesh was measured."""
    sampled = {PAIRS: SAMPLED, ROUNDS: mesh.rounds, "seed": mesh.seed}
    return {
        "seconds": load.seconds,
        "streams": load.streams,
        "alone": mesh.alone,
        "pairs_at_once": mesh.pairs_at_once,
        **({} if mesh.rounds is None else sampled),
    }


@probe_group.command("link")
@on_site
def link_command(site: Site) -> int:
    """Show what every host reports about its link."""
    plan = ProbePlan(site.hosts(), LINK_PROGRAMS, lambda _hosts, _links: [], min_hosts=1)
    return _print(site.probe(plan, probe="link"), [link_page.render])


@probe_group.command("mesh")
@on_site
@seconds_option
@streams_option
@with_mesh
@port_option
@with_load
def mesh_command(site: Site, load: Load, *, mesh: Mesh) -> int:
    """Measure TCP goodput between pairs of hosts, and the processor time that it takes.

    Among many hosts, random pairs and then suspects are measured, unless --exhaustive asks for all pairs.
    """
    plan = ProbePlan(site.hosts(), MESH_PROGRAMS, lambda hosts, _links: mesh.steps(hosts, load))
    probed = site.probe(plan, probe="mesh", **_parameters(mesh, load))
    return _print(probed, [mesh_page.render])


@probe_group.command("racks")
@on_site
@click.option(
    "--rack",
    "racks",
    multiple=True,
    metavar="NAME=HOSTS",
    help="One of the two racks, such as a='node[1-20]'. Give it twice.",
)
@seconds_option
@streams_option
@integer_option("--draws", IntRange(1, 100), 3, "Number of random choices of who sends to whom.")
@seed_option
@port_option
@with_load
def racks_command(site: Site, load: Load, *, racks: Sequence[str], draws: int, seed: int) -> int:
    """Measure what two racks carry within and between each other, with all hosts sending at the same time."""
    first, second = site.racks(racks)

    def make_steps(hosts: Sequence[Host], _links: Links) -> list[ProbeStep]:
        # These hosts have addresses, and are those of the racks that can be used.
        usable = {host.name: host for host in hosts}
        a, b = (
            Rack(rack.name, tuple(usable[host.name] for host in rack.hosts if host.name in usable))
            for rack in (first, second)
        )
        allow_hosts(len(hosts))
        return rack_steps(a, b, load, draws, seed)

    hosts = [*first.hosts, *second.hosts]
    plan = ProbePlan(hosts, MESH_PROGRAMS, make_steps)
    choices = {"draws": draws, "seed": seed}
    probed = site.probe(plan, probe="racks", seconds=load.seconds, streams=load.streams, **choices)
    return _print(probed, [racks_page.render])


@probe_group.command("incast")
@on_site
@click.option(
    "--hub",
    metavar="NAME",
    help="The host that receives from the others, and sends to them.  [default: the first one]",
)
@seconds_option
@message_option
@port_option
@with_load
def incast_command(site: Site, load: Load, *, hub: str | None, message_bytes: int) -> int:
    """Measure many hosts that send to one, one that sends to many, and all to all, as in a shuffle."""
    hosts = site.hosts()
    chosen = hosts[0].name if hub is None else hub
    if chosen not in {host.name for host in hosts}:
        raise BadInput(f"--hub: {chosen!r} is not one of the hosts")

    def make_steps(usable: Sequence[Host], _links: Links) -> list[ProbeStep]:
        # It has an address now. If it was left out, the next one takes its place, unless a user chose it.
        by_name = {host.name: host for host in usable}
        if hub is not None and hub not in by_name:
            raise BadInput(f"--hub: {hub} cannot be used; choose another host")
        return incast_steps(usable, by_name.get(chosen, usable[0]), load, message_bytes)

    plan = ProbePlan(hosts, INCAST_PROGRAMS, make_steps)
    probed = site.probe(
        plan, probe="incast", hub=chosen, seconds=load.seconds, message_bytes=message_bytes
    )
    return _print(probed, [incast_page.render])


@probe_group.command("latency")
@on_site
@seconds_option
@message_option
@port_option
@with_load
def latency_command(site: Site, load: Load, *, message_bytes: int) -> int:
    """Measure the round trip time of small messages, on an idle link and beside a transfer."""
    plan = ProbePlan(
        site.hosts(),
        LATENCY_PROGRAMS,
        lambda hosts, _links: latency_steps(hosts, load, message_bytes),
    )
    probed = site.probe(plan, probe="latency", seconds=load.seconds, message_bytes=message_bytes)
    return _print(probed, [latency_page.render])


@probe_group.command("mtu")
@on_site
@sizes_option
@both_ways_option
@click.option(
    "--set-mtu",
    "mtu_is_set",
    is_flag=True,
    help="Set the MTU of the interfaces to each of the --sizes, which needs root, and put it back. "
    "[default: limit TCP's segments, and change no interface]",
)
@seconds_option
@port_option
@with_load
def mtu_command(
    site: Site, load: Load, *, sizes: str | None, both_ways: bool, mtu_is_set: bool
) -> int:
    """Find the largest packet that every path carries, and measure what packets of some sizes cost.

    The cost is the processor time of both hosts and, where they count them, instructions and cycles per byte.
    """
    packet_sizes = _packet_sizes(sizes)
    for option, given in (("--bidir", both_ways), ("--set-mtu", mtu_is_set)):
        if given and not packet_sizes:
            raise BadInput(f"{option} needs sizes of packets: --sizes 1500,9000")

    with _journal(site) if mtu_is_set else nullcontext() as journal:

        def make_steps(hosts: Sequence[Host], links: Links) -> list[ProbeStep]:
            steps = path_mtu_steps(hosts, links)
            set_mtu = mtu_of_all(hosts, links, journal) if journal else None
            if set_mtu:
                steps += largest_frame_steps(hosts, links, packet_sizes[-1], set_mtu)
            return steps + packet_size_steps(
                hosts, packet_sizes, load, both_ways=both_ways, set_mtu=set_mtu
            )

        programs = (*MTU_PROGRAMS, *PACKET_PROGRAMS) if packet_sizes else MTU_PROGRAMS
        plan = ProbePlan(site.hosts(), programs, make_steps)
        choices = {"sizes": sizes or "", "set_mtu": mtu_is_set}
        probed = site.probe(plan, probe="mtu", seconds=load.seconds, **choices)
    return _print(probed, [mtu_page.render])


@probe_group.command("soak")
@on_site
@click.option(
    "--for",
    "total_s",
    default="1h",
    show_default=True,
    callback=converted(parse_time),
    metavar="TIME",
    help="How long, such as 30min or 12h.",
)
@click.option(
    "--round",
    "round_s",
    default="1min",
    show_default=True,
    callback=converted(parse_time),
    metavar="TIME",
    help="Length of a round; then the hosts are paired anew.",
)
@streams_option
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random pairs.")
@port_option
def soak_command(
    site: Site, *, total_s: float, round_s: float, streams: int, seed: int, port: int
) -> int:
    """Load all links in both directions for a long time, and name every host whose link fails.

    Every host sends to one other and receives from one, as fast as TCP can: stop other jobs first. Each
    second, every host's throughput, retransmits, errors, drops, carrier, speed, duplex mode, pause frames and
    temperature are recorded; after each round, the kernel's messages about links. Also says what a soak
    without a fault proves.
    """
    if not MIN_ROUND_S <= round_s <= MAX_ROUND_S:
        raise BadInput(f"--round: give from {MIN_ROUND_S} s to {MAX_ROUND_S // 60} min")
    if not round_s <= total_s <= MAX_SOAK_S:
        raise BadInput(f"--for: give from one --round to {MAX_SOAK_S // 3600} h")
    load = Load(int(round_s), streams, first_port=port)

    def make_steps(hosts: Sequence[Host], links: Links) -> list[ProbeStep]:
        allow_hosts(len(hosts))
        return soak_steps(hosts, links, load, round(total_s / round_s), seed)

    plan = ProbePlan(site.hosts(), SOAK_PROGRAMS, make_steps)
    choices = {"seconds": load.seconds, "streams": streams, "seed": seed}
    probed = site.probe(plan, probe="soak", total_s=round(total_s), **choices)
    code = _print(probed, [soak_page.render])
    return code or int(bool(judge_soak(probed).faults))


@probe_group.command("path")
@on_site
@click.option(
    "--rate",
    metavar="RATE",
    help="The rate that every path should carry, such as 2.5gbit; also send UDP at 25 to 100 % of it.",
)
@click.option(
    "--max-loss",
    type=FloatRange(0, 100),
    default=0.1,
    show_default=True,
    help="For --rate: percent of packets that a step may lose.",
)
@click.option(
    "--max-delay",
    type=FloatRange(0, min_open=True),
    metavar="MS",
    help="For --rate: the p99 round trip of a small message that a step may have.  [default: any]",
)
@seconds_option
@streams_option
@port_option
@with_load
def path_command(
    site: Site,
    load: Load,
    *,
    rate: str | None,
    max_loss: float,
    max_delay: float | None,
) -> int:
    """Measure what TCP makes of each path (RFC 6349), and steps of UDP up to an expected rate (Y.1564)."""
    rate_bit_s = None if rate is None else parse_rate("--rate", rate, MAX_BIT_S)
    if rate_bit_s is None and max_delay is not None:
        raise BadInput("--max-delay needs --rate")
    plan = ProbePlan(
        site.hosts(),
        PATH_PROGRAMS if rate_bit_s is None else (*PATH_PROGRAMS, *STEP_PROGRAMS),
        lambda hosts, links: path_steps(hosts, links, load, rate_bit_s),
    )
    limits = {"max_loss_percent": max_loss, "max_delay_ms": max_delay or ""}
    expected = {} if rate_bit_s is None else {"rate_bit_s": rate_bit_s, **limits}
    probed = site.probe(plan, probe="path", seconds=load.seconds, streams=load.streams, **expected)
    return _print(probed, [path_page.render]) or int(bool(path_page.failed_steps(probed)))


@probe_group.command("all")
@on_site
@seconds_option
@streams_option
@with_mesh
@message_option
@sizes_option
@click.option(
    "--no-latency", is_flag=True, help="Do not measure latency, which needs sockperf on every host."
)
@port_option
@with_load
def all_command(
    site: Site,
    load: Load,
    *,
    mesh: Mesh,
    message_bytes: int,
    sizes: str | None,
    no_latency: bool,
) -> int:
    """Measure links, path MTUs, transfers and latencies: everything that the gate judges."""
    plan = all_probes(
        site.hosts(),
        load,
        mesh,
        message_bytes=None if no_latency else message_bytes,
        sizes=_packet_sizes(sizes),
    )
    probed = site.probe(plan, probe="all", **_parameters(mesh, load))
    pages = [link_page.render, mtu_page.render, mesh_page.render]
    pages += [] if no_latency else [latency_page.render]
    return _print(probed, pages)


@contextmanager
def _journal(site: Site) -> Iterator[Journal]:
    """Yield the journal of MTUs that are set; first put back what a power cut may have left in it."""
    with open_journal(site.directory / "set-mtu.journal") as journal:
        for change in put_back(journal):
            say(f"put back: {change}: {change.before}")
        yield journal


def _packet_sizes(text: str | None) -> list[int]:
    """Return packet sizes in bytes, in ascending order. Raise BadInput that quotes the wrong one."""
    sizes = []
    for part in text.split(",") if text else ():
        if not (part.strip().isdecimal() and MIN_MTU <= int(part) <= MAX_MTU):
            raise BadInput(
                f"--sizes: {part!r} is not from {MIN_MTU} to {MAX_MTU}; write 1500,3000,9000"
            )
        sizes.append(int(part))
    return sorted(set(sizes))


def _print(probed: RecordedProbes, pages: Sequence[Callable[[RecordedProbes], str]]) -> int:
    """Print what was found, and return the exit code: 1 if a host was excluded or a measurement failed."""
    notes = [visible(line) for line in remarks(probed)]
    tables = [page(probed) for page in pages]
    show("\n".join(["\n".join(notes) + "\n", *tables] if notes else tables))
    if probed.source:
        show(f"\n{visible(probed.source)}")
    if probed.ending is Ending.INTERRUPTED:
        return INTERRUPTED
    # That a host's processors count nothing for us is no fault of the network, and is printed.
    failed = [each for each in probed.measurements if each.error is not None]
    return int(
        bool(probed.excluded_hosts) or any(each.metric != HARDWARE_COUNTERS.name for each in failed)
    )
