"""The MTU probe: the largest packet that each path carries, and what packets of some size cost."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from harness.model.interface import HostLink
from harness.model.link import MAX_MTU, TYPICAL_MTU
from harness.model.network_metrics import (
    PACKET_GOODPUT,
    PATH_MTU,
    RECEIVER_PACKET_COST,
    SENDER_PACKET_COST,
    VANISHED_PACKET,
)
from harness.model.probe import Measurement, Metric
from harness.probes.plan import ProbeStep, listed, rounds
from harness.probes.remote_process import CompletedCommand, parse_answer, run_all
from harness.probes.tools import ping
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.ping import Answer, Echo
from harness.probes.traffic import Flow, Load, Transfer, carry
from harness.probes.transports.host import Host, HostError

LEAST_BYTES = 576
VLAN_TAG_BYTES = 4
PATH_S, SETTING_UP_S = 1.0, 2.0
IP_AND_TCP_BYTES = 40

Search = Generator[int, Answer, "PathMtu | None"]
"""Yields sizes of packets, is sent what became of them, and returns what it found."""


@dataclass(frozen=True)
class PathMtu:
    """The largest packet that arrives. `vanished_bytes` is the least that was seen to vanish, if any."""

    mtu_bytes: int
    vanished_bytes: int | None = None


def search(own_mtu: int, likely: Sequence[int] = ()) -> Search:
    """Find the largest size up to the sender's own MTU that arrives; None if not even small ones do.

    Asks for the likely sizes first, so that usual paths take a few packets.
    """
    most = max(own_mtu, LEAST_BYTES)
    guesses = [most, *sorted(set(likely), reverse=True)]
    arrived, failed = 0, most + 1
    vanished: int | None = None
    while failed - arrived > 1:
        size = _next_size(arrived, failed, guesses)
        answer = yield size
        if answer.echo is Echo.ARRIVED:
            arrived = size
            continue
        if size == LEAST_BYTES:
            return None
        failed = size
        if answer.echo is Echo.LOST:
            vanished = size
        elif answer.mtu_bytes is not None:
            guesses.insert(0, answer.mtu_bytes)
    return PathMtu(arrived, vanished)


def _next_size(arrived: int, failed: int, guesses: list[int]) -> int:
    """A guess that would tell something, and after it the next size above; or else the middle."""
    while guesses:
        guess = guesses.pop(0)
        if max(arrived, LEAST_BYTES - 1) < guess < failed:
            if guess != arrived + 1:
                guesses.insert(0, guess + 1)
            return guess
    return (arrived + failed) // 2 if arrived else LEAST_BYTES


def paths(hosts: Sequence[Host], links: Mapping[str, HostLink]) -> list[ProbeStep]:
    """The path MTU of every pair, both ways."""
    return [
        ProbeStep(
            f"mtu: {listed([f'{a} <-> {b}' for a, b in pairs])}",
            PATH_S,
            partial(_paths, [Flow(*ends) for a, b in pairs for ends in ((a, b), (b, a))], links),
        )
        for pairs in rounds(hosts)
    ]


def sweep(hosts: Sequence[Host], sizes: Sequence[int], load: Load) -> list[ProbeStep]:
    """What packets of each size carry and cost, between disjoint pairs of the hosts.

    The size is that of TCP's segments, and no interface is touched.
    """
    flows = [Flow(a, b) for a, b in rounds(hosts)[0]]
    return [
        ProbeStep(
            f"mtu: packets of {size} bytes, {listed(flows)}",
            load.total_s + SETTING_UP_S,
            partial(_packets, flows, size, replace(load, mss_bytes=size - IP_AND_TCP_BYTES)),
        )
        for size in sizes
    ]


def _paths(flows: Sequence[Flow], links: Mapping[str, HostLink]) -> Iterator[Measurement]:
    searches = {flow: search(_own_mtu(flow, links), _likely(flow, links)) for flow in flows}
    asked = {flow: next(one) for flow, one in searches.items()}
    while asked:
        answers = _pinged(asked)
        asked = {}
        for flow, answer in answers.items():
            if isinstance(answer, HostError):
                yield PATH_MTU.failed(str(flow), answer)
                continue
            try:
                asked[flow] = searches[flow].send(answer)
            except StopIteration as end:
                yield from _found(str(flow), end.value)


def _found(subject: str, path: PathMtu | None) -> Iterator[Measurement]:
    if path is None:
        yield PATH_MTU.failed(subject, f"{subject}: pings are not answered")
        return
    yield PATH_MTU.of(subject, path.mtu_bytes)
    if path.vanished_bytes is not None:
        yield VANISHED_PACKET.of(subject, path.vanished_bytes)


def _own_mtu(flow: Flow, links: Mapping[str, HostLink]) -> int:
    link = links.get(flow.sender.name)
    return (link and link.mtu_bytes) or MAX_MTU


def _likely(flow: Flow, links: Mapping[str, HostLink]) -> list[int]:
    """The usual MTU and the receiver's; either may have room for a VLAN's tag, whether it is used or not."""
    peer = links.get(flow.receiver.name)
    likely = [TYPICAL_MTU, *([peer.mtu_bytes] if peer and peer.mtu_bytes else [])]
    return [mtu + room for mtu in likely for room in (0, VLAN_TAG_BYTES)]


def _pinged(sizes: Mapping[Flow, int]) -> dict[Flow, Answer | HostError]:
    questions = [
        (flow.sender, ping.command(flow.receiver.address, size)) for flow, size in sizes.items()
    ]
    ended = zip(sizes, run_all(questions), strict=True)
    return {flow: parse_answer(flow, answer, _read_answer) for flow, answer in ended}


def _read_answer(ended: CompletedCommand) -> Answer:
    return ping.read_answer(ended.output, ended.errors)


def _packets(flows: Sequence[Flow], size: int, load: Load) -> Iterator[Measurement]:
    case = f"packets of {size} bytes"
    arrives = _pinged(dict.fromkeys(flows, size))
    carried = [flow for flow in flows if arrives[flow] == Answer(Echo.ARRIVED)]
    for flow in flows:
        if flow not in carried:
            yield PACKET_GOODPUT.failed(str(flow), f"{flow}: the path does not carry {case}", case)
    for flow, transfer in zip(carried, carry(carried, load), strict=True):
        if isinstance(transfer, HostError):
            yield PACKET_GOODPUT.failed(str(flow), transfer, case)
        else:
            yield from _costs(str(flow), transfer, case)


def _costs(subject: str, transfer: Transfer, case: str) -> Iterator[Measurement]:
    goodput = transfer.report.goodput_bit_s
    yield PACKET_GOODPUT.of(subject, goodput, case)
    ends: Mapping[Metric, Cpu | None] = {
        SENDER_PACKET_COST: transfer.sender_cpu,
        RECEIVER_PACKET_COST: transfer.receiver_cpu,
    }
    for metric, cpu in ends.items():
        if cpu is not None:
            busy = cpu.busy_percent / 100 * cpu.processors
            yield metric.of(subject, busy / (goodput / 1e9), case)
