"""A sweep of packet sizes: what transfers carry, and the processor time of both hosts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from harness.base.words import join_names
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import PACKET_CPU, PACKET_GOODPUT, packet_case
from harness.model.probe import Measurement
from harness.probes.path_mtu import SetMtu, await_paths, send_pings
from harness.probes.plan import ProbeStep, round_robin_round
from harness.probes.tools.ping import Echo, PingReply
from harness.probes.traffic import Flow, Load, Transfer, run_flows

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
    flows = [Flow(a, b) for a, b in round_robin_round(hosts, 0)]
    pairs = [(flow, Flow(flow.receiver, flow.sender)) for flow in flows]
    steps = []
    for size in sizes:
        for is_both_ways in (False, True) if both_ways else (False,):
            case = packet_case(size, both_ways=is_both_ways, mtu_is_set=set_mtu is not None)
            ways = pairs if is_both_ways else [pair[:1] for pair in pairs]
            measure = partial(_measure, ways, size, case, load, set_mtu)
            what = f"mtu: {case}, {join_names(flows)}"
            steps.append(ProbeStep(what, load.total_s + SET_UP_S, measure))
    return steps


def _measure(
    ways: Sequence[Sequence[Flow]], size: int, case: str, load: Load, set_mtu: SetMtu | None
) -> Iterator[Measurement]:
    """Measure one size between all pairs; `ways` are the flows of each pair, one or two."""
    if set_mtu is None:
        yield from _measure_ways(ways, size, case, replace(load, packet_bytes=size))
        return
    flows = [flow for of_pair in ways for flow in of_pair]
    try:
        with set_mtu(size):
            await_paths(flows)
            # A list, because nothing must stay set if the reader of the measurements is interrupted.
            found = list(_measure_ways(ways, size, case, load))
    except HostError as error:
        found = [PACKET_GOODPUT.failed(flow.pair, error, case) for flow in flows]
    yield from found


def _measure_ways(
    ways: Sequence[Sequence[Flow]], size: int, case: str, load: Load
) -> Iterator[Measurement]:
    """Measure the pairs whose every flow carries the packets: one flow alone is not both ways."""
    answers = send_pings({flow: size for of_pair in ways for flow in of_pair})
    usable = []
    for of_pair in ways:
        error = next(filter(None, (_refusal(flow, answers[flow], size) for flow in of_pair)), None)
        if error is None:
            usable.append(of_pair)
        else:
            yield from (PACKET_GOODPUT.failed(flow.pair, error, case) for flow in of_pair)
    transfers = iter(run_flows([flow for of_pair in usable for flow in of_pair], load))
    for of_pair in usable:
        outcomes = [(flow, next(transfers)) for flow in of_pair]
        is_whole = all(isinstance(outcome, Transfer) for _, outcome in outcomes)
        for flow, outcome in outcomes:
            if isinstance(outcome, HostError):
                yield PACKET_GOODPUT.failed(flow.pair, outcome, case)
                continue
            yield PACKET_GOODPUT.of(flow.pair, outcome.report.goodput_bit_s, case)
            # A host works for what it sends and for what it receives.
            for metric, cpu in zip(PACKET_CPU, outcome.cpus, strict=True):
                if is_whole and cpu is not None:
                    yield metric.of(flow.pair, cpu.busy_percent, case)


def _refusal(flow: Flow, answer: PingReply | HostError, size: int) -> str | None:
    if isinstance(answer, HostError):
        return str(answer)
    if answer == PingReply(Echo.ARRIVED):
        return None
    if answer.is_from_sender:
        why = f"by its MTU or by what it remembers: ip route get {flow.receiver.address}"
        return f"{flow}: {flow.sender} does not send packets of {size} bytes ({why})"
    return f"{flow}: the path does not carry packets of {size} bytes"
