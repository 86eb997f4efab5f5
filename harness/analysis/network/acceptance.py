"""Network acceptance: the faults of a probed network, and what an upgrade left slow or unchanged."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from statistics import median
from typing import TypeVar

from harness.analysis.network.learnt import unlike_the_others
from harness.analysis.network.mesh import MIN_PEERS, Pair, PairMatrix, pair_matrix
from harness.analysis.network.processor_limit import without_limited
from harness.analysis.network.search import goodput_matrix, is_sampled
from harness.model.interface import Bond, HostLink, counter_growth
from harness.model.link import goodput_bit_s, is_same_rate, rate_text, throughput_text
from harness.model.network_metrics import GOODPUT_TOLERANCE, PATH_MTU, VANISHED_PACKET
from harness.model.probe import AFTER, BEFORE, Measurement, RecordedProbes
from harness.model.run import Ending
from harness.terminal import count_of, percent

MIN_FRACTION_OF_THEORY = 0.9
"""Goodput below this fraction of what TCP can carry is a fault. A healthy idle link reaches more than 0.99;
the margin is for slow start in short transfers and for other traffic. Typical faults, such as a port at a
lower rate, half duplex or a bad cable, cost far more than a tenth."""

T = TypeVar("T")


@dataclass(frozen=True)
class Expectation:
    """What every link must be; None: what most of the links are."""

    rate_bit_s: int | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class _Criteria:
    """The observed links by host, and the rate and MTU they must have; None if those are unknown."""

    links: Mapping[str, HostLink]
    rate_bit_s: int | None
    mtu: int | None


def network_faults(probed: RecordedProbes, expected: Expectation) -> list[str]:
    """Return a line for each fault of a probed network; none if the network is as expected.

    What was not measured is a fault as well.
    """
    links = probed.links()
    criteria = _Criteria(
        links,
        expected.rate_bit_s or _most_common(link.rate_bit_s for link in links.values()),
        expected.mtu or _most_common(link.mtu_bytes for link in links.values()),
    )
    return [
        *_incomplete(probed),
        *(line for link in links.values() for line in _link_faults(link, criteria, probed)),
        *_packet_errors(probed),
        *_path_faults(probed, criteria),
        *_goodput_faults(probed, criteria),
    ]


def _incomplete(probed: RecordedProbes) -> Iterator[str]:
    for excluded in probed.excluded_hosts:
        yield f"{excluded.host} was left out: {excluded.error}"
    if probed.ending is not Ending.COMPLETED:
        yield "the probes did not finish; run them again"
    if not probed.links():
        yield "no link was observed"


def _link_faults(link: HostLink, criteria: _Criteria, probed: RecordedProbes) -> Iterator[str]:
    name = f"{link.host} {link.device}"
    rate_bit_s = criteria.rate_bit_s
    if link.state not in {"up", None}:
        yield f"{name}: the link is {link.state}"
    if link.rate_bit_s is None:
        if not _reaches_expected_goodput(link.host, criteria, probed):
            yield f"{name}: its rate is unknown, and its goodput does not prove the expected rate"
    elif rate_bit_s is not None and not is_same_rate(link.rate_bit_s, rate_bit_s):
        yield f"{name}: {rate_text(link.rate_bit_s)}, expected {rate_text(rate_bit_s)}"
    if link.duplex == "half":
        yield f"{name}: half duplex"
    if link.mtu_bytes != criteria.mtu:
        yield f"{name}: MTU {link.mtu_bytes or 'unknown'}, expected {criteria.mtu}"
    if link.bond is not None:
        yield from (f"{name}: {fault}" for fault in bond_faults(link.bond))


def _reaches_expected_goodput(host: str, criteria: _Criteria, probed: RecordedProbes) -> bool:
    """Whether the host's best goodput is that of a link of the expected rate."""
    if criteria.rate_bit_s is None or criteria.mtu is None:
        return False
    best = goodput_matrix(probed).best(host) or 0.0
    return best >= MIN_FRACTION_OF_THEORY * goodput_bit_s(criteria.rate_bit_s, criteria.mtu)


def _packet_errors(probed: RecordedProbes) -> Iterator[str]:
    after = probed.links(AFTER)
    for host, link in probed.links(BEFORE).items():
        errors = counter_growth(link, after[host], "errors") if host in after else None
        if errors:
            yield f"{host} {link.device}: {errors} packet errors during the probes"


