"""Paths that carry less than their ends think, and above all those that do not say so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from statistics import median
from typing import TypeVar

from harness.analysis.mesh import Matrix, Pair, matrix
from harness.model.interface import Bond, HostLink, counter_growth
from harness.model.link import goodput_bit_s, is_same_rate, rate_text, throughput_text
from harness.model.network_metrics import MESH_GOODPUT, PATH_MTU, VANISHED_PACKET
from harness.model.probe import AFTER, BEFORE, Measurement, RecordedProbes
from harness.model.run import Ending


def black_holes(
    measurements: Iterable[Measurement], links: Mapping[str, HostLink]
) -> dict[Pair, str]:
    """A line by pair where packets that the sender may send vanish, or are refused on the way."""
    held = list(measurements)
    paths, vanished = matrix(held, PATH_MTU), matrix(held, VANISHED_PACKET)
    found = {}
    for pair in sorted(paths.values, key=lambda one: tuple(map(paths.hosts.index, one))):
        path = paths.values[pair]
        own, peer = (_mtu(links, host) for host in pair)
        if pair in vanished.values:
            found[pair] = (
                f"{pair[0]} -> {pair[1]}: a black hole: packets of more than {path:.0f} bytes vanish, "
                f"and nobody says so ({_ends(pair, own, peer)})"
            )
        elif own is not None and path < own:
            found[pair] = (
                f"{pair[0]} -> {pair[1]}: the way carries {path:.0f} bytes, and says so "
                f"({_ends(pair, own, peer)})"
            )
    return found


def _mtu(links: Mapping[str, HostLink], host: str) -> int | None:
    return links[host].mtu_bytes if host in links else None


def _ends(pair: Pair, own: int | None, peer: int | None) -> str:
    told: Iterator[str] = (
        f"{host}'s MTU is {'unknown' if mtu is None else mtu}"
        for host, mtu in zip(pair, (own, peer), strict=True)
    )
    return ", ".join(told)


# MERGED from harness.probes.gate: 'The gate: is the network what it is said to be? Every line that comes out of it is a reason for no.'
LEAST_OF_THEORY = 0.9
ENOUGH_PEERS = 2

T = TypeVar("T")


@dataclass(frozen=True)
class Expectation:
    """What every link is to be; None: what most links are."""

    rate_bit_s: int | None = None
    mtu: int | None = None


@dataclass(frozen=True)
class Grounds:
    """What is judged: the links, and what the expectation means for them."""

    links: Mapping[str, HostLink]
    rate_bit_s: int | None
    mtu: int | None


def gate(probed: RecordedProbes, expected: Expectation) -> list[str]:
    """What is wrong with a network as it was probed; nothing is wrong where nothing comes back.

    What was not measured is not right.
    """
    links = probed.links()
    grounds = Grounds(
        links,
        expected.rate_bit_s or usual(link.rate_bit_s for link in links.values()),
        expected.mtu or usual(link.mtu_bytes for link in links.values()),
    )
    return [
        *_incomplete(probed),
        *(line for link in links.values() for line in _link(link, grounds, probed)),
        *_errors(probed),
        *_paths(probed, grounds),
        *_goodput(probed, grounds),
    ]


def _incomplete(probed: RecordedProbes) -> Iterator[str]:
    for trouble in probed.excluded_hosts:
        yield f"{trouble.host} was left out: {trouble.error}"
    if probed.ending is not Ending.COMPLETED:
        yield "the probes did not come to their end: run them again"
    if not probed.links():
        yield "no link is known"


def _link(link: HostLink, grounds: Grounds, probed: RecordedProbes) -> Iterator[str]:
    name = f"{link.host} {link.device}"
    if link.state not in {"up", None}:
        yield f"{name}: {link.state}"
    if link.rate_bit_s is None:
        if not _proven(link.host, grounds, probed):
            yield f"{name}: its rate is unknown, and no goodput shows it"
    elif grounds.rate_bit_s is not None and not is_same_rate(link.rate_bit_s, grounds.rate_bit_s):
        yield f"{name}: {rate_text(link.rate_bit_s)}, expected {rate_text(grounds.rate_bit_s)}"
    if link.duplex == "half":
        yield f"{name}: half duplex"
    if link.mtu_bytes != grounds.mtu:
        yield f"{name}: MTU {link.mtu_bytes or 'unknown'}, expected {grounds.mtu}"
    if link.bond is not None:
        yield from (f"{name}: {fault}" for fault in bond_faults(link.bond))


def _proven(host: str, grounds: Grounds, probed: RecordedProbes) -> bool:
    """Whether a host was seen to carry what a link of the expected rate does."""
    if grounds.rate_bit_s is None or grounds.mtu is None:
        return False
    held = matrix(probed.measurements, MESH_GOODPUT)
    best = max((*held.sent_by(host).values(), *held.received_by(host).values()), default=0.0)
    return best >= LEAST_OF_THEORY * goodput_bit_s(grounds.rate_bit_s, grounds.mtu)


def _errors(probed: RecordedProbes) -> Iterator[str]:
    later = probed.links(AFTER)
    for host, link in probed.links(BEFORE).items():
        grown = counter_growth(link, later[host], "errors") if host in later else None
        if grown:
            yield f"{host} {link.device}: {grown} errors while it was measured"


def _paths(probed: RecordedProbes, grounds: Grounds) -> Iterator[str]:
    held = matrix(probed.measurements, PATH_MTU)
    told = black_holes(probed.measurements, grounds.links)
    yield from told.values()
    yield from held.errors.values()
    if grounds.mtu is None:
        return
    for pair, path in held.values.items():
        # A link with another MTU has been named already.
        whole = all(grounds.links[host].mtu_bytes == grounds.mtu for host in pair)
        if pair not in told and whole and path < grounds.mtu:
            yield f"{named(pair)}: path MTU {path:.0f}, expected {grounds.mtu}"
    yield from _unmeasured("path MTU", held, grounds)


def _goodput(probed: RecordedProbes, grounds: Grounds) -> Iterator[str]:
    held = matrix(probed.measurements, MESH_GOODPUT)
    yield from held.errors.values()
    if grounds.rate_bit_s is None or grounds.mtu is None:
        if held.values:
            yield "the goodput cannot be judged, no link tells its rate: name it, --expect 2500mbit"
        return
    theory = goodput_bit_s(grounds.rate_bit_s, grounds.mtu)
    what = f"of the {throughput_text(theory)} that {rate_text(grounds.rate_bit_s)} at MTU {grounds.mtu} allow"
    low = {pair for pair, value in held.values.items() if value < LEAST_OF_THEORY * theory}
    for host in held.hosts:
        own = {pair for pair in held.values if host in pair}
        if own <= low and len(own) > 2 * (ENOUGH_PEERS - 1):
            best = max(held.values[pair] for pair in own)
            yield f"{host}: with its best peer {throughput_text(best)}, {best / theory:.0%} {what}"
            low -= own
    for pair in sorted(low):
        value = held.values[pair]
        yield f"{named(pair)}: {throughput_text(value)}, {value / theory:.0%} {what}"
    yield from _unmeasured("goodput", held, grounds)


def _unmeasured(what: str, held: Matrix, grounds: Grounds) -> Iterator[str]:
    pairs = set(permutations(grounds.links, 2))
    missing = sorted(pairs - set(held.values) - set(held.errors))
    if not missing:
        return
    which = "any pair" if len(missing) == len(pairs) else ", ".join(map(named, missing))
    yield f"the {what} of {which} was not measured: clusterlift probe all"


def usual(values: Iterable[T | None]) -> T | None:
    """What most are, of those that are known."""
    counts = Counter(value for value in values if value is not None)
    return counts.most_common(1)[0][0] if counts else None


def named(pair: Pair) -> str:
    return f"{pair[0]} -> {pair[1]}"


# MERGED from harness.probes.upgrade: 'Did the upgrade take? A network held against what it was before.'
UNCHANGED = 0.1
"""Goodput that differs by no more than this share is no other."""


def upgrade_gate(before: RecordedProbes, after: RecordedProbes, expected: Expectation) -> list[str]:
    """What is wrong afterwards, what has become worse, and whether anything has changed at all."""
    return [*gate(after, expected), *_worse(before, after), *_unchanged(before, after)]


def _worse(before: RecordedProbes, after: RecordedProbes) -> Iterator[str]:
    now = after.links()
    for host, link in before.links().items():
        if host not in now:
            yield f"{host}: probed before, and not after"
            continue
        was, is_ = link.rate_bit_s, now[host].rate_bit_s
        if was is not None and is_ is not None and is_ < was and not is_same_rate(is_, was):
            yield f"{host}: {rate_text(was)} before, {rate_text(is_)} after"
    was_carried, is_carried = (
        matrix(one.measurements, MESH_GOODPUT).values for one in (before, after)
    )
    for pair, value in was_carried.items():
        if pair in is_carried and is_carried[pair] < (1 - UNCHANGED) * value:
            less = throughput_text(is_carried[pair])
            yield f"{named(pair)}: {throughput_text(value)} before, {less} after"


def _unchanged(before: RecordedProbes, after: RecordedProbes) -> Iterator[str]:
    """The upgrade that nobody plugged in."""
    was, is_ = before.links(), after.links()
    if not was or not is_ or _shape(was) != _shape(is_):
        return
    carried = [matrix(one.measurements, MESH_GOODPUT).values.values() for one in (before, after)]
    if all(carried) and median(carried[1]) > (1 + UNCHANGED) * median(carried[0]):
        return
    rate, mtu_ = _shape(is_)[:2]
    told = "unknown rate" if rate is None else rate_text(rate)
    yield f"nothing has changed: still {told} at MTU {mtu_}, and no more goodput"


def _shape(links: Mapping[str, HostLink]) -> tuple[int | None, int | None, int | None]:
    """What is usual of links: rate, MTU, and how many are in a bond."""
    return (
        usual(link.rate_bit_s for link in links.values()),
        usual(link.mtu_bytes for link in links.values()),
        usual(len(link.bond.members) if link.bond else None for link in links.values()),
    )


_LACP_HINT = " (is LACP on at its port of the switch?)"


def bond_faults(bond: Bond) -> Iterable[str]:
    """What keeps the members from acting as one."""
    for member in bond.members:
        if member.status != "up":
            yield f"member {member.device} is {member.status or 'in an unknown state'}"
    if not bond.members:
        yield "it has no members"
    if bond.is_lacp:
        yield from _in_other_aggregators(bond)


def _in_other_aggregators(bond: Bond) -> Iterable[str]:
    up = [member for member in bond.members if member.status == "up"]
    # Only root is told which aggregator carries the traffic; everybody, whether they differ.
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
                f"member {member.device} is in aggregator {_aggregator_text(member.aggregator)}, and traffic "
                f"goes through {bond.aggregator}{_LACP_HINT}"
            )


def _aggregator_text(aggregator: int | None) -> str:
    return "unknown" if aggregator is None else str(aggregator)
