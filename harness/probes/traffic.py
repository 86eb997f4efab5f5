"""iperf3 transfers between hosts, any number at the same time."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from harness.base.items import known
from harness.base.words import join_names
from harness.hosts.parallelism import MAX_OPENING
from harness.hosts.remote_process import ClientServerRun, RemoteProcesses
from harness.hosts.transports.host import Host, HostError
from harness.model.probe import ARROW, BOTH_WAYS_ARROW, Pair
from harness.probes.tools import cpu, iperf3
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.tools.numbers import ip_header_bytes

T = TypeVar("T")

FIRST_PORT = 5201
TCP_HEADER_BYTES = 20
"""The header of TCP without options (RFC 9293)."""
OMITTED_S = 1
"""Not measured: TCP's slow start, and the burst that a full token bucket lets through."""
GRACE_S = 20.0
"""Extra seconds that a program may take to connect and to report."""


@dataclass(frozen=True)
class Flow:
    """Traffic from one host to another."""

    sender: Host
    receiver: Host

    @property
    def ends(self) -> tuple[Host, Host]:
        """The sender and the receiver."""
        return self.sender, self.receiver

    @property
    def pair(self) -> Pair:
        """The names of the sender and the receiver."""
        return self.sender.name, self.receiver.name

    def __str__(self) -> str:
        return ARROW.join(self.pair)


def flows_of(pairs: Iterable[tuple[Host, Host]]) -> list[Flow]:
    """Return a flow for each pair, from its first host to its second."""
    return [Flow(a, b) for a, b in pairs]


def flows_back(flows: Iterable[Flow]) -> list[Flow]:
    """Return the flows in the other direction."""
    return [Flow(flow.receiver, flow.sender) for flow in flows]


def pair_names(pairs: Iterable[tuple[Host, Host]]) -> str:
    """Return the names of pairs that send both ways: `a <-> b, c <-> d`."""
    return join_names([f"{a}{BOTH_WAYS_ARROW}{b}" for a, b in pairs])


@dataclass(frozen=True)
class Load:
    """How each flow is generated: for `seconds`, by `streams` TCP connections.

    `packet_bytes` is the largest packet, headers included; with None, the MTU is the limit. The first flow
    uses `first_port`, and each other flow the next port.
    """

    seconds: int = 10
    streams: int = 1
    packet_bytes: int | None = None
    first_port: int = FIRST_PORT

    def segment_bytes(self, address: str) -> int | None:
        """Return TCP's maximum segment size to an address, options included; None if the MTU is the limit."""
        if self.packet_bytes is None:
            return None
        return self.packet_bytes - ip_header_bytes(address) - TCP_HEADER_BYTES

    @property
    def total_s(self) -> int:
        """Seconds from a flow's start to its end."""
        return OMITTED_S + self.seconds


@dataclass(frozen=True)
class Transfer:
    """The report of a flow, and the processor time of sender and receiver, None where it is unknown."""

    report: Report
    cpus: Sequence[Cpu | None]

    @property
    def known_cpus(self) -> list[Cpu]:
        """The processor times that are known."""
        return known(self.cpus)


Outcomes = Mapping[Flow, Transfer | HostError]
"""The transfer of each flow, or why it failed, in the order of the flows."""


def run_flows(flows: Sequence[Flow], load: Load) -> Outcomes:
    """Run all flows at the same time, and return their outcomes."""
    with RemoteProcesses() as remotes:
        meters = {}
        for flow in flows:
            for host in flow.ends:
                if host not in meters:
                    meters[host] = remotes.add(host, cpu.meter(OMITTED_S, load.seconds))
        runs = open_flows(remotes, flows, load)
        for meter in meters.values():
            meter.start()
        reports = finish(runs)
        cpus = {}
        for host, meter in meters.items():
            cpus[host] = meter.finish_parsed(
                lambda done: cpu.read_meter(done.output), load.total_s + GRACE_S
            )
    return {
        flow: _transfer(flow, report, cpus) for flow, report in zip(flows, reports, strict=True)
    }


def _transfer(
    flow: Flow, report: Report | HostError, cpus: Mapping[Host, Cpu | HostError]
) -> Transfer | HostError:
    if isinstance(report, HostError):
        return report
    own: list[Cpu | None] = []
    for host in flow.ends:
        found = cpus[host]
        own.append(found if isinstance(found, Cpu) else None)
    return Transfer(report, own)


def open_flows(
    remotes: RemoteProcesses, flows: Sequence[Flow], load: Load
) -> list[ClientServerRun[Report]]:
    """Start a server for each flow, and return the runs, whose clients wait for their start."""

    def make(flow: Flow, port: int) -> ClientServerRun[Report]:
        address = flow.receiver.address
        client = iperf3.client(
            address,
            port,
            seconds=load.seconds,
            omitted_s=OMITTED_S,
            streams=load.streams,
            mss_bytes=load.segment_bytes(address),
        )
        return ClientServerRun(
            remotes,
            server=(flow.receiver, iperf3.server(address, port)),
            client=(flow.sender, client),
            listening=iperf3.LISTENING,
            parse=lambda done: iperf3.read_report(done.output),
            timeout_s=load.total_s + GRACE_S,
            max_bytes=iperf3.report_bytes(load.total_s, load.streams),
        )

    return open_runs(flows, load.first_port, make)


def open_runs(
    flows: Sequence[Flow], first_port: int, make: Callable[[Flow, int], ClientServerRun[T]]
) -> list[ClientServerRun[T]]:
    """Open a run for each flow, at consecutive ports, few at a time."""
    runs: list[ClientServerRun[T]] = []
    for batch in opening_batches(flows):
        opening = [make(flow, port) for port, flow in enumerate(batch, first_port + len(runs))]
        ClientServerRun.open(opening)
        runs += opening
    return runs


def finish(runs: Sequence[ClientServerRun[T]]) -> list[T | HostError]:
    """Start the clients of all runs, wait for their ends, and return what each found, or why it failed."""
    for run in runs:
        run.start()
    return [run.finish() for run in runs]


def opening_batches(flows: Sequence[Flow]) -> list[list[Flow]]:
    """Cut flows into batches in which no host takes part in more than MAX_OPENING."""
    batches: list[list[Flow]] = []
    opening: Counter[str] = Counter()
    for flow in flows:
        names = [host.name for host in flow.ends]
        if not batches or any(opening[name] >= MAX_OPENING for name in names):
            batches.append([])
            opening.clear()
        batches[-1].append(flow)
        opening.update(names)
    return batches
