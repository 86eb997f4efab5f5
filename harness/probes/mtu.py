"""The MTU probe: the largest packet that each path carries, and what packets of some sizes cost."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.model.link import MAX_MTU, MIN_MTU, TYPICAL_MTU
from harness.model.network_metrics import (
    PACKET_GOODPUT,
    PATH_MTU,
    RECEIVER_PACKET_COST,
    SENDER_PACKET_COST,
    VANISHED_PACKET,
)
from harness.model.probe import Measurement, Metric
from harness.probes.plan import Links, ProbeStep, round_robin
from harness.probes.remote_process import CompletedCommand, parse_completed, run_all
from harness.probes.tools import ping
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.ping import Echo, PingReply
from harness.probes.traffic import Flow, Load, Transfer, run_flows
from harness.probes.transports.host import Host, HostError
from harness.terminal import join_names

MTU_PROGRAMS = ("ip", "ping")
VLAN_TAG_BYTES = 4  # IEEE 802.1Q
IP_AND_TCP_BYTES = 20 + 20  # the IPv4 and the TCP header without options (RFC 791, RFC 9293)
PATH_S, SET_UP_S = 1.0, 2.0

Search = Generator[int, PingReply, "PathMtu | None"]
"""Yields packet sizes, is sent what became of each packet, and returns what it found."""


@dataclass(frozen=True)
class PathMtu:
    """The size of the largest packet that arrives, and of the smallest that vanished, None if none did."""

    mtu_bytes: int
    vanished_bytes: int | None = None


def search_path_mtu(own_mtu: int, likely: Iterable[int] = ()) -> Search:
    """Search for the largest size that arrives, up to the sender's own MTU; None if no packet arrives.

    The likely sizes are tried first, so that most paths take no more than three packets.
    """
    largest = max(own_mtu, MIN_MTU)
    guesses = [largest, *sorted(set(likely), reverse=True)]
    arrived, failed = 0, largest + 1
    vanished: int | None = None
    while failed - arrived > 1:
        size = _next_size(arrived, failed, guesses)
        answer = yield size
        if answer.echo is Echo.ARRIVED:
            arrived = size
            continue
        if size == MIN_MTU:
            return None
        failed = size
        if answer.echo is Echo.LOST:
            vanished = size
        elif answer.mtu_bytes is not None:
            guesses.insert(0, answer.mtu_bytes)
    return PathMtu(arrived, vanished)


def _next_size(arrived: int, failed: int, guesses: list[int]) -> int:
    """Return the next guess between the bounds, and later the size above it; without one, the middle."""
    while guesses:
        guess = guesses.pop(0)
        if max(arrived, MIN_MTU - 1) < guess < failed:
            if guess != arrived + 1:
                guesses.insert(0, guess + 1)
            return guess
    return (arrived + failed) // 2 if arrived else MIN_MTU


def path_mtu_steps(hosts: Sequence[Host], links: Links) -> list[ProbeStep]:
    """Find the path MTU of every pair, in both directions."""
    return [
        ProbeStep(
            f"mtu: {join_names([f'{a} <-> {b}' for a, b in pairs])}",
            PATH_S,
            partial(
                _measure_paths, [Flow(*ends) for a, b in pairs for ends in ((a, b), (b, a))], links
            ),
        )
        for pairs in round_robin(hosts)
    ]


def packet_size_steps(hosts: Sequence[Host], sizes: Sequence[int], load: Load) -> list[ProbeStep]:
    """Measure what packets of each size carry and cost, between disjoint pairs of the hosts.

    The size is set through TCP's maximum segment size; no interface is changed.
    """
    flows = [Flow(a, b) for a, b in round_robin(hosts)[0]]
    return [
        ProbeStep(
            f"mtu: packets of {size} bytes, {join_names(flows)}",
            load.total_s + SET_UP_S,
            partial(
                _measure_packets, flows, size, replace(load, mss_bytes=size - IP_AND_TCP_BYTES)
            ),
        )
        for size in sizes
    ]


def _measure_paths(flows: Sequence[Flow], links: Links) -> Iterator[Measurement]:
    searches = {flow: _search(flow, links) for flow in flows}
    sizes = {flow: next(search) for flow, search in searches.items()}
    while sizes:
        answers = _ping(sizes)
        sizes = {}
        for flow, answer in answers.items():
            if isinstance(answer, HostError):
                yield PATH_MTU.failed(str(flow), answer)
                continue
            try:
                sizes[flow] = searches[flow].send(answer)
            except StopIteration as end:
                yield from _path_measurements(str(flow), end.value)


def _path_measurements(subject: str, path: PathMtu | None) -> Iterator[Measurement]:
    if path is None:
        yield PATH_MTU.failed(subject, f"{subject}: pings are not answered")
        return
    yield PATH_MTU.of(subject, path.mtu_bytes)
    if path.vanished_bytes is not None:
        yield VANISHED_PACKET.of(subject, path.vanished_bytes)


def _search(flow: Flow, links: Links) -> Search:
    """Search with the typical MTU and the receiver's as likely, each also with room for a VLAN tag."""
    own, peer = (links.get(host.name) for host in (flow.sender, flow.receiver))
    likely = [TYPICAL_MTU, *([peer.mtu_bytes] if peer and peer.mtu_bytes else [])]
    sizes = [mtu + room for mtu in likely for room in (0, VLAN_TAG_BYTES)]
    return search_path_mtu((own and own.mtu_bytes) or MAX_MTU, sizes)


def _ping(sizes: Mapping[Flow, int]) -> dict[Flow, PingReply | HostError]:
    """Send a packet of the given size along each flow, and return what became of it."""
    commands = [
        (flow.sender, ping.command(flow.receiver.address, size)) for flow, size in sizes.items()
    ]
    return {
        flow: parse_completed(flow, completed, _read_answer)
        for flow, completed in zip(sizes, run_all(commands), strict=True)
    }


def _read_answer(completed: CompletedCommand) -> PingReply:
    return ping.read_answer(completed.output, completed.errors)


def _measure_packets(flows: Sequence[Flow], size: int, load: Load) -> Iterator[Measurement]:
    case = f"packets of {size} bytes"
    answers = _ping(dict.fromkeys(flows, size))
    carrying = [flow for flow in flows if answers[flow] == PingReply(Echo.ARRIVED)]
    for flow in flows:
        if flow not in carrying:
            yield PACKET_GOODPUT.failed(str(flow), f"{flow}: the path does not carry {case}", case)
    for flow, transfer in zip(carrying, run_flows(carrying, load), strict=True):
        if isinstance(transfer, HostError):
            yield PACKET_GOODPUT.failed(str(flow), transfer, case)
        else:
            yield from _packet_measurements(str(flow), transfer, case)


def _packet_measurements(subject: str, transfer: Transfer, case: str) -> Iterator[Measurement]:
    goodput = transfer.report.goodput_bit_s
    yield PACKET_GOODPUT.of(subject, goodput, case)
    cpus: Mapping[Metric, Cpu | None] = {
        SENDER_PACKET_COST: transfer.sender_cpu,
        RECEIVER_PACKET_COST: transfer.receiver_cpu,
    }
    for metric, cpu in cpus.items():
        if cpu is not None:
            busy_processors = cpu.busy_percent / 100 * cpu.processors
            yield metric.of(subject, busy_processors / (goodput / 1e9), case)
