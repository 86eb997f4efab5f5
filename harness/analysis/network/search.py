"""What a sample of random pairs shows: slow hosts and pairs, and how surely a slow host is among them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from harness.analysis.network.mesh import (
    HostRole,
    Pair,
    PairMatrix,
    Reference,
    host_findings,
    pair_findings,
    pair_matrix,
)
from harness.model.finding import Finding
from harness.model.network_metrics import (
    GOODPUT_TOLERANCE,
    MESH_GOODPUT,
    PAIRS,
    ROUNDS,
    SAMPLED,
)
from harness.model.probe import RecordedProbes
from harness.node.kernel import positive
from harness.statistics.pairwise import (
    SoundRange,
    settled,
    slow_members,
    smallest_found_drop,
    sound_range,
    suspects,
    unexplained,
)

MISSED = 0.01
"""The drop that is stated is that of a host that is missed with at most this probability."""


@dataclass(frozen=True)
class SearchVerdict:
    """The conclusion from a sample of pairs in one case.

    - `rounds`: the rounds of random pairs, without the follow-up.
    - `seen_fraction`: of all ordered pairs, how many have a value or an error.
    - `sound`: what sound pairs reach; None if most hosts carried nothing.
    - `roles`: those in which a host is slow, or fails.
    - `findings`: one for each slow host, and for each slow pair of other hosts.
    - `found_drop`: a host that is slower by this fraction is missed with the probability MISSED or less; None
      if nothing is so sure.
    """

    hosts: int
    rounds: int
    seen_fraction: float
    suspects: int
    sound: SoundRange | None
    roles: tuple[HostRole, ...] = ()
    findings: tuple[Finding, ...] = ()
    found_drop: float | None = None


def is_sampled(probed: RecordedProbes) -> bool:
    """Whether the run measured random pairs of hosts instead of all."""
    return probed.run.parameters.get(PAIRS) == SAMPLED


def goodput_matrix(probed: RecordedProbes, case: str = "") -> PairMatrix:
    """Return the goodputs of a run; in a sample, the value that made a pair a suspect does not count."""
    if is_sampled(probed):
        return pair_matrix(probed.measurements, MESH_GOODPUT, case, summary=settled)
    return pair_matrix(probed.measurements, MESH_GOODPUT, case)


def judge_sample(probed: RecordedProbes, goodput: PairMatrix) -> SearchVerdict:
    """Return what the goodputs of a sampled run show, without those that processors bounded."""
    rounds = positive(probed.run.parameters.get(ROUNDS)) or 0
    count = len(goodput.hosts)
    values = {**dict.fromkeys(goodput.errors, 0.0), **goodput.values}
    seen = len(values) / (count * (count - 1)) if count > 1 else 0.0
    sound = sound_range(values, GOODPUT_TOLERANCE)
    if sound is None:
        return SearchVerdict(count, rounds, seen, count, None)
    slow = slow_members(values, sound.limit)
    roles = [role for role in goodput.roles if (role.host, role.direction) in slow]
    pairs = unexplained(values, sound.limit, slow)
    typical = Reference(sound.typical, "typical is")
    return SearchVerdict(
        hosts=count,
        rounds=rounds,
        seen_fraction=seen,
        suspects=len({host for host, _ in suspects(values, sound.limit)}),
        sound=sound,
        roles=tuple(roles),
        findings=(
            *host_findings(goodput, [r for r in roles if not _fails(goodput, r)], typical),
            *_pair_findings(goodput, pairs, typical),
        ),
        found_drop=smallest_found_drop(rounds, sound, MISSED),
    )


def _fails(goodput: PairMatrix, role: HostRole) -> bool:
    """Whether the role's pairs, or most of those of its host, failed, which the failures themselves say."""
    return not role.pairs or goodput.failures(role.host) > len(goodput.of(role.host))


def _pair_findings(
    goodput: PairMatrix, slow: Sequence[Pair], typical: Reference
) -> Iterator[Finding]:
    """Yield a finding for each slow pair; those that failed have an error of their own."""
    both = {pair for a, b in slow for pair in ((a, b), (b, a)) if pair in goodput.values}
    some = replace(goodput, values={pair: goodput.values[pair] for pair in sorted(both)})
    return pair_findings(some, slow, (), typical)
