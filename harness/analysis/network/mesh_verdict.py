"""Which hosts and pairs of a mesh are slow: one judge for its page, its picture, the gate and `ready`."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from harness.analysis.network.learnt import unlike_the_others
from harness.analysis.network.mesh import (
    HostRole,
    Pair,
    PairMatrix,
    host_findings,
    pair_findings,
    reference_of,
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
from harness.model.interface import HostLink, usual_max_goodput_bit_s
from harness.model.link import throughput_text
from harness.model.network_metrics import BOTH_WAYS, GOODPUT_TOLERANCE
from harness.model.probe import RecordedProbes
from harness.words import percent


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
    goodput = goodput_matrix(probed, case)
    reference = reference_of(goodput, probed.links().values())
    slow = slow_pairs(goodput, reference)
    judged, limited = without_limited(goodput, probed.measurements, slow, case)
    if is_sampled(probed):
        search = judge_sample(probed, judged)
        limit = search.sound.limit if search.sound else 0.0
        below = frozenset(pair for pair, value in judged.values.items() if value < limit)
        return MeshVerdict(judged, below, search.roles, (*search.findings, *limited), search)
    reference = reference_of(judged, probed.links().values())
    slow = slow_pairs(judged, reference)
    roles = tuple(slow_roles(judged, slow))
    explained = {pair for role in roles for pair in role.pairs}
    findings = (
        *host_findings(judged, roles, reference),
        *pair_findings(judged, slow, explained, reference),
    )
    return MeshVerdict(judged, frozenset(slow), roles, (*findings, *limited))


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
        typical = typical_bit_s(one_way.judged)
        if search := one_way.search:
            typical = search.sound.typical if search.sound else None
        if typical:
            yield _nobody_is_slow(one_way, typical, probed.links().values())


def _nobody_is_slow(
    verdict: MeshVerdict, typical_bit_s: float, links: Iterable[HostLink]
) -> Finding:
    """Return the remark that no host is slower than most, and whether most may be slow."""
    best = max(verdict.judged.values.values())
    allowed = usual_max_goodput_bit_s(links) or 0.0
    typical, least = throughput_text(typical_bit_s), typical_bit_s / (1 - GOODPUT_TOLERANCE)
    if verdict.search is not None and least < allowed and best >= (1 - GOODPUT_TOLERANCE) * allowed:
        return Finding(
            "",
            f"typical is {typical}, but links allow {throughput_text(allowed)}, which some pairs reach: too "
            "many hosts are slow for a search to name them; measure all pairs with --exhaustive",
        )
    pair = "pair" if verdict.search is None else "measured pair"
    text = f"no host and no {pair} is slower than the others"
    if best > least:
        text = (
            f"no host and no {pair} is slower than most others, but some reach {throughput_text(best)}, and "
            f"typical is {typical}"
        )
    elif allowed > least:
        share = percent(typical_bit_s / allowed)
        text += f", but typical is {typical}, {share} of the {throughput_text(allowed)} that links allow"
    return Finding("", text, is_fault=False)