def _path_faults(probed: RecordedProbes, criteria: _Criteria) -> Iterator[str]:
    paths = pair_matrix(probed.measurements, PATH_MTU)
    faults = path_mtu_faults(probed.measurements, criteria.links)
    yield from faults.values()
    yield from paths.errors.values()
    if criteria.mtu is None:
        return
    for pair, path_mtu in paths.values.items():
        # A link with another MTU has its own line already.
        ends_as_expected = all(criteria.links[host].mtu_bytes == criteria.mtu for host in pair)
        if pair not in faults and ends_as_expected and path_mtu < criteria.mtu:
            yield f"{_pair_text(pair)}: path MTU {path_mtu:.0f}, expected {criteria.mtu}"
    yield from _unmeasured("path MTU", paths, criteria, probed)


def path_mtu_faults(
    measurements: Iterable[Measurement], links: Mapping[str, HostLink]
) -> dict[Pair, str]:
    """Return a line for each pair whose path does not carry the largest packets of its sender.

    Larger packets either vanish without an error (a path MTU black hole) or are refused with one.
    """
    measurements = list(measurements)
    paths, vanished = (pair_matrix(measurements, metric) for metric in (PATH_MTU, VANISHED_PACKET))
    faults = {}
    for pair in sorted(paths.values, key=lambda pair: tuple(map(paths.hosts.index, pair))):
        path_mtu = paths.values[pair]
        sender_mtu, receiver_mtu = (
            links[host].mtu_bytes if host in links else None for host in pair
        )
        ends = (
            f"{pair[0]}'s MTU is {sender_mtu or 'unknown'}, "
            f"{pair[1]}'s MTU is {receiver_mtu or 'unknown'}"
        )
        if pair in vanished.values:
            faults[pair] = (
                f"{_pair_text(pair)}: a path MTU black hole: packets larger than {path_mtu:.0f} bytes "
                f"vanish without an error ({ends})"
            )
        elif sender_mtu is not None and path_mtu < sender_mtu:
            faults[pair] = (
                f"{_pair_text(pair)}: the path carries at most {path_mtu:.0f} bytes and refuses larger "
                f"packets with an error ({ends})"
            )
    return faults


def _goodput_faults(probed: RecordedProbes, criteria: _Criteria) -> Iterator[str]:
    goodput = goodput_matrix(probed)
    yield from goodput.errors.values()
    if criteria.rate_bit_s is None or criteria.mtu is None:
        if goodput.values:
            yield (
                "the goodput cannot be judged, because no link reports its rate; "
                "give it, for example --expect 2500mbit"
            )
        yield from unlike_the_others(goodput, criteria.links)
        return
    theory = goodput_bit_s(criteria.rate_bit_s, criteria.mtu)
    reference = (
        f"of the {throughput_text(theory)} that TCP can carry over {rate_text(criteria.rate_bit_s)} "
        f"at MTU {criteria.mtu}"
    )
    slow = {
        pair for pair, value in goodput.values.items() if value < MIN_FRACTION_OF_THEORY * theory
    }
    judged, limited = without_limited(goodput, probed.measurements, slow=slow)
    yield from limited
    slow &= judged.values.keys()
    explained: set[Pair] = set()
    for host in judged.hosts:
        own = judged.of(host)
        # Each peer accounts for two pairs, one per direction.
        if own.keys() <= slow and len(own) > 2 * (MIN_PEERS - 1):
            best = max(own.values())
            yield f"{host}: {throughput_text(best)} with its best peer, {percent(best / theory)} {reference}"
            explained |= own.keys()
    for pair in sorted(slow - explained):
        value = goodput.values[pair]
        yield f"{_pair_text(pair)}: {throughput_text(value)}, {percent(value / theory)} {reference}"
    yield from unlike_the_others(judged.without(slow), criteria.links)
    yield from _unmeasured("goodput", goodput, criteria, probed)


