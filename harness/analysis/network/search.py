"""What a sample of random pairs shows: slow hosts and pairs, and how surely a slow host is among them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from harness.analysis.network.mesh import (
    RECEIVES,
    SENDS,
    HostRole,
    Pair,
    PairMatrix,
    host_lines,
    pair_lines,
    pair_matrix,
)
from harness.analysis.network.processor_limit import without_limited
from harness.model.network_metrics import (
    GOODPUT_TOLERANCE,
    MESH_GOODPUT,
    PAIRS,
    ROUNDS,
    SAMPLED,
)
from harness.model.probe import RecordedProbes
from harness.statistics import pairwise
from harness.statistics.pairwise import (
    SoundRange,
    settled,
    slow_members,
    smallest_found_drop,
    sound_range,
    suspects,
    unexplained,
)
from harness.terminal import count_of

MISSED = 0.01
"""The drop that is stated is that of a host that is missed with at most this probability."""
_DIRECTIONS = {pairwise.SENDS: SENDS, pairwise.RECEIVES: RECEIVES}


@dataclass(frozen=True)
class SearchVerdict:
    """The conclusion from a sample of pairs in one case.

    - `rounds`: the rounds of random pairs, without the follow-up.
    - `seen_fraction`: of all ordered pairs, how many have a value or an error.
    - `sound`: what sound pairs reach; None if most hosts carried nothing.
    - `slow_hosts`: the hosts that are slow, or fail, in `sends`, `receives`, or both.
    - `lines`: one for each slow or failing host, and for each slow pair of other hosts.
    - `found_drop`: a host that is slower by this fraction is missed with the probability MISSED or less; None
      if nothing is so sure.
    """

    hosts: int
    rounds: int
    seen_fraction: float
    suspects: int
    sound: SoundRange | None
    slow_hosts: Mapping[str, frozenset[str]]
    lines: tuple[str, ...]
    found_drop: float | None = None


def is_sampled(probed: RecordedProbes) -> bool:
    """Whether the run measured random pairs of hosts instead of all."""
    return probed.run.parameters.get(PAIRS) == SAMPLED


def goodput_matrix(probed: RecordedProbes, case: str = "") -> PairMatrix:
    """Return the goodputs of a run; in a sample, the value that made a pair a suspect does not count."""
    if is_sampled(probed):
        return pair_matrix(probed.measurements, MESH_GOODPUT, case, summary=settled)
    return pair_matrix(probed.measurements, MESH_GOODPUT, case)


def judge_sample(probed: RecordedProbes, case: str = "") -> SearchVerdict:
    """Return what the goodputs of a sampled run show."""
    goodput, limited_lines = without_limited(
        goodput_matrix(probed, case), probed.measurements, case
    )
    rounds = _rounds(probed)
    count = len(goodput.hosts)
    values = {**dict.fromkeys(goodput.errors, 0.0), **goodput.values}
    seen = len(values) / (count * (count - 1)) if count > 1 else 0.0
    sound = sound_range(values, GOODPUT_TOLERANCE)
    if sound is None:
        return SearchVerdict(count, rounds, seen, count, None, {}, ())
    slow = slow_members(values, sound.limit)
    roles = _host_roles(goodput, slow)
    names = list(dict.fromkeys(role.host for role in roles))
    failing = _failing_hosts(goodput, names)
    return SearchVerdict(
        hosts=count,
        rounds=rounds,
        seen_fraction=seen,
        suspects=len({host for host, _ in suspects(values, sound.limit)}),
        sound=sound,
        slow_hosts={
            name: frozenset(role.direction for role in roles if role.host == name) for name in names
        },
        lines=(
            *failing.values(),
            *host_lines(
                goodput, [role for role in roles if role.host not in failing], sound.typical
            ),
            *_pair_lines(goodput, unexplained(values, sound.limit, slow), sound.typical),
            *limited_lines,
        ),
        found_drop=smallest_found_drop(rounds, sound, MISSED),
    )


def _rounds(probed: RecordedProbes) -> int:
    text = probed.run.parameters.get(ROUNDS, "")
    return int(text) if text.isdecimal() else 0


def _host_roles(goodput: PairMatrix, slow: set[pairwise.Role]) -> list[HostRole]:
    """Return the slow roles with the pairs that carried something, in the order of hosts."""
    return [
        HostRole(
            host,
            direction,
            frozenset(goodput.sent_by(host) if direction is SENDS else goodput.received_by(host)),
        )
        for host in goodput.hosts
        for place, direction in _DIRECTIONS.items()
        if (host, place) in slow
    ]


def _failing_hosts(goodput: PairMatrix, hosts: Iterable[str]) -> dict[str, str]:
    """Return a line for each host of whose pairs more than half failed."""
    lines = {}
    for host in hosts:
        failed = goodput.failures(host)
        all_pairs = failed + len(goodput.of(host))
        if 2 * failed > all_pairs:
            lines[host] = f"{host} fails: {failed} of its {count_of(all_pairs, 'transfer')}"
    return lines


def _pair_lines(goodput: PairMatrix, slow: list[Pair], typical: float) -> list[str]:
    """Return a line for each slow pair; those that failed have an error of their own."""
    both = {pair for a, b in slow for pair in ((a, b), (b, a)) if pair in goodput.values}
    some = replace(goodput, values={pair: goodput.values[pair] for pair in sorted(both)})
    return list(pair_lines(some, set(slow), frozenset(), typical))
