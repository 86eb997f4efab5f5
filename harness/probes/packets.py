"""A sweep of packet sizes: what transfers carry, and the processor time of both hosts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from harness.analysis.network.measured import MeasuredCase, measured_cases
from harness.base.words import join_names
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import MTU, PACKET_CPU, PACKET_GOODPUT, packet_case
from harness.model.probe import Measurement, RecordedProbes
from harness.present.probes.columns import Column, ProbeTable, of_metric
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
    there = [[Flow(a, b)] for a, b in round_robin_round(hosts, 0)]
    back = [[flow, Flow(flow.receiver, flow.sender)] for [flow] in there]
    names = join_names([flow for [flow] in there])
    steps = []
    for size in sizes:
        for ways in (there, back) if both_ways else (there,):
            case = packet_case(size, both_ways=ways is back, mtu_is_set=set_mtu is not None)
            measure = partial(_measure, ways, size, case, load, set_mtu)
            steps.append(ProbeStep(f"mtu: {case}, {names}", load.total_s + SET_UP_S, measure))
    return steps


def _measure(
    ways: Sequence[Sequence[Flow]], size: int, case: str, load: Load, set_mtu: SetMtu | None
) -> Iterator[Measurement]:
    """Measure one size between all pairs; `ways` are the flows of each pair, one or two."""
    if set_mtu is None:
        yield from _measure_ways(ways, size, case, replace(load, packet_bytes=size))
        return
    flows = _flows(ways)
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
    """Measure the pairs that carry the packets in all their directions: one flow alone is not both ways."""
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
    outcomes = dict(zip(flows, run_flows(flows, load), strict=True))
    for of_pair in usable:
        is_whole = all(isinstance(outcomes[flow], Transfer) for flow in of_pair)
        for flow in of_pair:
            yield from _measurements(flow, outcomes[flow], case, with_cpus=is_whole)


def _measurements(
    flow: Flow, outcome: Transfer | HostError, case: str, *, with_cpus: bool
) -> Iterator[Measurement]:
    """Yield the goodput of a flow, and its cost: a host works for what it sends and what it receives."""
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


def _sizes(probed: RecordedProbes) -> list[MeasuredCase]:
    cases = measured_cases(probed.measurements, MTU)
    return [case for case in cases if PACKET_GOODPUT.name in case.samples]


PACKET_SIZES = ProbeTable(
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