def _unmeasured(
    metric: str, matrix: PairMatrix, criteria: _Criteria, probed: RecordedProbes
) -> Iterator[str]:
    """Yield a line if pairs lack the metric; in a sample, one for each host with too few measured peers."""
    measured = bool(matrix.values or matrix.errors)
    if measured and is_sampled(probed):
        needed = min(MIN_PEERS, len(criteria.links) - 1)
        for host in criteria.links:
            peers = [len(of(host)) for of in (matrix.sent_by, matrix.received_by)]
            if min(peers) < needed and not matrix.failures(host):
                yield (
                    f"{host}: its {metric} was measured with {count_of(min(peers), 'peer')}, a sample needs "
                    f"{needed}; run clusterlift probe all"
                )
        return
    pairs = set(permutations(criteria.links, 2))
    missing = sorted(pairs - set(matrix.values) - set(matrix.errors))
    if not missing:
        return
    if len(missing) == len(pairs):
        yield f"no {metric} was measured; run clusterlift probe all"
    else:
        names = ", ".join(map(_pair_text, missing))
        yield f"the {metric} of {names} was not measured; run clusterlift probe all"


def _most_common(values: Iterable[T | None]) -> T | None:
    """Return the most frequent of the known values; None if none is known."""
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]} -> {pair[1]}"


def upgrade_faults(
    before: RecordedProbes, after: RecordedProbes, expected: Expectation
) -> list[str]:
    """Return the faults of an upgraded network, what became slower, and whether nothing changed."""
    return [*network_faults(after, expected), *_slower(before, after), *_unchanged(before, after)]


def _slower(before: RecordedProbes, after: RecordedProbes) -> Iterator[str]:
    links_after = after.links()
    for host, link in before.links().items():
        if host not in links_after:
            yield f"{host}: probed before, but not after"
            continue
        old, new = link.rate_bit_s, links_after[host].rate_bit_s
        if old is not None and new is not None and new < old and not is_same_rate(new, old):
            yield f"{host}: {rate_text(old)} before, {rate_text(new)} after"
    old_goodput, new_goodput = _goodput(before), _goodput(after)
    for pair, value in old_goodput.items():
        if pair in new_goodput and new_goodput[pair] < (1 - GOODPUT_TOLERANCE) * value:
            lower = throughput_text(new_goodput[pair])
            yield f"{_pair_text(pair)}: {throughput_text(value)} before, {lower} after"


def _unchanged(before: RecordedProbes, after: RecordedProbes) -> Iterator[str]:
    """Yield a line if links and goodput are as before: perhaps nobody plugged the upgrade in."""
    links = [before.links(), after.links()]
    if not all(links) or _typical_link(links[0]) != _typical_link(links[1]):
        return
    old, new = (_goodput(probed).values() for probed in (before, after))
    if old and new and median(new) > (1 + GOODPUT_TOLERANCE) * median(old):
        return
    rate_bit_s, mtu, _ = _typical_link(links[1])
    rate = "of unknown rate" if rate_bit_s is None else rate_text(rate_bit_s)
    yield f"nothing has changed: links are still {rate} at MTU {mtu}, and goodput has not increased"


def _goodput(probed: RecordedProbes) -> Mapping[Pair, float]:
    return goodput_matrix(probed).values


def _typical_link(links: Mapping[str, HostLink]) -> tuple[int | None, int | None, int | None]:
    """Return the most common rate in bit/s, MTU in bytes, and number of bond members."""
    return (
        _most_common(link.rate_bit_s for link in links.values()),
        _most_common(link.mtu_bytes for link in links.values()),
        _most_common(len(link.bond.members) if link.bond else None for link in links.values()),
    )


_LACP_HINT = " (is LACP enabled on the switch ports?)"


def bond_faults(bond: Bond) -> Iterator[str]:
    """Yield a line for each reason why the bond's members do not act as one link."""
    for member in bond.members:
        if member.status != "up":
            yield f"member {member.device} is {member.status or 'in an unknown state'}"
    if not bond.members:
        yield "the bond has no members"
    if bond.is_lacp:
        yield from _aggregator_faults(bond)


def _aggregator_faults(bond: Bond) -> Iterator[str]:
    up = [member for member in bond.members if member.status == "up"]
    # Only root can read which aggregator carries the traffic; every user can read the members'.
    if bond.aggregator is None:
        if len({member.aggregator for member in up}) > 1:
            each = ", ".join(
                f"{member.device} in {_aggregator_text(member.aggregator)}" for member in up
            )
            yield f"its members are in several aggregators: {each}{_LACP_HINT}"
        return
    for member in up:
        if member.aggregator != bond.aggregator:
            yield (
                f"member {member.device} is in aggregator {_aggregator_text(member.aggregator)}, but "
                f"traffic uses aggregator {bond.aggregator}{_LACP_HINT}"
            )


def _aggregator_text(aggregator: int | None) -> str:
    return "unknown" if aggregator is None else str(aggregator)
