"""Which hosts and pairs of a mesh are slow: one judge for its page, its picture, the gate and `ready`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.analysis.network.learnt import unlike_the_others
from harness.analysis.network.mesh import (
    HostRole,
    Pair,
    PairMatrix,
    host_findings,
    pair_findings,
    slow_pairs,
    slow_roles,
    typical_bit_s,
)
from harness.analysis.network.processor_limit import without_limited
from harness.analysis.network.search import (
    SearchVerdict,
    goodput_matrix,
    is_sampled,
    judge_sample,
)
from harness.model.finding import Finding
from harness.model.network_metrics import BOTH_WAYS
from harness.model.probe import RecordedProbes


@dataclass(frozen=True)
class MeshVerdict:
    """What the goodputs of a mesh show in one case.

    - `judged`: the goodputs without those that the processors of a host bounded.
    - `slow_pairs`: all that are slower than typical, those of slow hosts included.
    - `roles`: those in which a host is slow.
    - `search`: what a sample of pairs shows in addition; None if all pairs were measured.
    """

    judged: PairMatrix
    slow_pairs: frozenset[Pair]
    roles: tuple[HostRole, ...]
    findings: tuple[Finding, ...]
    search: SearchVerdict | None = None


def judge_mesh(probed: RecordedProbes, case: str = "") -> MeshVerdict:
    """Return what the goodputs of a recorded mesh, of all pairs or of a sample, show in a case."""
    judged, limited = without_limited(goodput_matrix(probed, case), probed.measurements, case)
    if is_sampled(probed):
        search = judge_sample(probed, judged)
        limit = search.sound.limit if search.sound else 0.0
        slow = frozenset(pair for pair, value in judged.values.items() if value < limit)
        return MeshVerdict(judged, slow, search.roles, (*search.findings, *limited), search)
    slow, typical = frozenset(slow_pairs(judged)), typical_bit_s(judged) or 0.0
    roles = tuple(slow_roles(judged, slow))
    explained = {pair for role in roles for pair in role.pairs}
    findings = (
        *host_findings(judged, roles, typical),
        *pair_findings(judged, slow, explained, typical),
    )
    return MeshVerdict(judged, slow, roles, (*findings, *limited))


def mesh_findings(probed: RecordedProbes) -> Iterator[Finding]:
    """Yield the slow hosts and pairs of a mesh, or a remark that there are none."""
    one_way, both_ways = (judge_mesh(probed, case) for case in ("", BOTH_WAYS))
    slow = [
        *one_way.findings,
        *unlike_the_others(one_way.judged.without(one_way.slow_pairs), probed.links()),
    ]
    yield from slow
    named = {finding.subject for finding in slow}
    for finding in both_ways.findings:
        if finding.subject not in named:
            yield replace(finding, text=f"{finding.text} ({BOTH_WAYS} at once)")
    is_whole = bool(one_way.judged.values) and not one_way.judged.errors
    if is_whole and not slow and not both_ways.findings:
        if one_way.search is None:
            yield Finding("", "no host and no pair is slower than the others", is_fault=False)
        elif one_way.search.sound:
            text = "no host and no measured pair is slower than the others"
            yield Finding("", text, is_fault=False)
