"""Criteria that are learnt from the hosts themselves: which hosts are unlike the others of their class.

Theory says what a link can carry at most. What links of a class (rate, MTU, driver, members of a bond) really
carry, the hosts themselves show: most of them are sound, so their median is the criterion, and how much they
vary says how far below it a host may be (the idea is that of SuperBench, Xiong et al., USENIX ATC 2024).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist, median

from harness.analysis.network.mesh import PairMatrix
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.link import rate_text, throughput_text
from harness.terminal import count_of, percent

MIN_HOSTS = 5
"""Of fewer hosts, nothing can be learnt: two bad ones would be the rule."""
MIN_MARGIN = 0.02
"""The smallest shortfall that is reported, as a fraction."""
FALSE_ALARM = 0.01
"""How likely one of the sound hosts of a class may be called unlike the others."""
_MAD_OF_NORMAL = NormalDist().inv_cdf(0.75)
"""The median absolute deviation of a normal distribution, in its standard deviations."""


@dataclass(frozen=True)
class LinkClass:
    """What links have to have in common to be compared; None is unknown."""

    rate_bit_s: int | None
    mtu_bytes: int | None
    driver: str | None
    members: int

    def __str__(self) -> str:
        rate = rate_text(self.rate_bit_s) if self.rate_bit_s else "unknown rate"
        bond = f", {count_of(self.members, 'member')}" if self.members else ""
        return f"{self.driver or 'unknown driver'}, {rate}, MTU {self.mtu_bytes or 'unknown'}{bond}"


@dataclass(frozen=True)
class Criterion:
    """What the hosts of a class reach: the median of their goodputs, and what is too low, in bit/s."""

    link_class: LinkClass
    hosts: int
    median_bit_s: float
    limit_bit_s: float

    @property
    def margin(self) -> float:
        """How far below the median a host may be, as a fraction."""
        return 1 - self.limit_bit_s / self.median_bit_s


def class_of(link: HostLink) -> LinkClass:
    """Return the class of a link."""
    members = len(link.bond.members) if link.bond else 0
    return LinkClass(link.rate_bit_s, link.mtu_bytes, link.driver, members)


def criteria(
    goodput: PairMatrix, links: Mapping[str, HostLink]
) -> dict[LinkClass, tuple[Criterion, Mapping[str, float]]]:
    """Return the criterion of each class with enough hosts, and the goodput of each of its hosts in bit/s.

    That of a host is the upper decile over its pairs with hosts of its class, in both directions: a pair is
    as slow as the slower of its hosts, so what a host can do itself shows with its better peers.
    """
    by_class: dict[LinkClass, list[str]] = {}
    for host in goodput.hosts:
        if host in links:
            by_class.setdefault(class_of(links[host]), []).append(host)
    found: dict[LinkClass, tuple[Criterion, Mapping[str, float]]] = {}
    for link_class, hosts in by_class.items():
        values = _of_hosts(goodput, hosts)
        if len(values) >= MIN_HOSTS:
            found[link_class] = (_criterion(link_class, list(values.values())), values)
    return found


def _of_hosts(goodput: PairMatrix, hosts: Sequence[str]) -> dict[str, float]:
    own: dict[str, list[float]] = {host: [] for host in hosts}
    for (sender, receiver), value in goodput.values.items():
        if sender in own and receiver in own:
            own[sender].append(value)
            own[receiver].append(value)
    return {host: _upper_decile(values) for host, values in own.items() if values}


def _upper_decile(values: Sequence[float]) -> float:
    return sorted(values)[int(0.9 * (len(values) - 1))]


def _criterion(link_class: LinkClass, values: Sequence[float]) -> Criterion:
    middle = median(values)
    deviation = median(abs(value - middle) for value in values) / _MAD_OF_NORMAL
    distance = NormalDist().inv_cdf(1 - FALSE_ALARM / len(values)) * deviation
    limit = middle - max(distance, MIN_MARGIN * middle)
    return Criterion(link_class, len(values), middle, max(0.0, limit))


def unlike_the_others(goodput: PairMatrix, links: Mapping[str, HostLink]) -> Iterator[Finding]:
    """Yield a finding for each host that is slower than the others of its class are."""
    for criterion, values in criteria(goodput, links).values():
        for host, value in values.items():
            if value < criterion.limit_bit_s:
                yield Finding(
                    host,
                    f"{throughput_text(value)}, {percent(1 - value / criterion.median_bit_s, 1)} less than "
                    f"the median of {criterion.hosts} hosts ({criterion.link_class}), which vary by less "
                    f"than {percent(criterion.margin, 1)}",
                )
