"""The mesh probe: what TCP carries between every two hosts, and what it costs them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from harness.model.network_metrics import (
    BOTH_WAYS,
    MESH_GOODPUT,
    RECEIVER_CPU,
    RECEIVER_IPERF_CPU,
    RECEIVER_SOFTIRQ,
    RETRANSMITS,
    SENDER_CPU,
    SENDER_IPERF_CPU,
    SENDER_SOFTIRQ,
)
from harness.model.probe import Measurement
from harness.probes.plan import ProbeStep, listed, one_pair_at_a_time, rounds
from harness.probes.tools.cpu import Cpu
from harness.probes.traffic import Flow, Load, Transfer, carry
from harness.probes.transports.host import Host, HostError

SETTING_UP_S = 2.0


def mesh(hosts: Sequence[Host], load: Load, *, both_ways: bool, alone: bool) -> list[ProbeStep]:
    """Every pair one way, then the other, then, if asked for, both ways at once.

    The pairs of a round are disjoint and measured at once, so that no host has two; `alone`, one pair
    is measured at a time, so that what several pairs share does not show either.
    """
    schedule = one_pair_at_a_time(hosts) if alone else rounds(hosts)
    steps = []
    for pairs in schedule:
        there = [Flow(a, b) for a, b in pairs]
        back = [Flow(b, a) for a, b in pairs]
        steps += [_step(there, load), _step(back, load)]
        if both_ways:
            steps.append(_step([*there, *back], load, BOTH_WAYS))
    return steps


def _step(flows: Sequence[Flow], load: Load, case: str = "") -> ProbeStep:
    pairs = flows[: len(flows) // 2] if case else flows
    what = f"mesh: {listed(pairs)}{f', {case}' if case else ''}"
    return ProbeStep(what, load.total_s + SETTING_UP_S, partial(_measure, flows, load, case))


def _measure(flows: Sequence[Flow], load: Load, case: str) -> Iterator[Measurement]:
    for flow, transfer in zip(flows, carry(flows, load), strict=True):
        if isinstance(transfer, HostError):
            yield MESH_GOODPUT.failed(str(flow), transfer, case)
        else:
            yield from _measurements(str(flow), transfer, case)


def _measurements(subject: str, transfer: Transfer, case: str) -> Iterator[Measurement]:
    report, sender, receiver = transfer.report, transfer.sender_cpu, transfer.receiver_cpu
    found = {
        MESH_GOODPUT: report.goodput_bit_s,
        RETRANSMITS: report.retransmits,
        SENDER_IPERF_CPU: report.sender_cpu_percent,
        RECEIVER_IPERF_CPU: report.receiver_cpu_percent,
        SENDER_CPU: _busy(sender),
        RECEIVER_CPU: _busy(receiver),
        SENDER_SOFTIRQ: _softirq(sender),
        RECEIVER_SOFTIRQ: _softirq(receiver),
    }
    return (metric.of(subject, value, case) for metric, value in found.items() if value is not None)


def _busy(cpu: Cpu | None) -> float | None:
    return None if cpu is None else cpu.busy_percent


def _softirq(cpu: Cpu | None) -> float | None:
    return None if cpu is None else cpu.softirq_percent
