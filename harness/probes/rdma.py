"""The RDMA probe, a part of the latency probe: which hosts have RDMA devices, and their latency."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.model.network_metrics import RDMA_DEVICES, RDMA_P99, RDMA_P999, RDMA_TYPICAL
from harness.model.probe import Measurement
from harness.probes.plan import ProbeStep, round_robin
from harness.probes.remote_process import ClientServerRun, RemoteProcesses, run_all
from harness.probes.tools import perftest
from harness.probes.tools.perftest import RdmaLatency
from harness.probes.traffic import Flow
from harness.probes.transports.host import Host, HostError

_LIST_DEVICES = ("sh", "-c", "ls /sys/class/infiniband 2>/dev/null; exit 0")
STEP_S, TIMEOUT_S = 5.0, 60.0


def rdma_steps(hosts: Sequence[Host], message_bytes: int) -> list[ProbeStep]:
    """Count the RDMA devices of every host, and measure all pairs of hosts that have one."""
    return [ProbeStep("rdma", STEP_S, partial(_measure, hosts, message_bytes))]


def _measure(hosts: Sequence[Host], message_bytes: int) -> Iterator[Measurement]:
    equipped = []
    listings = run_all([(host, _LIST_DEVICES) for host in hosts])
    for host, listing in zip(hosts, listings, strict=True):
        if isinstance(listing, HostError):
            yield RDMA_DEVICES.failed(host.name, listing)
            continue
        devices = listing.output.split()
        yield RDMA_DEVICES.of(host.name, len(devices))
        if devices:
            equipped.append(host)
    for pairs in round_robin(equipped) if len(equipped) > 1 else ():
        yield from _measure_pairs([Flow(a, b) for a, b in pairs], message_bytes)


def _measure_pairs(flows: Sequence[Flow], message_bytes: int) -> Iterator[Measurement]:
    with RemoteProcesses() as remotes:
        sessions = [_latency_session(remotes, flow, message_bytes) for flow in flows]
        for session in sessions:
            session.open()
        for session in sessions:
            session.start()
        latencies = [session.finish() for session in sessions]
    for flow, latency in zip(flows, latencies, strict=True):
        if isinstance(latency, HostError):
            yield RDMA_TYPICAL.failed(str(flow), latency)
        else:
            yield RDMA_TYPICAL.of(str(flow), latency.typical_us)
            yield RDMA_P99.of(str(flow), latency.p99_us)
            yield RDMA_P999.of(str(flow), latency.p999_us)


def _latency_session(
    remotes: RemoteProcesses, flow: Flow, message_bytes: int
) -> ClientServerRun[RdmaLatency]:
    return ClientServerRun(
        remotes,
        server=(flow.receiver, perftest.server(message_bytes)),
        client=(flow.sender, perftest.client(flow.receiver.address, message_bytes)),
        listening=perftest.LISTENING,
        parse=lambda completed: perftest.read_latency(completed.output),
        timeout_s=TIMEOUT_S,
    )
