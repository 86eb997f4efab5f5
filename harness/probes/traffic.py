"""iperf3 transfers between hosts, any number at the same time."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from harness.hosts.parallelism import MAX_OPENING
from harness.hosts.remote_process import (
    ClientServerRun,
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
)
from harness.hosts.transports.host import Host, HostError
from harness.model.probe import ARROW, Measurement, Metric
from harness.probes.tools import cpu, iperf3, perf
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.tools.perf import Counters

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

FIRST_PORT = 5201
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

    def __str__(self) -> str:
        return ARROW.join(map(str, self.ends))


def flows_both_ways(pairs: Iterable[tuple[Host, Host]]) -> list[Flow]:
    """Return two flows for each pair: there and back."""
    return [Flow(*ends) for a, b in pairs for ends in ((a, b), (b, a))]


@dataclass(frozen=True)
class Load:
    """How each flow is generated: for `seconds`, by `streams` TCP connections.

    `mss_bytes` is the maximum segment size, TCP options included; None is what the MTU allows. The first flow
    uses `first_port`, and each other flow the next port.
    """

    seconds: int = 10
    streams: int = 1
    mss_bytes: int | None = None
    first_port: int = FIRST_PORT

    @property
    def total_s(self) -> int:
        """Seconds from a flow's start to its end."""
        return OMITTED_S + self.seconds


@dataclass(frozen=True)
class Transfer:
    """What a flow carried, and the processor time of sender and receiver, None where it is unknown.

    `began_s` is the start of the measured seconds, on this machine's monotonic clock. The counters are an
    error where they cannot be read, and None where nobody asked for them.
    """

    report: Report
    began_s: float
    cpus: Sequence[Cpu | None] = (None, None)
    counters: Sequence[Counters | HostError | None] = (None, None)


def run_flows(
    flows: Sequence[Flow], load: Load, counting: Collection[str] = ()
) -> list[Transfer | HostError]:
    """Run all flows at the same time, and return each flow's transfer, or why it failed, in order.

    On the hosts whose names are in `counting`, perf counts instructions and cycles meanwhile.
    """
    hosts = {host.name: host for flow in flows for host in flow.ends}
    with RemoteProcesses() as remotes:
        meters = {name: processor_meter(remotes, host, load) for name, host in hosts.items()}
        counters = {
            name: _counter_meter(remotes, host, load)
            for name, host in hosts.items()
            if name in counting
        }
        runs = open_flows(remotes, flows, load)
        all_runs: Sequence[Run[object]] = (*meters.values(), *counters.values(), *runs)
        for run in all_runs:
            run.start()
        transfers = [transfer.finish() for transfer in runs]
        cpus = {name: meter.finish() for name, meter in meters.items()}
        counts = {name: meter.finish() for name, meter in counters.items()}
    return with_processors(flows, transfers, cpus, counts)


class Run(Protocol[T_co]):
    """A program that is ready to be started, and that ends by itself."""

    def start(self) -> None:
        """Start it."""

    def finish(self) -> T_co | HostError:
        """Wait for its end, and return its result, or why there is none."""


@dataclass(frozen=True)
class Meter(Generic[T]):
    """Measures on a host for the seconds of a load, from OMITTED_S after its start on."""

    process: RemoteProcess
    parse: Callable[[CompletedCommand], T]
    timeout_s: float

    def start(self) -> None:
        """Start the clock."""
        self.process.start()

    def finish(self) -> T | HostError:
        """Wait for the end, and return what was measured, or why it is unknown."""
        return self.process.finish_parsed(self.parse, self.timeout_s)


def processor_meter(remotes: RemoteProcesses, host: Host, load: Load) -> Meter[Cpu]:
    """Return a meter of how busy the host is."""
    process = remotes.add(host, cpu.meter(OMITTED_S, load.seconds))
    return Meter(process, lambda done: cpu.read_meter(done.output), load.total_s + GRACE_S)


def _counter_meter(remotes: RemoteProcesses, host: Host, load: Load) -> Meter[Counters]:
    process = remotes.add(host, perf.meter(OMITTED_S, load.seconds))
    return Meter(
        process, lambda done: perf.read_meter(done.errors, load.seconds), load.total_s + GRACE_S
    )


def with_processors(
    flows: Sequence[Flow],
    transfers: Sequence[Transfer | HostError],
    cpus: Mapping[str, Cpu | HostError],
    counts: Mapping[str, Counters | HostError] = MappingProxyType({}),
) -> list[Transfer | HostError]:
    """Return the transfers with what is known of the hosts' processors, by the hosts' names."""
    known = {name: each for name, each in cpus.items() if isinstance(each, Cpu)}
    return [
        transfer
        if isinstance(transfer, HostError)
        else replace(
            transfer,
            cpus=[known.get(host.name) for host in flow.ends],
            counters=[counts.get(host.name) for host in flow.ends],
        )
        for flow, transfer in zip(flows, transfers, strict=True)
    ]


def worst_processors(
    transfers: Iterable[Transfer | HostError],
    stolen: Metric,
    busiest: Metric,
    subject: str,
    case: str = "",
) -> Iterator[Measurement]:
    """Yield what a hypervisor took, and how busy the busiest processor was, of the worst of the hosts."""
    found = [
        each
        for transfer in transfers
        if isinstance(transfer, Transfer)
        for each in transfer.cpus
        if each is not None
    ]
    if found:
        yield stolen.of(subject, max(each.stolen_percent for each in found), case)
        yield busiest.of(subject, max(each.busiest_percent for each in found), case)


def open_flows(
    remotes: RemoteProcesses, flows: Sequence[Flow], load: Load, grace_s: float = GRACE_S
) -> list[ClientServerRun[Transfer]]:
    """Start a server for each flow, and return the runs, whose clients wait for their start.

    A transfer fails if it takes `grace_s` more seconds than its load.
    """
    return open_runs(
        flows, load.first_port, lambda flow, port: _flow_run(remotes, flow, load, port, grace_s)
    )


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


def _flow_run(
    remotes: RemoteProcesses, flow: Flow, load: Load, port: int, grace_s: float
) -> ClientServerRun[Transfer]:
    client = iperf3.client(
        flow.receiver.address,
        port,
        seconds=load.seconds,
        omitted_s=OMITTED_S,
        streams=load.streams,
        mss_bytes=load.mss_bytes,
    )
    return ClientServerRun(
        remotes,
        server=(flow.receiver, iperf3.server(flow.receiver.address, port)),
        client=(flow.sender, client),
        listening=iperf3.LISTENING,
        parse=_transfer,
        timeout_s=load.total_s + grace_s,
        max_bytes=iperf3.report_bytes(load.total_s, load.streams),
    )


def _transfer(completed: CompletedCommand) -> Transfer:
    report = iperf3.read_report(completed.output)
    return Transfer(report, completed.ended_s - report.seconds)
