"""The plan of `clusterlift probe all`: everything that the gate judges, in one run."""

from collections.abc import Iterator, Sequence
from typing import Any

import click

from harness.base.items import unique
from harness.hosts.transports.host import Host
from harness.model.probe import RecordedProbes
from harness.present.blocks import Block
from harness.probes import latency, link, mesh, mtu
from harness.probes.kind import ProbeKind
from harness.probes.latency import LATENCY_PROGRAMS, latency_steps
from harness.probes.mesh import MESH_OPTIONS, PAIR_PROGRAMS, Mesh
from harness.probes.options import NamedHosts, port_option, seconds_option, streams_option
from harness.probes.path_mtu import MTU_PROGRAMS, path_mtu_steps
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.traffic import Load


def all_probes(
    hosts: Sequence[Host], load: Load, pairs: Mesh, *, with_latency: bool = True
) -> ProbePlan:
    """Return a plan that measures links, path MTUs, transfers and, `with_latency`, latencies.

    `pairs` says between which pairs of hosts.
    """

    def make_steps(usable: Sequence[Host], links: Links) -> list[ProbeStep]:
        steps = path_mtu_steps(usable, links, pairs.pairing)
        steps += pairs.steps(usable, load)
        if with_latency:
            steps += latency_steps(usable, load, pairs.pairing, pairs_at_once=pairs.pairs_at_once)
        return steps

    programs = list(MTU_PROGRAMS + PAIR_PROGRAMS)
    if with_latency:
        programs += LATENCY_PROGRAMS
    return ProbePlan(hosts, unique(programs), make_steps, parameters=pairs.parameters(load))


def _plan(
    site: NamedHosts, *, seconds: int, streams: int, port: int, no_latency: bool, **choice: Any
) -> ProbePlan:
    load = Load(seconds, streams, first_port=port)
    return all_probes(site.hosts(), load, Mesh(**choice), with_latency=not no_latency)


def _sections(probed: RecordedProbes) -> Iterator[Block]:
    for kind in (link.KIND, mtu.KIND, mesh.KIND, latency.KIND):
        if kind.is_in(probed):
            yield from kind.shown(probed)


KIND = ProbeKind(
    "all",
    "Measure links, path MTUs, transfers and latencies: everything that the gate judges.",
    _plan,
    options=(
        seconds_option,
        streams_option,
        *MESH_OPTIONS,
        click.option(
            "--no-latency",
            is_flag=True,
            help="Do not measure latency, which needs sockperf on every host.",
        ),
        port_option,
    ),
    sections=_sections,
)
