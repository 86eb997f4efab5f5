"""A metric of every pair of hosts, and the typical goodput."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from harness.base.words import natural_order
from harness.model.probe import Measurement, Metric, Pair, samples

SENDS, RECEIVES = "sends", "receives"


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

    def failures(self, host: str) -> int:
        """Return the number of pairs of the host that have an error."""
        return self._failures[host]

    def best(self, host: str) -> float | None:
        """Return the greatest value that the host sends or receives; None if it has none."""
        return max(self.of(host).values(), default=None)

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


def pair_matrix(measurements: Iterable[Measurement], metric: Metric, case: str = "") -> PairMatrix:
    """Return the matrix of one metric in one case.

    The value of a pair is the median of its successful repeats; its error, if all repeats failed, the first.
    """
    wanted = (metric.probe, metric.name, case)
    own = (each for each in measurements if (each.probe, each.metric, each.case) == wanted)
    found = [((each.hosts[0], each.hosts[1]), each) for each in samples(own) if len(each.hosts) > 1]
    return PairMatrix(
        hosts=tuple(sorted({host for pair, _ in found for host in pair}, key=natural_order)),
        values={pair: median(each.values) for pair, each in found if each.values},
        errors={p: each.errors[0] for p, each in found if each.errors and not each.values},
    )


def typical_bit_s(goodput: PairMatrix) -> float | None:
    """Return the median over the hosts of each host's best goodput, in bit/s; None without values.

    Neither one slow host nor two neighbours with a fast connection affect it much.
    """
    best = map(goodput.best, goodput.hosts)
    known = [value for value in best if value is not None]
    return median(known) if known else None
