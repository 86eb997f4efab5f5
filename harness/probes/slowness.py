"""What is slow in a mesh: a host, a pair, or one direction of a pair, by what is usual there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from harness.probes.matrix import Matrix, Pair
from harness.rate import carried_text

TOLERANCE = 0.1
"""What is slower than usual by more than this share is slow."""
ENOUGH_PEERS = 2
"""Slow with a single peer, it may as well be the peer."""

SENDS, RECEIVES = "sends", "receives"


@dataclass(frozen=True)
class _Role:
    """A host as sender or as receiver, and the pairs it has in that role."""

    host: str
    way: str
    pairs: frozenset[Pair]


def slowness(goodput: Matrix) -> list[str]:
    """A line for each host that is slow with all its peers, and for each pair that this leaves."""
    usual = usual_bit_s(goodput)
    if usual is None:
        return []
    slow = slow_pairs(goodput)
    roles = _slow_roles(goodput, slow)
    explained = frozenset[Pair]().union(*(role.pairs for role in roles))
    return [
        *_host_lines(goodput, roles, usual),
        *_pair_lines(goodput, slow, explained, usual),
    ]


def usual_bit_s(goodput: Matrix) -> float | None:
    """What the median host reaches with the best of its peers; None where nothing was measured.

    So neither a slow host nor two that are near each other say what is usual.
    """
    best = [_best(goodput, host) for host in goodput.hosts]
    reached = [value for value in best if value is not None]
    return median(reached) if reached else None


def slow_pairs(goodput: Matrix) -> set[Pair]:
    """Those that are slower than usual."""
    usual = usual_bit_s(goodput)
    if usual is None:
        return set()
    return {pair for pair, value in goodput.values.items() if value < (1 - TOLERANCE) * usual}


def _best(goodput: Matrix, host: str) -> float | None:
    values = [*goodput.sent_by(host).values(), *goodput.received_by(host).values()]
    return max(values, default=None)


def _slow_roles(goodput: Matrix, slow: set[Pair]) -> list[_Role]:
    """Those that explain the most slow pairs first, as long as each explains several."""
    roles = [
        _Role(host, way, frozenset(pairs))
        for host in goodput.hosts
        for way, pairs in (
            (SENDS, goodput.sent_by(host)),
            (RECEIVES, goodput.received_by(host)),
        )
    ]
    candidates = [role for role in roles if role.pairs <= slow]
    chosen: list[_Role] = []
    unexplained = set(slow)
    while candidates:
        role = max(candidates, key=lambda one: len(one.pairs & unexplained))
        if len(role.pairs & unexplained) < ENOUGH_PEERS:
            break
        chosen.append(role)
        unexplained -= role.pairs
    return chosen


def _host_lines(goodput: Matrix, roles: list[_Role], usual: float) -> Iterator[str]:
    for host in dict.fromkeys(role.host for role in roles):
        ways = [role for role in roles if role.host == host]
        values = [goodput.values[pair] for role in ways for pair in role.pairs]
        what = "is slow" if len(ways) > 1 else f"{ways[0].way} slowly"
        yield (
            f"{host} {what}: {carried_text(median(values))} with its peers; "
            f"usual is {carried_text(usual)}"
        )


def _pair_lines(
    goodput: Matrix, slow: set[Pair], explained: frozenset[Pair], usual: float
) -> Iterator[str]:
    done: set[Pair] = set()
    for pair, value in goodput.values.items():
        back = (pair[1], pair[0])
        if pair in done or {pair, back} & explained:
            continue
        done |= {pair, back}
        there, other = carried_text(value), goodput.values.get(back)
        name = f"{pair[0]} <-> {pair[1]}"
        if other is not None and min(value, other) < (1 - TOLERANCE) * max(value, other):
            yield f"{name} is asymmetric: {there} there, {carried_text(other)} back"
        elif {pair, back} & slow:
            both = there if other is None else f"{there} there, {carried_text(other)} back"
            yield f"{name} is slow: {both}; usual is {carried_text(usual)}"
