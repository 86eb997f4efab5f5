"""A metric of every pair: who to whom, the median of its repeats, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.model.link import TYPICAL_MTU, rate_of_goodput, rate_text, throughput_text
from harness.model.probe import ARROW, Measurement, Metric

Pair = tuple[str, str]
"""Sender and receiver."""


@dataclass(frozen=True)
class Matrix:
    """Values and errors by pair; a pair with neither was not tried.

    Hosts are in the order of their names, node2 before node10.
    """

    hosts: tuple[str, ...]
    values: Mapping[Pair, float]
    errors: Mapping[Pair, str]

    def sent_by(self, host: str) -> dict[Pair, float]:
        """The values of what a host sent."""
        return {pair: value for pair, value in self.values.items() if pair[0] == host}

    def received_by(self, host: str) -> dict[Pair, float]:
        """The values of what a host received."""
        return {pair: value for pair, value in self.values.items() if pair[1] == host}


def matrix(measurements: Iterable[Measurement], metric: Metric, case: str = "") -> Matrix:
    """The pairs of one metric in one case; a pair that was measured at least once has a value."""
    found: dict[Pair, list[float]] = {}
    errors: dict[Pair, str] = {}
    for one in measurements:
        if (one.probe, one.metric, one.case) != (metric.probe, metric.name, case):
            continue
        sender, _, receiver = one.subject.partition(ARROW)
        values = found.setdefault((sender, receiver), [])
        if one.value is not None:
            values.append(one.value)
        elif one.error is not None:
            errors.setdefault((sender, receiver), one.error)
    return Matrix(
        hosts=tuple(sorted({host for pair in found for host in pair}, key=_numbered)),
        values={pair: median(values) for pair, values in found.items() if values},
        errors={pair: error for pair, error in errors.items() if not found[pair]},
    )


def _numbered(host: str) -> list[tuple[int, str]]:
    """Numbers within a name count as numbers."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", host)]


# MERGED from harness.probes.slowness: 'What is slow in a mesh: a host, a pair, or one direction of a pair, by what is usual there.'
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
            f"{host} {what}: {throughput_text(median(values))} with its peers; "
            f"usual is {throughput_text(usual)}"
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
        there, other = throughput_text(value), goodput.values.get(back)
        name = f"{pair[0]} <-> {pair[1]}"
        if other is not None and min(value, other) < (1 - TOLERANCE) * max(value, other):
            yield f"{name} is asymmetric: {there} there, {throughput_text(other)} back"
        elif {pair, back} & slow:
            both = there if other is None else f"{there} there, {throughput_text(other)} back"
            yield f"{name} is slow: {both}; usual is {throughput_text(usual)}"


WHOLE = 0.05


NOT_HELD_BACK = 1.15
"""A ratio up to this is 1:1, measured on a network that others use too."""


def oversubscription_text(
    subject: str, ratios: Sequence[float], across_bit_s: Sequence[float], mtu: int = TYPICAL_MTU
) -> str:
    """How far the uplink is oversubscribed, in words, with the range of the draws.

    `across_bit_s` is goodput; the uplink's own rate has the frames' headers besides.
    """
    ratio, near = median(ratios), _near(rate_of_goodput(median(across_bit_s), mtu))
    draws = f"{min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} draws"
    if len(ratios) == 1:
        draws = "in a single draw"
    if ratio <= NOT_HELD_BACK:
        return f"{subject}: 1:1 ({draws}), the uplink carries {near} or more"
    return f"{subject}: about {_ratio(ratio)}:1 ({draws}), uplink near {near}"


def _ratio(value: float) -> str:
    """To a tenth, and whole where a tenth would be more than is known."""
    whole = round(value)
    return str(whole) if abs(value - whole) <= WHOLE * whole else f"{value:.1f}"


def _near(bit_s: float) -> str:
    """To two digits, which is what is known of it."""
    return rate_text(int(float(f"{bit_s:.2g}")))
