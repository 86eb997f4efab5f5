"""Criteria that are learnt from the hosts themselves: which hosts are unlike the others of their class.

Theory says what a link can carry at most. What links of a class (rate, MTU, driver, members of a bond) really
carry, the hosts themselves show: most of them are sound, so their median is the criterion, and how much they
and their single pairs vary says how far below it a host may be (the idea is that of SuperBench, Xiong et al.,
USENIX ATC 2024).
"""

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt
from statistics import NormalDist, median

from harness.analysis.network.mesh import PairMatrix
from harness.model.finding import Finding
from harness.model.interface import HostLink
from harness.model.link import rate_text, throughput_text
from harness.statistics.median import MAD_TO_SD
from harness.statistics.student import two_sided_quantile
from harness.words import count_of, percent

MIN_HOSTS = 5
"""Of fewer hosts, nothing can be learnt: two bad ones would be the rule."""
MIN_MARGIN = 0.02
"""The smallest shortfall that is reported, as a fraction."""
FALSE_ALARM = 0.01
"""How likely one of the sound hosts of a class may be called unlike the others."""
_DECILE = 0.9
_NORMAL = NormalDist()
_NOISE_OF_DECILE = sqrt(_DECILE * (1 - _DECILE)) / _NORMAL.pdf(_NORMAL.inv_cdf(_DECILE))
"""The standard deviation of the upper decile of n normal values, in theirs by the root of n."""


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
        by_host = _of_hosts(goodput, hosts)
        if len(by_host) < MIN_HOSTS:
            continue
        values = {host: _upper_decile(own) for host, own in by_host.items()}
        middle = median(values.values())
        if not middle:
            continue
        margin = margin_of(list(by_host.values()))
        for host, value in values.items():
            if value < (1 - margin) * middle:
                yield Finding(
                    host,
                    f"{throughput_text(value)}, {percent(1 - value / middle, 1)} less than the median of "
                    f"{count_of(len(values), 'host')} ({link_class}), which vary by less than "
                    f"{percent(margin, 1)}",
                )


def _of_hosts(goodput: PairMatrix, hosts: Sequence[str]) -> dict[str, list[float]]:
    """Return the values of each host's pairs with hosts of its class, in both directions."""
    own: dict[str, list[float]] = {host: [] for host in hosts}
    for (sender, receiver), value in goodput.values.items():
        if sender in own and receiver in own:
            own[sender].append(value)
            own[receiver].append(value)
    return {host: values for host, values in own.items() if values}


def _upper_decile(values: Sequence[float]) -> float:
    """Return what a host can do itself: a pair is as slow as the slower of its hosts."""
    return sorted(values)[int(_DECILE * (len(values) - 1))]


def margin_of(by_host: Sequence[Sequence[float]]) -> float:
    """Return how far below their median, as a fraction, sound hosts hardly ever are; 1 at most.

    Takes the values of each host's pairs. Where few pairs of each were measured, hosts may seem to agree by
    chance: they may differ by what the pairs' own noise makes of their deciles, too.
    """
    deciles = [_upper_decile(own) for own in by_host]
    level = 1 - FALSE_ALARM / len(deciles)
    # Half of the hosts tell the deviation, less one: the fastest is as fast as the second, with which it is
    # paired. Simulated for 5 to 64 hosts, FALSE_ALARM holds.
    of_hosts = two_sided_quantile(len(deciles) // 2 - 1, 2 * (1 - level)) * _deviation(deciles)
    noise = _deviation([value for own in by_host for value in own])
    of_pairs = _NORMAL.inv_cdf(level) * noise * _NOISE_OF_DECILE / sqrt(min(map(len, by_host)))
    return min(1.0, max(of_hosts / median(deciles), of_pairs / median(deciles), MIN_MARGIN))


def _deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of normal values, some of which may be anything."""
    middle = median(values)
    return MAD_TO_SD * median(abs(value - middle) for value in values)
