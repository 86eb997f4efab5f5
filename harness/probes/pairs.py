"""TCP goodput between pairs of hosts, and the processor time that it takes: the steps of a mesh."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from harness.hosts.parallelism import MAX_PAIRS, batches
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import (
    BOTH_WAYS,
    BUSIEST,
    HOST_CPU,
    IPERF_CPU,
    MESH_GOODPUT,
    RETRANSMITS,
    SOFTIRQ,
    STOLEN,
    EndMetrics,
)
from harness.model.probe import Measurement, Metric, Pair
from harness.probes.plan import Pairs, ProbeStep
from harness.probes.tools.cpu import Cpu
from harness.probes.traffic import Flow, Load, Transfer, run_flows
from harness.words import join_names

PAIR_PROGRAMS = ("ip", "iperf3")
SET_UP_S = 2.0


_PROCESSORS: Mapping[EndMetrics, Callable[[Cpu], float]] = {
    HOST_CPU: lambda cpu: cpu.busy_percent,
    SOFTIRQ: lambda cpu: cpu.softirq_percent,
    STOLEN: lambda cpu: cpu.stolen_percent,
    BUSIEST: lambda cpu: cpu.busiest_percent,
}
"""What is recorded of the hosts' processors."""


def pair_steps(
    pairs: Pairs[Host], load: Load, *, both_ways: bool, pairs_at_once: int = MAX_PAIRS
) -> list[ProbeStep]:
    """Measure every pair in one direction, then in the other, then, with `both_ways`, in both together.

    The pairs are disjoint: as many as `pairs_at_once` are measured at the same time. If it is one, a link
    which several pairs share does not show.
    """
    steps = []
    for batch in batches(pairs, pairs_at_once):
        forward = [Flow(a, b) for a, b in batch]
        back = [Flow(b, a) for a, b in batch]
        steps += [_step(forward, forward, load), _step(back, back, load)]
        if both_ways:
            steps.append(_step(forward, [*forward, *back], load, BOTH_WAYS))
    return steps


def _step(named: Sequence[Flow], flows: Sequence[Flow], load: Load, case: str = "") -> ProbeStep:
    description = f"mesh: {join_names(named)}{f', {case}' if case else ''}"
    return ProbeStep(description, load.total_s + SET_UP_S, partial(_measure, flows, load, case))


def _measure(flows: Sequence[Flow], load: Load, case: str) -> Iterator[Measurement]:
    for flow, transfer in zip(flows, run_flows(flows, load), strict=True):
        if isinstance(transfer, HostError):
            yield MESH_GOODPUT.failed(flow.pair, transfer, case)
        else:
            yield from _measurements(flow.pair, transfer, case)


def _measurements(pair: Pair, transfer: Transfer, case: str) -> Iterator[Measurement]:
    report = transfer.report
    values: list[tuple[Metric, float | None]] = [
        (MESH_GOODPUT, report.goodput_bit_s),
        (RETRANSMITS, report.retransmits),
        *zip(IPERF_CPU, (report.sender_cpu_percent, report.receiver_cpu_percent), strict=True),
    ]
    for metrics, percent in _PROCESSORS.items():
        percents = (percent(cpu) if cpu else None for cpu in transfer.cpus)
        values += zip(metrics, percents, strict=True)
    return (metric.of(pair, value, case) for metric, value in values if value is not None)
