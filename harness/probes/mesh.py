"""The mesh probe: TCP goodput between all pairs of hosts or some of them, and its processor time."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from harness.analysis.network.judge import mesh_findings
from harness.base.option_types import WholeNumber
from harness.base.words import join_names
from harness.hosts.parallelism import COMMANDS_PER_PAIR, MAX_PAIRS, allow_commands, batches
from harness.hosts.transports.host import Host, HostError
from harness.model.network_metrics import (
    BOTH_WAYS,
    BUSIEST,
    HOST_CPU,
    IPERF_CPU,
    MESH,
    MESH_GOODPUT,
    RETRANSMITS,
    SOFTIRQ,
    STOLEN,
    EndMetrics,
)
from harness.model.probe import Measurement, Metric, Pair
from harness.present.probes.mesh import mesh_sections
from harness.probes.kind import ProbeKind
from harness.probes.options import (
    NamedHosts,
    at_once_option,
    both_ways_option,
    port_option,
    seconds_option,
    seed_option,
    streams_option,
)
from harness.probes.plan import (
    Pairs,
    ProbePlan,
    ProbeStep,
    count_rounds,
    round_robin,
    round_robin_round,
)
from harness.probes.tools.cpu import Cpu
from harness.probes.traffic import Flow, Load, Transfer, flows_back, flows_of, run_flows

PAIR_PROGRAMS = ("ip", "iperf3")
SET_UP_S = 2.0

_PROCESSORS: Mapping[EndMetrics, Callable[[Cpu], float]] = {
    HOST_CPU: lambda cpu: cpu.busy_percent,
    SOFTIRQ: lambda cpu: cpu.softirq_percent,
    STOLEN: lambda cpu: cpu.stolen_percent,
    BUSIEST: lambda cpu: cpu.busiest_percent,
}
"""The metrics of the hosts' processors in a record, and how each is read."""


@dataclass(frozen=True)
class Mesh:
    """Between which pairs of hosts to measure, and how many at the same time.

    `rounds` of the round robin are measured, chosen by `seed`; with None, all of them, which are all pairs.
    """

    rounds: int | None = None
    seed: int = 1
    both_ways: bool = False
    pairs_at_once: int = MAX_PAIRS

    def pairing(self, hosts: Sequence[Host]) -> list[Pairs[Host]]:
        """Return the rounds: disjoint pairs, each once."""
        possible = count_rounds(len(hosts))
        if self.rounds is None or self.rounds >= possible:
            return round_robin(hosts)
        rng = random.Random(self.seed)  # noqa: S311  chance that can be repeated
        places = rng.sample(hosts, len(hosts))  # neighbours in the list may share a switch
        chosen = rng.sample(range(possible), self.rounds)
        return [round_robin_round(places, number) for number in chosen]

    def steps(self, hosts: Sequence[Host], load: Load) -> list[ProbeStep]:
        """Measure every pair in one direction, then in the other, then, if wanted, in both together.

        `pairs_at_once` are measured at the same time. With 1, a link that several pairs share does not show.
        Raise BadInput if they need too many open files.
        """
        allow_commands(COMMANDS_PER_PAIR * min(self.pairs_at_once, len(hosts) // 2))
        steps = []
        for pairs in self.pairing(hosts):
            for batch in batches(pairs, self.pairs_at_once):
                forward = flows_of(batch)
                back = flows_back(forward)
                steps.append(_step(forward, forward, load))
                steps.append(_step(back, back, load))
                if self.both_ways:
                    steps.append(_step(forward, forward + back, load, BOTH_WAYS))
        return steps

    def parameters(self, load: Load) -> dict[str, object]:
        """Return how the mesh was measured, for its record."""
        parameters: dict[str, object] = {
            "seconds": load.seconds,
            "streams": load.streams,
            "pairs_at_once": self.pairs_at_once,
        }
        if self.rounds is not None:
            parameters["rounds"] = self.rounds
            parameters["seed"] = self.seed
        return parameters


def _step(named: Sequence[Flow], flows: Sequence[Flow], load: Load, case: str = "") -> ProbeStep:
    description = f"mesh: {join_names(named)}"
    if case:
        description += f", {case}"
    return ProbeStep(description, load.total_s + SET_UP_S, partial(_measure, flows, load, case))


def _measure(flows: Sequence[Flow], load: Load, case: str) -> Iterator[Measurement]:
    for flow, transfer in run_flows(flows, load).items():
        if isinstance(transfer, HostError):
            yield MESH_GOODPUT.failed(flow.pair, transfer, case)
        else:
            yield from _measurements(flow.pair, transfer, case)


def _measurements(pair: Pair, transfer: Transfer, case: str) -> Iterator[Measurement]:
    report = transfer.report
    values: list[tuple[Metric, float | None]] = [
        (MESH_GOODPUT, report.goodput_bit_s),
        (RETRANSMITS, report.retransmits),
        (IPERF_CPU.sender, report.sender_cpu_percent),
        (IPERF_CPU.receiver, report.receiver_cpu_percent),
    ]
    for metrics, percent in _PROCESSORS.items():
        for metric, cpu in zip(metrics, transfer.cpus, strict=True):
            if cpu is not None:
                values.append((metric, percent(cpu)))
    return (metric.of(pair, value, case) for metric, value in values if value is not None)


MESH_OPTIONS = (
    both_ways_option,
    click.option(
        "--rounds",
        type=WholeNumber(1, 1000),
        help="Measure only this many rounds of disjoint pairs, chosen by --seed.  [default: all pairs]",
    ),
    seed_option,
    at_once_option,
)


def _plan(site: NamedHosts, *, seconds: int, streams: int, port: int, **choice: Any) -> ProbePlan:
    load = Load(seconds, streams, first_port=port)
    mesh = Mesh(**choice)
    return ProbePlan(
        site.hosts(),
        PAIR_PROGRAMS,
        lambda usable, _links: mesh.steps(usable, load),
        parameters=mesh.parameters(load),
    )


KIND = ProbeKind(
    MESH,
    "Measure TCP goodput between pairs of hosts, and the processor time that it takes.",
    _plan,
    options=(seconds_option, streams_option, *MESH_OPTIONS, port_option),
    measures=(MESH,),
    sections=mesh_sections,
    judge=mesh_findings,
)
