"""The MTU probe: the largest packet that each path carries, and a sweep of packet sizes.

The sweep measures what transfers carry, and the processor time of both hosts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from harness.analysis.network.measured import MeasuredCase, measured_cases, pair_matrix
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import join_names
from harness.hosts.transports.host import Host, HostError
from harness.model.interface import HostLink
from harness.model.link import COUNTED_BYTES, MIN_IPV6_MTU
from harness.model.network_metrics import MTU, PACKET_CPU, PACKET_GOODPUT, PATH_MTU, packet_case
from harness.model.probe import Measurement, RecordedProbes
from harness.present.blocks import Block, Heading
from harness.present.probes.columns import Column, MeasurementTable, of_metric
from harness.present.probes.mesh import pair_table
from harness.probes.kind import ProbeKind
from harness.probes.options import (
    NamedHosts,
    both_ways_option,
    packet_sizes,
    port_option,
    seconds_option,
    sizes_option,
)
from harness.probes.path_mtu import (
    MTU_PROGRAMS,
    SetMtu,
    largest_frame_steps,
    path_mtu_findings,
    path_mtu_steps,
    send_pings,
    with_mtu,
)
from harness.probes.plan import Links, ProbePlan, ProbeStep, round_robin_round
from harness.probes.tools.ping import Echo, PingReply
from harness.probes.traffic import Flow, Load, Transfer, flows_back, flows_of, run_flows
from harness.settings.in_force import NotPutBack, in_force, put_back
from harness.settings.journal import Journal, open_journal
from harness.settings.simple import mtu

PACKET_PROGRAMS = ("iperf3",)
SET_UP_S = 2.0


def packet_size_steps(
    hosts: Sequence[Host],
    sizes: Sequence[int],
    load: Load,
    *,
    both_ways: bool = False,
    set_mtu: SetMtu | None = None,
) -> list[ProbeStep]:
    """Measure transfers with packets of each size between disjoint pairs of the hosts.

    Without `set_mtu`, TCP's maximum segment size limits the packets, and no interface is changed.
    """
    flows = flows_of(round_robin_round(hosts, 0))
    names = join_names(flows)
    there = [[flow] for flow in flows]
    back = list(zip(flows, flows_back(flows), strict=True))
    steps = []
    for size in sizes:
        for ways in (there, back) if both_ways else (there,):
            case = packet_case(size, both_ways=ways is back, mtu_is_set=set_mtu is not None)
            measure = partial(_measure, ways, size, case, load, set_mtu)
            steps.append(ProbeStep(f"mtu: {case}, {names}", load.total_s + SET_UP_S, measure))
    return steps


def _measure(
    ways: Sequence[Sequence[Flow]], size: int, case: str, load: Load, set_mtu: SetMtu | None
) -> Iterable[Measurement]:
    """Measure one size between all pairs. `ways` are the flows of each pair, one or two."""
    if set_mtu is None:
        return _measure_ways(ways, size, case, replace(load, packet_bytes=size))
    measure = partial(_measure_ways, ways, size, case, load)
    return with_mtu(set_mtu, size, _flows(ways), PACKET_GOODPUT, case, measure)


def _measure_ways(
    ways: Sequence[Sequence[Flow]], size: int, case: str, load: Load
) -> Iterator[Measurement]:
    """Measure the pairs all of whose flows carry packets of this size.

    If one flow does not, the whole pair fails: the other alone would not be both ways.
    """
    answers = send_pings(dict.fromkeys(_flows(ways), size))
    usable = []
    for of_pair in ways:
        refusals = [_refusal(flow, answers[flow], size) for flow in of_pair]
        error = next(filter(None, refusals), None)
        if error is None:
            usable.append(of_pair)
            continue
        for flow in of_pair:
            yield PACKET_GOODPUT.failed(flow.pair, error, case)
    flows = _flows(usable)
    outcomes = run_flows(flows, load)
    for of_pair in usable:
        is_whole = all(isinstance(outcomes[flow], Transfer) for flow in of_pair)
        for flow in of_pair:
            yield from _measurements(flow, outcomes[flow], case, with_cpus=is_whole)


def _measurements(
    flow: Flow, outcome: Transfer | HostError, case: str, *, with_cpus: bool
) -> Iterator[Measurement]:
    """Yield the goodput of a flow and, `with_cpus`, how busy its hosts were.

    Leave that out if another flow of the pair failed: a host works for both directions.
    """
    if isinstance(outcome, HostError):
        yield PACKET_GOODPUT.failed(flow.pair, outcome, case)
        return
    yield PACKET_GOODPUT.of(flow.pair, outcome.report.goodput_bit_s, case)
    for metric, cpu in zip(PACKET_CPU, outcome.cpus, strict=True):
        if with_cpus and cpu is not None:
            yield metric.of(flow.pair, cpu.busy_percent, case)


def _flows(ways: Sequence[Sequence[Flow]]) -> list[Flow]:
    flows: list[Flow] = []
    for of_pair in ways:
        flows += of_pair
    return flows


def _refusal(flow: Flow, answer: PingReply | HostError, size: int) -> str | None:
    if isinstance(answer, HostError):
        return str(answer)
    if answer == PingReply(Echo.ARRIVED):
        return None
    if answer.is_from_sender:
        why = f"by its MTU or by its memory of the path: ip route get {flow.receiver.address}"
        return f"{flow}: {flow.sender} does not send packets of {size} bytes ({why})"
    return f"{flow}: the path does not carry packets of {size} bytes"


def mtu_of_all(hosts: Sequence[Host], links: Mapping[str, HostLink], journal: Journal) -> SetMtu:
    """Return how to set the MTU of the interface of each host that leads to the others, and put it back.

    The returned context raises HostError, with nothing set, if a host's interface is unknown or refuses the
    MTU. At its end it raises HostError if a host did not keep the MTU, and NotPutBack if the MTU could not be
    put back.
    """

    @contextmanager
    def set_mtu(mtu_bytes: int) -> Iterator[None]:
        for host in hosts:
            if host.name not in links:
                raise HostError(f"{host}: its interface is unknown, so its MTU cannot be set")
        wanted = {host: [mtu(links[host.name].device, mtu_bytes)] for host in hosts}
        with in_force(wanted, journal) as settings:
            yield
            lost = settings.lost()
            if lost:
                raise HostError(f"it did not stay set: {lost}")

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
    site: NamedHosts,
    *,
    sizes: str | None,
    both_ways: bool,
    mtu_is_set: bool,
    seconds: int,
    port: int,
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


def _sizes(probed: RecordedProbes) -> list[MeasuredCase]:
    cases = measured_cases(probed.measurements, MTU)
    return [case for case in cases if PACKET_GOODPUT.name in case.samples]


PACKET_SIZES = MeasurementTable(
    _sizes,
    (
        Column[MeasuredCase]("transfer", lambda row: row.subject),
        Column[MeasuredCase]("", lambda row: row.case),
        Column("goodput Mbit/s", of_metric(PACKET_GOODPUT), ".1f", 1e-6),
        Column("sender CPU", of_metric(PACKET_CPU.sender), ".1f", unit="%"),
        Column("receiver CPU", of_metric(PACKET_CPU.receiver), ".1f", unit="%"),
    ),
    title="goodput of packet sizes; processor time in percent of all processors of a host",
)


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
