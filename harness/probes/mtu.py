"""The MTU probe: the largest packet that each path carries, and transfers with packets of some sizes."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from harness.analysis.network.measured import pair_matrix
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.link import COUNTED_BYTES, MIN_IPV6_MTU
from harness.model.network_metrics import MTU, PATH_MTU
from harness.model.probe import RecordedProbes
from harness.present.blocks import Block, Heading
from harness.present.probes.mesh import pair_table
from harness.probes.kind import ProbeKind
from harness.probes.options import (
    Site,
    both_ways_option,
    packet_sizes,
    port_option,
    seconds_option,
    sizes_option,
)
from harness.probes.packets import PACKET_PROGRAMS, PACKET_SIZES, packet_size_steps
from harness.probes.path_mtu import (
    MTU_PROGRAMS,
    SetMtu,
    largest_frame_steps,
    path_mtu_findings,
    path_mtu_steps,
)
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.traffic import Load
from harness.settings.in_force import NotPutBack, in_force, put_back
from harness.settings.journal import Journal, open_journal
from harness.settings.simple import mtu


def mtu_of_all(hosts: Sequence[Host], links: Mapping[str, HostLink], journal: Journal) -> SetMtu:
    """Return how to set the MTU of the interface of each host that leads to the others, and put it back.

    The returned context raises HostError, with nothing set, if a host's interface is unknown or refuses the
    MTU. It raises NotPutBack if the MTU could not be put back.
    """

    @contextmanager
    def set_mtu(mtu_bytes: int) -> Iterator[None]:
        for host in hosts:
            if host.name not in links:
                raise HostError(f"{host}: its interface is unknown, so its MTU cannot be set")
        wanted = {host: [mtu(links[host.name].device, mtu_bytes)] for host in hosts}
        with in_force(wanted, journal):
            yield

    return set_mtu


@contextmanager
def _journal(directory: Path, hosts: Sequence[Host]) -> Iterator[Journal]:
    """Put back the MTUs that a power cut left in the journal of set MTUs, then yield the journal."""
    with open_journal(directory / "set-mtu.journal") as journal:
        try:
            for change in put_back(journal, hosts, lambda device, size: [mtu(device, size)]):
                say(f"put back: {change}: {change.before}")
            yield journal
        except NotPutBack as error:
            raise NotPutBack(
                f"{error}; the same command puts it back before it measures"
            ) from error


def _plan(
    site: Site, *, sizes: str | None, both_ways: bool, mtu_is_set: bool, seconds: int, port: int
) -> ProbePlan:
    wanted = packet_sizes(sizes)
    load = Load(seconds, first_port=port)
    for option, given in (("--bidir", both_ways), ("--set-mtu", mtu_is_set)):
        if given and not wanted:
            raise BadInput(f"{option} needs sizes of packets: --sizes 1500,9000")
    hosts = site.hosts()
    context = ExitStack()
    journal = context.enter_context(_journal(site.directory, hosts)) if mtu_is_set else None

    def make_steps(usable: Sequence[Host], links: Links) -> list[ProbeStep]:
        steps = path_mtu_steps(usable, links)
        set_mtu = None
        if journal:
            _check_ipv6(usable, min(wanted))
            set_mtu = mtu_of_all(usable, links, journal)
            steps += largest_frame_steps(usable, links, wanted[-1], set_mtu)
        return steps + packet_size_steps(usable, wanted, load, both_ways=both_ways, set_mtu=set_mtu)

    return ProbePlan(
        hosts,
        MTU_PROGRAMS + PACKET_PROGRAMS if wanted else MTU_PROGRAMS,
        make_steps,
        parameters={"seconds": seconds, "sizes": sizes or "", "set_mtu": mtu_is_set},
        context=context,
    )


def _check_ipv6(hosts: Sequence[Host], size: int) -> None:
    if size < MIN_IPV6_MTU and any(":" in host.address for host in hosts):
        raise BadInput(
            f"--sizes {size}: with --set-mtu, Linux would take away the IPv6 addresses of an "
            f"interface whose MTU is less than {MIN_IPV6_MTU}"
        )


def path_sections(probed: RecordedProbes) -> Iterator[Block]:
    """Yield the path MTUs, then the largest frames for each MTU that was set to look for them."""
    measurements = [each for each in probed.measurements if each.metric == PATH_MTU.name]
    paths = pair_matrix(measurements, PATH_MTU)
    if paths.hosts:
        yield Heading("path MTU in bytes; rows send, columns receive")
        frame = f"the frame is {COUNTED_BYTES} bytes larger: it has the Ethernet header"
        yield replace(pair_table(paths, "{:.0f}".format), remarks=[frame])
    for case in dict.fromkeys(each.case for each in measurements):
        if case:
            frames = pair_matrix(measurements, PATH_MTU, case)
            title = f"largest frame in bytes, Ethernet header included, with {case}"
            yield Heading(f"{title}; rows send, columns receive")
            yield pair_table(frames, lambda value: f"{value + COUNTED_BYTES:.0f}")


KIND = ProbeKind(
    MTU,
    "Find the largest packet that every path carries, and measure transfers with packets of some sizes.",
    _plan,
    options=(
        sizes_option,
        both_ways_option,
        click.option(
            "--set-mtu",
            "mtu_is_set",
            is_flag=True,
            help="Set the MTU of the interfaces to each of the --sizes, which needs root, and put it back. "
            "[default: limit TCP's segments, and change no interface]",
        ),
        seconds_option,
        port_option,
    ),
    measures=(MTU,),
    sections=path_sections,
    tables=(PACKET_SIZES,),
    judge=path_mtu_findings,
)
