"""TCP goodput between pairs of hosts, and the processor time that it takes: the steps of a mesh."""

from collections.abc import Iterator, Sequence
from functools import partial

from harness.hosts.parallelism import MAX_PAIRS, batches
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import (
    BOTH_WAYS,
    MESH_GOODPUT,
    RECEIVER_BUSIEST,
    RECEIVER_CPU,
    RECEIVER_IPERF_CPU,
    RECEIVER_SOFTIRQ,
    RECEIVER_STOLEN,
    RETRANSMITS,
    SENDER_BUSIEST,
    SENDER_CPU,
    SENDER_IPERF_CPU,
    SENDER_SOFTIRQ,
    SENDER_STOLEN,
)
from harness.model.probe import Measurement
from harness.probes.plan import Pairs, ProbeStep, one_pair_per_round, round_robin
from harness.probes.traffic import Flow, Load, Transfer, run_flows
from harness.terminal import join_names

PAIR_PROGRAMS = ("ip", "iperf3")
SET_UP_S = 2.0


def mesh_steps(
    hosts: Sequence[Host],
    load: Load,
    *,
    both_ways: bool,
    alone: bool,
    pairs_at_once: int = MAX_PAIRS,
) -> list[ProbeStep]:
    """Measure every pair in one direction, then in the other, then, with `both_ways`, in both together.

    The pairs of a round are measured at the same time, and no host is in two pairs. With `alone`, one pair
    is measured at a time, so that a link which several pairs share does not show.
    """
    rounds = one_pair_per_round(hosts) if alone else round_robin(hosts)
    return [
        step
        for pairs in rounds
        for step in pair_steps(pairs, load, both_ways=both_ways, pairs_at_once=pairs_at_once)
    ]


def pair_steps(
    pairs: Pairs[Host], load: Load, *, both_ways: bool, pairs_at_once: int = MAX_PAIRS
) -> list[ProbeStep]:
    """Measure disjoint pairs as `mesh_steps` does, in batches of `pairs_at_once`, one after another."""
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
            yield MESH_GOODPUT.failed(str(flow), transfer, case)
        else:
            yield from _measurements(str(flow), transfer, case)


def _measurements(subject: str, transfer: Transfer, case: str) -> Iterator[Measurement]:
    report, sender, receiver = transfer.report, transfer.sender_cpu, transfer.receiver_cpu
    values = {
        MESH_GOODPUT: report.goodput_bit_s,
        RETRANSMITS: report.retransmits,
        SENDER_IPERF_CPU: report.sender_cpu_percent,
        RECEIVER_IPERF_CPU: report.receiver_cpu_percent,
        SENDER_CPU: sender.busy_percent if sender else None,
        RECEIVER_CPU: receiver.busy_percent if receiver else None,
        SENDER_SOFTIRQ: sender.softirq_percent if sender else None,
        RECEIVER_SOFTIRQ: receiver.softirq_percent if receiver else None,
        SENDER_STOLEN: sender.stolen_percent if sender else None,
        RECEIVER_STOLEN: receiver.stolen_percent if receiver else None,
        SENDER_BUSIEST: sender.busiest_percent if sender else None,
        RECEIVER_BUSIEST: receiver.busiest_percent if receiver else None,
    }
    return (
        metric.of(subject, value, case) for metric, value in values.items() if value is not None
    )
