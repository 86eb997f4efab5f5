"""All that a gate needs, in one order: links, paths, transfers and latencies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.model.interface import HostLink
from harness.probes.latency import MESSAGE_BYTES, latency
from harness.probes.mesh import mesh
from harness.probes.mtu import paths, sweep
from harness.probes.plan import ProbeStep
from harness.probes.rdma import rdma
from harness.probes.session import ProbePlan
from harness.probes.traffic import Load
from harness.probes.transports.host import Host

LINK, MTU, MESH = ("ip",), ("ip", "ping"), ("ip", "iperf3")
LATENCY = ("ip", "iperf3", "sockperf")
"""The programs that each takes."""


def everything(
    hosts: Sequence[Host],
    load: Load,
    *,
    message_bytes: int | None = MESSAGE_BYTES,
    sizes: Sequence[int] = (),
    both_ways: bool = False,
    alone: bool = False,
    repeats: int = 1,
) -> ProbePlan:
    """`message_bytes` is of latencies' messages, None: without those; `sizes` are packets' to try."""

    def plan(usable: Sequence[Host], links: Mapping[str, HostLink]) -> list[ProbeStep]:
        steps = [*paths(usable, links), *sweep(usable, sizes, load)]
        steps += mesh(usable, load, both_ways=both_ways, alone=alone)
        if message_bytes is not None:
            steps += latency(usable, load.seconds, message_bytes, load.first_port)
            steps += rdma(usable, message_bytes)
        return steps

    programs = dict.fromkeys((*MTU, *MESH, *(() if message_bytes is None else LATENCY)))
    return ProbePlan(hosts, tuple(programs), plan, repeats=repeats)
