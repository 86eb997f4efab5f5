"""The mesh probe: TCP goodput between all pairs of hosts, or among many between random pairs and suspects."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from harness.analysis.network.mesh_verdict import mesh_findings
from harness.hosts.parallelism import MAX_PAIRS, allow_pairs
from harness.hosts.transports.host import Host
from harness.model.errors import BadInput
from harness.model.network_metrics import MESH, PAIRS, ROUNDS, SAMPLED
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
from harness.probes.plan import Pairs, ProbePlan, ProbeStep, round_robin
from harness.probes.search import drawn_rounds, rounds_for, search_steps
from harness.probes.site import Site
from harness.probes.traffic import Load

SEARCH_ABOVE = 12
"""More hosts than this are searched by default: of 13, all pairs are 13 rounds, and a search without suspects
is 4."""


@dataclass(frozen=True)
class Mesh:
    """Between which pairs of hosts to measure, and how many at the same time.

    `rounds` of random pairs are drawn by `seed`; with None, all pairs are measured.
    """

    rounds: int | None = None
    seed: int = 1
    both_ways: bool = False
    pairs_at_once: int = MAX_PAIRS

    def pairing(self, hosts: Sequence[Host]) -> list[Pairs[Host]]:
        """Return the rounds, without those of a follow-up."""
        if self.rounds is None:
            return round_robin(hosts)
        return drawn_rounds(hosts, self.rounds, self.seed)

    def steps(self, hosts: Sequence[Host], load: Load) -> list[ProbeStep]:
        """Return the steps of the mesh probe."""
        pairs_of = partial(
            pair_steps, load=load, both_ways=self.both_ways, pairs_at_once=self.pairs_at_once
        )
        if self.rounds is not None:
            return search_steps(hosts, pairs_of, rounds=self.rounds, seed=self.seed)
        return [step for pairs in round_robin(hosts) for step in pairs_of(pairs)]

    def parameters(self, load: Load) -> dict[str, object]:
        """Return what a record says of how the mesh was measured."""
        sampled = {PAIRS: SAMPLED, ROUNDS: self.rounds, "seed": self.seed}
        return {
            "seconds": load.seconds,
            "streams": load.streams,
            "pairs_at_once": self.pairs_at_once,
            **({} if self.rounds is None else sampled),
        }


def chosen_mesh(
    hosts: Sequence[Host],
    *,
    exhaustive: bool,
    rounds: int | None,
    seed: int,
    both_ways: bool,
    alone: bool,
    pairs_at_once: int,
) -> Mesh:
    """Return the mesh that the MESH_OPTIONS describe. Raise BadInput if they contradict each other."""
    if exhaustive and rounds is not None:
        raise BadInput("--exhaustive measures all pairs: leave out --rounds")
    if rounds is None and not exhaustive and len(hosts) > SEARCH_ABOVE:
        rounds = rounds_for(len(hosts))
    if alone:
        pairs_at_once = 1
    allow_pairs(min(pairs_at_once, len(hosts) // 2))
    return Mesh(rounds, seed, both_ways, pairs_at_once)


MESH_OPTIONS = (
    both_ways_option,
    click.option(
        "--alone",
        is_flag=True,
        help="Measure one pair at a time, so that a shared link does not show.",
    ),
    click.option(
        "--exhaustive",
        is_flag=True,
        help=f"Measure all pairs.  [default: with more than {SEARCH_ABOVE} hosts, random pairs and suspects]",
    ),
    click.option(
        "--rounds",
        type=WholeNumber(2, 1000),
        help="Rounds of random pairs.  [default: log2 of the number of hosts, rounded up]",
    ),
    seed_option,
    at_once_option,
)


def _plan(site: Site, *, seconds: int, streams: int, port: int, **choice: Any) -> ProbePlan:
    hosts, load = site.hosts(), Load(seconds, streams, first_port=port)
    mesh = chosen_mesh(hosts, **choice)
    return ProbePlan(
        hosts,
        PAIR_PROGRAMS,
        lambda usable, _links: mesh.steps(usable, load),
        parameters=mesh.parameters(load),
    )


KIND = ProbeKind(
    MESH,
    """Measure TCP goodput between pairs of hosts, and the processor time that it takes.

    Among many hosts, random pairs and then suspects are measured, unless --exhaustive asks for all pairs.
    """,
    _plan,
    options=(seconds_option, streams_option, *MESH_OPTIONS, port_option),
    measures=(MESH,),
    sections=mesh_sections,
    judge=mesh_findings,
)
