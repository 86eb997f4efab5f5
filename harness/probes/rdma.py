"""RDMA, where hosts have a device for it: how long a small message takes by perftest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.probes.exchange import Exchange
from harness.probes.leash import Ended, Leashes, ask_all
from harness.probes.measurement import HIGHER, LOWER, Measurement, Metric
from harness.probes.reach import Host, HostTrouble
from harness.probes.step import Step
from harness.probes.tools import perftest
from harness.probes.tools.perftest import RdmaLatency
from harness.probes.tournament import rounds
from harness.probes.traffic import Flow

PROBE = "rdma"
DEVICES = Metric(PROBE, "devices", "devices", HIGHER)
TYPICAL = Metric(PROBE, "one_way_typical_us", "µs", LOWER)
P99 = Metric(PROBE, "one_way_p99_us", "µs", LOWER)
P999 = Metric(PROBE, "one_way_p99.9_us", "µs", LOWER)
_LIST = ("sh", "-c", "ls /sys/class/infiniband 2>/dev/null; exit 0")
STEP_S, TIMEOUT_S = 5.0, 60.0


def rdma(hosts: Sequence[Host], message_bytes: int) -> list[Step]:
    """Count every host's devices, and measure all pairs of those that have one."""
    return [Step("rdma", STEP_S, partial(_measure, hosts, message_bytes))]


def _measure(hosts: Sequence[Host], message_bytes: int) -> Iterator[Measurement]:
    able = []
    for host, answer in zip(hosts, ask_all([(host, _LIST) for host in hosts]), strict=True):
        if isinstance(answer, HostTrouble):
            yield DEVICES.failed(host.name, answer)
            continue
        devices = answer.output.split()
        yield DEVICES.of(host.name, len(devices))
        if devices:
            able.append(host)
    for pairs in rounds(able) if len(able) > 1 else ():
        yield from _pairs([Flow(a, b) for a, b in pairs], message_bytes)


def _pairs(flows: Sequence[Flow], message_bytes: int) -> Iterator[Measurement]:
    with Leashes() as leashes:
        exchanges = [
            Exchange(
                leashes,
                server=(flow.receiver, perftest.server(message_bytes)),
                client=(flow.sender, perftest.client(flow.receiver.address, message_bytes)),
                sign=perftest.LISTENS,
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
        if isinstance(latency, HostTrouble):
            yield TYPICAL.failed(str(flow), latency)
        else:
            yield TYPICAL.of(str(flow), latency.typical_us)
            yield P99.of(str(flow), latency.p99_us)
            yield P999.of(str(flow), latency.p999_us)


def _latency(ended: Ended) -> RdmaLatency:
    return perftest.read_latency(ended.output)
