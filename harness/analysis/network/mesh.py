"""A metric of every pair of hosts, and what it shows: slow hosts, slow pairs, oversubscribed uplinks."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median

from harness.model.finding import Finding
from harness.model.interface import HostLink, usual_max_goodput_bit_s
from harness.model.link import TYPICAL_MTU, rate_of_goodput, rate_text, throughput_text
from harness.model.network_metrics import GOODPUT_TOLERANCE
from harness.model.probe import ARROW, BOTH_WAYS_ARROW, Measurement, Metric
from harness.statistics import pairwise

Pair = pairwise.Pair
SENDS, RECEIVES, MIN_PEERS = pairwise.SENDS, pairwise.RECEIVES, pairwise.MIN_PEERS
ONE_TO_ONE_LIMIT = 1.15
"""A measured ratio up to this counts as 1:1, because other traffic on the uplink lowers the goodput across
racks a little. Uplinks that are oversubscribed by design have clearly larger ratios, such as 2:1 or 4:1."""
_WHOLE_NUMBER_TOLERANCE = 0.05
"""A ratio within this fraction of a whole number is written as that number: the draws are not more exact."""


@dataclass(frozen=True)
class HostRole:
    """A host as sender or as receiver, and its pairs in that direction."""

    host: str
    direction: str
    pairs: frozenset[Pair]


@dataclass(frozen=True)
class PairMatrix:
    """Values in the metric's unit, and errors, by pair; a pair in neither was not measured.

    Hosts are in natural order: node2 before node10.
    """

    hosts: tuple[str, ...]
    values: Mapping[Pair, float]
    errors: Mapping[Pair, str]

    def sent_by(self, host: str) -> dict[Pair, float]:
        """Return the values of the pairs in which the host sends."""
        return {pair: self.values[pair] for pair in self._by_host.get(host, ()) if pair[0] == host}

    def received_by(self, host: str) -> dict[Pair, float]:
        """Return the values of the pairs in which the host receives."""
        return {pair: self.values[pair] for pair in self._by_host.get(host, ()) if pair[1] == host}

    def of(self, host: str) -> dict[Pair, float]:
        """Return the values of the pairs in which the host sends or receives."""
        return {pair: self.values[pair] for pair in self._by_host.get(host, ())}

    @property
    def roles(self) -> list[HostRole]:
        """Every host as sender and as receiver, with its pairs that have a value."""
        return [
            HostRole(host, direction, frozenset(pairs(host)))
            for host in self.hosts
            for direction, pairs in ((SENDS, self.sent_by), (RECEIVES, self.received_by))
        ]

    def failures(self, host: str) -> int:
        """Return the number of pairs of the host that have an error."""
        return self._failures[host]

    def best(self, host: str) -> float | None:
        """Return the greatest value that the host sends or receives; None if it has none."""
        return max(self.of(host).values(), default=None)

    def without(self, pairs: Collection[Pair]) -> "PairMatrix":
        """Return the matrix without the values of these pairs."""
        kept = {pair: value for pair, value in self.values.items() if pair not in pairs}
        return replace(self, values=kept)

    @cached_property
    def _by_host(self) -> Mapping[str, Sequence[Pair]]:
        """The pairs that have a value, by each of their hosts: all pairs of 1,000 hosts are a million."""
        pairs: dict[str, list[Pair]] = {}
        for pair in self.values:
            for host in pair:
                pairs.setdefault(host, []).append(pair)
        return pairs

    @cached_property
    def _failures(self) -> Counter[str]:
        return Counter(host for pair in self.errors for host in pair)


def pair_matrix(
    measurements: Iterable[Measurement],
    metric: Metric,
    case: str = "",
    *,
    summary: Callable[[Sequence[float]], float] = median,
) -> PairMatrix:
    """Return the matrix of one metric in one case.

    The value of a pair is the `summary` of its successful repeats, in their order; its error, if all repeats
    failed, the first.
    """
    found: dict[Pair, list[float]] = {}
    errors: dict[Pair, str] = {}
    for measurement in measurements:
        key = (measurement.probe, measurement.metric, measurement.case)
        if key != (metric.probe, metric.name, case):
            continue
        sender, _, receiver = measurement.subject.partition(ARROW)
        values = found.setdefault((sender, receiver), [])
        if measurement.value is not None:
            values.append(measurement.value)
        elif measurement.error is not None:
            errors.setdefault((sender, receiver), measurement.error)
    return PairMatrix(
        hosts=tuple(sorted({host for pair in found for host in pair}, key=natural_order)),
        values={pair: summary(values) for pair, values in found.items() if values},
        errors={pair: error for pair, error in errors.items() if not found[pair]},
    )


def natural_order(host: str) -> list[tuple[int, str]]:
    """Return a sort key that orders the numbers within names by value."""
    parts = re.split(r"(\d{1,18})", host)
    return [(int(part), "") if part.isdecimal() else (0, part) for part in parts]


def typical_bit_s(goodput: PairMatrix) -> float | None:
    """Return the median over the hosts of each host's best goodput, in bit/s; None without values.

    Neither one slow host nor two neighbours with a fast connection affect it much.
    """
    best = map(goodput.best, goodput.hosts)
    known = [value for value in best if value is not None]
    return median(known) if known else None


@dataclass(frozen=True)
class Reference:
    """The goodput in bit/s that sound pairs reach or nearly reach, and how that is known."""

    bit_s: float
    source: str

    def __str__(self) -> str:
        return f"{self.source} {throughput_text(self.bit_s)}"


def reference_of(goodput: PairMatrix, links: Iterable[HostLink]) -> Reference:
    """Return what is typical; or what the links allow, if some pair reaches that, and most hosts do not."""
    typical, allowed = typical_bit_s(goodput) or 0.0, usual_max_goodput_bit_s(links) or 0.0
    best = max(goodput.values.values(), default=0.0)
    if typical < (1 - GOODPUT_TOLERANCE) * allowed <= best:
        return Reference(allowed, "links allow")
    return Reference(typical, "typical is")


def slow_pairs(goodput: PairMatrix, reference: Reference) -> set[Pair]:
    """Return the pairs that are slower than the reference by more than GOODPUT_TOLERANCE."""
    limit = (1 - GOODPUT_TOLERANCE) * reference.bit_s
    return {pair for pair, value in goodput.values.items() if value < limit}


def slow_roles(goodput: PairMatrix, slow: Collection[Pair]) -> list[HostRole]:
    """Return roles in which a host is slow with all peers, chosen greedily by slow pairs explained.

    A role is chosen only if it explains MIN_PEERS slow pairs that no earlier one explains.
    """
    unexplained = set(slow)
    candidates = [role for role in goodput.roles if role.pairs <= unexplained]
    chosen: list[HostRole] = []
    while candidates:
        best = max(candidates, key=lambda role: len(role.pairs & unexplained))
        if len(best.pairs & unexplained) < MIN_PEERS:
            break
        chosen.append(best)
        unexplained -= best.pairs
    return chosen


def host_findings(
    goodput: PairMatrix, roles: Sequence[HostRole], reference: Reference
) -> Iterator[Finding]:
    """Yield a finding for each host with a slow role."""
    for host in dict.fromkeys(role.host for role in roles):
        own = [role for role in roles if role.host == host]
        values = [goodput.values[pair] for role in own for pair in role.pairs]
        verdict = "slow" if len(own) > 1 else f"{own[0].direction} slowly"
        yield Finding(
            host,
            f"{verdict}, {throughput_text(median(values))} with its peers; {reference}",
        )


def pair_findings(
    goodput: PairMatrix,
    slow: Collection[Pair],
    explained: Collection[Pair],
    reference: Reference,
) -> Iterator[Finding]:
    """Yield a finding for each pair of hosts that is slow, or whose two directions differ.

    Of a pair of which one direction is explained, the other one is judged alone.
    """
    done: set[Pair] = set()
    for pair, value in goodput.values.items():
        reverse = (pair[1], pair[0])
        if pair in done or pair in explained:
            continue
        if reverse in explained:
            if pair in slow:
                yield Finding(ARROW.join(pair), f"slow, {throughput_text(value)}; {reference}")
            continue
        done |= {pair, reverse}
        back = goodput.values.get(reverse)
        name = BOTH_WAYS_ARROW.join(pair)
        both = throughput_text(value)
        if back is not None:
            both = f"{both} there, {throughput_text(back)} back"
        if back is not None and min(value, back) < (1 - GOODPUT_TOLERANCE) * max(value, back):
            yield Finding(name, f"asymmetric, {both}")
        elif pair in slow or reverse in slow:
            yield Finding(name, f"slow, {both}; {reference}")


def oversubscription_text(
    ratios: Sequence[float], across_bit_s: Sequence[float], mtu: int = TYPICAL_MTU
) -> str:
    """Return how far a rack's uplink is oversubscribed, with the range of the draws.

    `ratios` are those of the draws; `across_bit_s` is their goodput across racks, from which the line
    estimates the uplink's rate on the wire.
    """
    ratio = median(ratios)
    rate = rate_text(rate_of_goodput(median(across_bit_s), mtu), 2)  # as exact as the estimate
    draws = f"{min(ratios):.1f} to {max(ratios):.1f} in {len(ratios)} draws"
    if len(ratios) == 1:
        draws = "in a single draw"
    if ratio <= ONE_TO_ONE_LIMIT:
        return f"1:1 ({draws}), the uplink carries {rate} or more"
    return f"about {ratio_text(ratio)}:1 ({draws}), uplink near {rate}"


def ratio_text(ratio: float) -> str:
    """Return a ratio as exactly as it is known: `4`, `3.4`."""
    whole = round(ratio)
    return str(whole) if abs(ratio - whole) <= _WHOLE_NUMBER_TOLERANCE * whole else f"{ratio:.1f}"
