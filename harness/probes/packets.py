"""What packets of some sizes carry and cost: goodput, and processor time, instructions and cycles per byte.

Pairs of hosts that have no host in common are measured at the same time, one way and, if wanted, both ways.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import (
    CYCLES,
    HARDWARE_COUNTERS,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
    Sided,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import Measurement
from harness.probes.path_mtu import SetMtu, await_paths, send_pings
from harness.probes.plan import ProbeStep, round_robin_round
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.perf import Counters
from harness.probes.tools.ping import Echo, PingReply
from harness.probes.traffic import Flow, Load, Transfer, run_flows
from harness.words import join_names

PACKET_PROGRAMS = ("iperf3",)
IP_AND_TCP_BYTES = 20 + 20  # the IPv4 and the TCP header without options (RFC 791, RFC 9293)
SET_UP_S = 2.0


def packet_size_steps(
    hosts: Sequence[Host],
    sizes: Sequence[int],
    load: Load,
    *,
    both_ways: bool = False,
    set_mtu: SetMtu | None = None,
) -> list[ProbeStep]:
    """Measure what packets of each size carry and cost, between disjoint pairs of the hosts.

    Without `set_mtu`, TCP's maximum segment size limits the packets, and no interface is changed.
    """
    sweep = _Sweep(load, set_mtu)
    flows = [Flow(a, b) for a, b in round_robin_round(hosts, 0)]
    cases = [
        PacketCase(size, both_ways=both, mtu_is_set=set_mtu is not None)
        for size in sizes
        for both in ([False, True] if both_ways else [False])
    ]
    return [
        ProbeStep(
            f"mtu: {case}, {join_names(flows)}",
            load.total_s + SET_UP_S,
            partial(sweep.measure, flows, case),
        )
        for case in cases
    ]


class _Sweep:
    """Measures cases one after the other. A host that cannot count instructions is asked only once."""

    def __init__(self, load: Load, set_mtu: SetMtu | None) -> None:
        self._load = load
        self._set_mtu: SetMtu = set_mtu or (lambda _: nullcontext())
        self._cannot_count: set[str] = set()

    def measure(self, forward: Sequence[Flow], case: PacketCase) -> Iterator[Measurement]:
        """Measure the flows, and with `both_ways` those back at the same time."""
        back = {flow: Flow(flow.receiver, flow.sender) for flow in forward}
        ways = [[flow, back[flow]] if case.both_ways else [flow] for flow in forward]
        try:
            with self._set_mtu(case.packet_bytes):
                if case.mtu_is_set:
                    await_paths([flow for flows in ways for flow in flows])
                # Whoever reads the measurements may be interrupted, and nothing must stay set then.
                found = list(self._measure_ways(ways, case))
        except HostError as error:
            found = [PACKET_GOODPUT.failed(str(flow), error, str(case)) for flow in forward]
        yield from found

    def _measure_ways(
        self, ways: Sequence[Sequence[Flow]], case: PacketCase
    ) -> Iterator[Measurement]:
        """Measure the ways whose every flow carries the packets: one alone is not both ways."""
        answers = send_pings({flow: case.packet_bytes for flows in ways for flow in flows})
        usable: list[Sequence[Flow]] = []
        for flows in ways:
            refusing = [flow for flow in flows if answers[flow] != PingReply(Echo.ARRIVED)]
            if refusing:
                answer, size = answers[refusing[0]], case.packet_bytes
                error = (
                    str(answer)
                    if isinstance(answer, HostError)
                    else f"{refusing[0]}: the path does not carry packets of {size} bytes"
                )
                for flow in flows:
                    yield PACKET_GOODPUT.failed(str(flow), error, str(case))
            else:
                usable.append(flows)
        together = [flow for flows in usable for flow in flows]
        hosts = {host.name for flow in together for host in flow.ends}
        mss_bytes = None if case.mtu_is_set else case.packet_bytes - IP_AND_TCP_BYTES
        load = replace(self._load, mss_bytes=mss_bytes)
        transfers = iter(run_flows(together, load, hosts - self._cannot_count))
        for flows in usable:
            yield from self._way({flow: next(transfers) for flow in flows}, str(case))

    def _way(
        self, transfers: Mapping[Flow, Transfer | HostError], case: str
    ) -> Iterator[Measurement]:
        """Yield what one pair of hosts carried. A host works for what it sends and for what it receives."""
        for flow, transfer in transfers.items():
            if isinstance(transfer, HostError):
                yield PACKET_GOODPUT.failed(str(flow), transfer, case)
            else:
                yield PACKET_GOODPUT.of(str(flow), transfer.report.goodput_bit_s, case)
        done = {flow: each for flow, each in transfers.items() if isinstance(each, Transfer)}
        if len(done) < len(transfers):
            return
        carried_bit_s = sum(transfer.report.goodput_bit_s for transfer in done.values())
        for flow, transfer in done.items():
            ends = zip(flow.ends, transfer.cpus, transfer.counters, strict=True)
            for end, (host, cpu, counters) in enumerate(ends):
                for metrics, value in _costs(carried_bit_s, cpu, counters):
                    yield metrics[end].of(str(flow), value, case)
                if isinstance(counters, HostError) and host.name not in self._cannot_count:
                    self._cannot_count.add(host.name)
                    yield HARDWARE_COUNTERS.failed(host.name, counters)


def _costs(
    carried_bit_s: float, cpu: Cpu | None, counters: Counters | HostError | None
) -> Iterator[tuple[Sided, float]]:
    if cpu is not None:
        yield PACKET_CPU, cpu.busy_percent
        yield PACKET_COST, cpu.busy_percent / 100 * cpu.processors / (carried_bit_s / 1e9)
    if isinstance(counters, Counters):
        yield INSTRUCTIONS, counters.instructions_per_s / (carried_bit_s / 8)
        yield CYCLES, counters.cycles_per_s / (carried_bit_s / 8)
