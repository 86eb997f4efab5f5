"""iperf3 from host to host, any number of flows in the same seconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.model.errors import ToolError
from harness.probes.remote_process import (
    ClientServerRun,
    CompletedCommand,
    RemoteProcess,
    RemoteProcesses,
)
from harness.probes.tools import cpu, iperf3
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.transports.host import Host, HostError

FIRST_PORT = 5201
OMITTED_S = 1
"""TCP's start, and what token buckets had saved."""
GRACE_S = 20.0


@dataclass(frozen=True)
class Flow:
    """Traffic from one host to another."""

    sender: Host
    receiver: Host

    def __str__(self) -> str:
        return f"{self.sender} -> {self.receiver}"


@dataclass(frozen=True)
class Load:
    """How a flow is made: for so many seconds, of so many TCP streams, each on a port of its own.

    `mss_bytes` is the most that a segment holds, TCP's options included; None: what the MTU allows.
    """

    seconds: int = 10
    streams: int = 1
    mss_bytes: int | None = None
    first_port: int = FIRST_PORT

    @property
    def total_s(self) -> int:
        """From a flow's start to its end."""
        return OMITTED_S + self.seconds


@dataclass(frozen=True)
class Transfer:
    """What a flow carried, and what it cost at both ends; None where that was not to be seen.

    `began_s` is when the seconds that count began, on this machine's monotonic clock.
    """

    report: Report
    began_s: float
    sender_cpu: Cpu | None = None
    receiver_cpu: Cpu | None = None


def carry(flows: Sequence[Flow], load: Load) -> list[Transfer | HostError]:
    """Run all flows at once; each comes to a transfer, or to a line on what went wrong."""
    ends = {host.name: host for flow in flows for host in (flow.sender, flow.receiver)}
    with RemoteProcesses() as remotes:
        meters = {name: _meter(remotes, host, load) for name, host in ends.items()}
        exchanges = connect(remotes, flows, load)
        for meter in meters.values():
            meter.start()
        for exchange in exchanges:
            exchange.start()
        transfers = [exchange.finish() for exchange in exchanges]
        cpus = {name: _read(meter) for name, meter in meters.items()}
    return [
        transfer
        if isinstance(transfer, HostError)
        else replace(
            transfer, sender_cpu=cpus[flow.sender.name], receiver_cpu=cpus[flow.receiver.name]
        )
        for flow, transfer in zip(flows, transfers, strict=True)
    ]


def connect(
    remotes: RemoteProcesses, flows: Sequence[Flow], load: Load
) -> list[ClientServerRun[Transfer]]:
    """Set all flows up, each at a port of its own."""
    exchanges = [
        _exchange(remotes, flow, load, port) for port, flow in enumerate(flows, load.first_port)
    ]
    for exchange in exchanges:
        exchange.open()
    return exchanges


def _exchange(
    remotes: RemoteProcesses, flow: Flow, load: Load, port: int
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
        server=(flow.receiver, iperf3.server(port)),
        client=(flow.sender, client),
        sign=iperf3.LISTENS,
        read=_transfer,
        timeout_s=load.total_s + GRACE_S,
    )


def _transfer(ended: CompletedCommand) -> Transfer:
    report = iperf3.read_report(ended.output)
    return Transfer(report, ended.at_s - report.seconds)


def _meter(remotes: RemoteProcesses, host: Host, load: Load) -> RemoteProcess:
    return remotes.put(host, *cpu.meter(OMITTED_S, load.seconds))


def _read(meter: RemoteProcess) -> Cpu | None:
    try:
        return cpu.read_meter(meter.finish().output)
    except (HostError, ToolError):
        return None
