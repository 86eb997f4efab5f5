"""The mesh probe: TCP goodput between all pairs of hosts, or between the pairs of some rounds."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from harness.analysis.network.judge import mesh_findings
from harness.hosts.parallelism import COMMANDS_PER_PAIR, MAX_PAIRS, allow_commands
from harness.hosts.transports.host import Host
from harness.model.network_metrics import MESH
from harness.option_types import WholeNumber
from harness.present.probes.mesh import mesh_sections
from harness.probes.kind import ProbeKind
from harness.probes.options import (
    at_once_option,
    both_ways_option,
    port_option,
    seconds_option,
    seed_option,
    streams_option,
)
from harness.probes.pairs import PAIR_PROGRAMS, pair_steps
from harness.probes.plan import (
    Pairs,
    ProbePlan,
    ProbeStep,
    count_rounds,
    round_robin,
    round_robin_round,
)
from harness.probes.site import Site
from harness.probes.traffic import Load


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
        """Return the rounds: disjoint pairs, and none of them twice."""
        possible = count_rounds(len(hosts))
        if self.rounds is None or self.rounds >= possible:
            return round_robin(hosts)
        rng = random.Random(self.seed)  # noqa: S311  chance that can be repeated
        places = rng.sample(hosts, len(hosts))  # neighbours in the list may share a switch
        chosen = rng.sample(range(possible), self.rounds)
        return [round_robin_round(places, number) for number in chosen]

    def steps(self, hosts: Sequence[Host], load: Load) -> list[ProbeStep]:
        """Return the steps of the mesh probe. Raise BadInput if the pairs need too many open files."""
        allow_commands(COMMANDS_PER_PAIR * min(self.pairs_at_once, len(hosts) // 2))
        return [
            step
            for pairs in self.pairing(hosts)
            for step in pair_steps(
                pairs, load, both_ways=self.both_ways, pairs_at_once=self.pairs_at_once
            )
        ]

    def parameters(self, load: Load) -> dict[str, object]:
        """Return what a record says of how the mesh was measured."""
        return {
            "seconds": load.seconds,
            "streams": load.streams,
            "pairs_at_once": self.pairs_at_once,
            **({} if self.rounds is None else {"rounds": self.rounds, "seed": self.seed}),
        }


MESH_OPTIONS = (
    both_ways_option,
    click.option(
        "--rounds",
        type=WholeNumber(1, 1000),
        help="Measure only so many rounds of disjoint pairs, chosen by --seed.  [default: all pairs]",
    ),
    seed_option,
    at_once_option,
)


def _plan(site: Site, *, seconds: int, streams: int, port: int, **choice: Any) -> ProbePlan:
    hosts, load = site.hosts(), Load(seconds, streams, first_port=port)
    mesh = Mesh(**choice)
    return ProbePlan(
        hosts,
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
