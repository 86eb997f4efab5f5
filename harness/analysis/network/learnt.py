"""Criteria that are learnt from the hosts themselves: which hosts are unlike the others of their class.

Theory says what a link can carry at most. What links of a class (rate, MTU, driver, members of a bond) really
carry, the hosts themselves show: most of them are sound, so their median is the criterion, and how much they
vary says how far below it a host may be (the idea is that of SuperBench, Xiong et al., USENIX ATC 2024).
"""

from collections.abc import Iterator, Mapping, Sequence
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


def class_of(link: HostLink) -> str:
    """Return what links have to have in common to be compared: driver, rate, MTU and members of a bond."""
    rate = rate_text(link.rate_bit_s) if link.rate_bit_s else "unknown rate"
    members = len(link.bond.members) if link.bond else 0
    bond = f", {count_of(members, 'member')}" if members else ""
    return f"{link.driver or 'unknown driver'}, {rate}, MTU {link.mtu_bytes or 'unknown'}{bond}"


def unlike_the_others(goodput: PairMatrix, links: Mapping[str, HostLink]) -> Iterator[Finding]:
    """Yield a finding for each host that is slower than the others of its class are."""
    by_class: dict[str, list[str]] = {}
    for host in goodput.hosts:
        if host in links:
            by_class.setdefault(class_of(links[host]), []).append(host)
    for link_class, hosts in by_class.items():
        values = _of_hosts(goodput, hosts)
        middle = median(values.values()) if len(values) >= MIN_HOSTS else 0.0
        if not middle:
            continue
        margin = margin_of(list(values.values()))
        for host, value in values.items():
            if value < (1 - margin) * middle:
                yield Finding(
                    host,
                    f"{throughput_text(value)}, {percent(1 - value / middle, 1)} less than the median of "
                    f"{count_of(len(values), 'host')} ({link_class}), which vary by less than "
                    f"{percent(margin, 1)}",
                )


def _of_hosts(goodput: PairMatrix, hosts: Sequence[str]) -> dict[str, float]:
    """Return the upper decile of each host over its pairs with hosts of its class, in both directions.

    A pair is as slow as the slower of its hosts, so what a host can do itself shows with its better peers.
    """
    own: dict[str, list[float]] = {host: [] for host in hosts}
    for (sender, receiver), value in goodput.values.items():
        if sender in own and receiver in own:
            own[sender].append(value)
            own[receiver].append(value)
    return {
        host: sorted(values)[int(0.9 * (len(values) - 1))] for host, values in own.items() if values
    }


def margin_of(values: Sequence[float]) -> float:
    """Return how far below their median, as a fraction, sound hosts hardly ever are; 1 at most."""
    middle = median(values)
    deviation = median(abs(value - middle) for value in values) / _MAD_OF_NORMAL
    distance = NormalDist().inv_cdf(1 - FALSE_ALARM / len(values)) * deviation
    return min(1.0, max(distance / middle, MIN_MARGIN))
