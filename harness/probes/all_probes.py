"""The plan of `clusterlift probe all`: everything that the gate judges, in one run."""

from collections.abc import Sequence

from harness.hosts.transports.host import Host
from harness.probes.latency import LATENCY_PROGRAMS, latency_steps
from harness.probes.mesh import MESH_PROGRAMS
from harness.probes.messages import MESSAGE_BYTES
from harness.probes.mtu import MTU_PROGRAMS, path_mtu_steps
from harness.probes.packets import packet_size_steps
from harness.probes.plan import Links, ProbePlan, ProbeStep
from harness.probes.search import Mesh
from harness.probes.traffic import Load


def all_probes(
    hosts: Sequence[Host],
    load: Load,
    mesh: Mesh,
    *,
    message_bytes: int | None = MESSAGE_BYTES,
    sizes: Sequence[int] = (),
) -> ProbePlan:
    """Return a plan that measures links, path MTUs, transfers, and latencies.

    `mesh` says between which pairs of hosts. `message_bytes` is the size of the latency probe's messages;
    with None, latencies are not measured. `sizes` are packet sizes in bytes that are measured in addition.
    """

    def make_steps(usable: Sequence[Host], links: Links) -> list[ProbeStep]:
        steps = path_mtu_steps(usable, links, mesh.pairing)
        steps += packet_size_steps(usable, sizes, load, both_ways=mesh.both_ways)
        steps += mesh.steps(usable, load)
        if message_bytes is not None:
            steps += latency_steps(
                usable, load, message_bytes, mesh.pairing, pairs_at_once=mesh.pairs_at_once
            )
        return steps

    latency_programs = () if message_bytes is None else LATENCY_PROGRAMS
    programs = dict.fromkeys((*MTU_PROGRAMS, *MESH_PROGRAMS, *latency_programs))
    return ProbePlan(hosts, tuple(programs), make_steps)
