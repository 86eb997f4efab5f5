"""perftest's ib_send_lat: how long a small message takes by RDMA, one way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from harness.model.errors import ToolError
from harness.model.network_metrics import RDMA_DEVICES, RDMA_P99, RDMA_P999, RDMA_TYPICAL
from harness.model.probe import Measurement
from harness.probes.plan import ProbeStep, rounds
from harness.probes.remote_process import (
    ClientServerRun,
    CompletedCommand,
    RemoteProcesses,
    run_all,
)
from harness.probes.traffic import Flow
from harness.probes.transports.host import Host, HostError

LISTENS = "Waiting for client"
_COLUMNS = (
    r"#bytes +#iterations +t_min\[usec\] +t_max\[usec\] +t_typical\[usec\] +t_avg\[usec\] +"
    r"t_stdev\[usec\] +99% percentile\[usec\] +99\.9% percentile\[usec\]"
)
_ROW = re.compile(rf"^ *{_COLUMNS} *\n((?:[ \t]+\d+(?:\.\d+)?){{9}})[ \t]*\n-+$", re.MULTILINE)


@dataclass(frozen=True)
class RdmaLatency:
    """Microseconds that a message takes one way, by percentile."""

    typical_us: float
    p99_us: float
    p999_us: float


def server(message_bytes: int) -> list[str]:
    """Answer one client. It prints LISTENS when it can."""
    return ["stdbuf", "-oL", "ib_send_lat", "-s", str(message_bytes)]


def client(address: str, message_bytes: int) -> list[str]:
    """Measure against a server."""
    return ["ib_send_lat", "-s", str(message_bytes), address]


def read_latency(text: str) -> RdmaLatency:
    """The table that a client prints. Raises ToolFailed if it is not whole."""
    row = _ROW.search(text)
    if row is None:
        raise ToolError("ib_send_lat printed no latencies")
    numbers = [float(number) for number in row[1].split()]
    typical, p99, p999 = numbers[4], numbers[7], numbers[8]
    if not 0 < typical <= p99 <= p999:
        raise ToolError("ib_send_lat's latencies are not in order")
    return RdmaLatency(typical, p99, p999)


_LIST = ("sh", "-c", "ls /sys/class/infiniband 2>/dev/null; exit 0")
STEP_S, TIMEOUT_S = 5.0, 60.0


def rdma(hosts: Sequence[Host], message_bytes: int) -> list[ProbeStep]:
    """Count every host's devices, and measure all pairs of those that have one."""
    return [ProbeStep("rdma", STEP_S, partial(_measure, hosts, message_bytes))]


def _measure(hosts: Sequence[Host], message_bytes: int) -> Iterator[Measurement]:
    able = []
    for host, answer in zip(hosts, run_all([(host, _LIST) for host in hosts]), strict=True):
        if isinstance(answer, HostError):
            yield RDMA_DEVICES.failed(host.name, answer)
            continue
        devices = answer.output.split()
        yield RDMA_DEVICES.of(host.name, len(devices))
        if devices:
            able.append(host)
    for pairs in rounds(able) if len(able) > 1 else ():
        yield from _pairs([Flow(a, b) for a, b in pairs], message_bytes)


def _pairs(flows: Sequence[Flow], message_bytes: int) -> Iterator[Measurement]:
    with RemoteProcesses() as remotes:
        exchanges = [
            ClientServerRun(
                remotes,
                server=(flow.receiver, server(message_bytes)),
                client=(flow.sender, client(flow.receiver.address, message_bytes)),
                sign=LISTENS,
                read=_latency,
                timeout_s=TIMEOUT_S,
            )
            for flow in flows
        ]
        for exchange in exchanges:
            exchange.open()
        for exchange in exchanges:
            exchange.start()
        found = [exchange.finish() for exchange in exchanges]
    for flow, latency in zip(flows, found, strict=True):
        if isinstance(latency, HostError):
            yield RDMA_TYPICAL.failed(str(flow), latency)
        else:
            yield RDMA_TYPICAL.of(str(flow), latency.typical_us)
            yield RDMA_P99.of(str(flow), latency.p99_us)
            yield RDMA_P999.of(str(flow), latency.p999_us)


def _latency(ended: CompletedCommand) -> RdmaLatency:
    return read_latency(ended.output)
