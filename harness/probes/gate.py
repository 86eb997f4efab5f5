"""The gate: is the network what it is said to be? Every line that comes out of it is a reason for no."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import TypeVar

from harness.model import Ending
from harness.probes import mesh, mtu
from harness.probes.black_holes import black_holes
from harness.probes.link import HostLink, growth
from harness.probes.matrix import Matrix, Pair, matrix
from harness.probes.record import AFTER, BEFORE, Probed
from harness.probes.tools.bonding import faults
from harness.rate import carried_text, goodput_bit_s, is_same_rate, rate_text

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


def gate(probed: Probed, expected: Expectation) -> list[str]:
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


def _incomplete(probed: Probed) -> Iterator[str]:
    for trouble in probed.troubles:
        yield f"{trouble.host} was left out: {trouble.error}"
    if probed.ending is not Ending.COMPLETED:
        yield "the probes did not come to their end: run them again"
    if not probed.links():
        yield "no link is known"


def _link(link: HostLink, grounds: Grounds, probed: Probed) -> Iterator[str]:
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
        yield from (f"{name}: {fault}" for fault in faults(link.bond))


def _proven(host: str, grounds: Grounds, probed: Probed) -> bool:
    """Whether a host was seen to carry what a link of the expected rate does."""
    if grounds.rate_bit_s is None or grounds.mtu is None:
        return False
    held = matrix(probed.measurements, mesh.GOODPUT)
    best = max((*held.sent_by(host).values(), *held.received_by(host).values()), default=0.0)
    return best >= LEAST_OF_THEORY * goodput_bit_s(grounds.rate_bit_s, grounds.mtu)


def _errors(probed: Probed) -> Iterator[str]:
    later = probed.links(AFTER)
    for host, link in probed.links(BEFORE).items():
        grown = growth(link, later[host], "errors") if host in later else None
        if grown:
            yield f"{host} {link.device}: {grown} errors while it was measured"


def _paths(probed: Probed, grounds: Grounds) -> Iterator[str]:
    held = matrix(probed.measurements, mtu.PATH_MTU)
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


def _goodput(probed: Probed, grounds: Grounds) -> Iterator[str]:
    held = matrix(probed.measurements, mesh.GOODPUT)
    yield from held.errors.values()
    if grounds.rate_bit_s is None or grounds.mtu is None:
        if held.values:
            yield "the goodput cannot be judged, no link tells its rate: name it, --expect 2500mbit"
        return
    theory = goodput_bit_s(grounds.rate_bit_s, grounds.mtu)
    what = f"of the {carried_text(theory)} that {rate_text(grounds.rate_bit_s)} at MTU {grounds.mtu} allow"
    low = {pair for pair, value in held.values.items() if value < LEAST_OF_THEORY * theory}
    for host in held.hosts:
        own = {pair for pair in held.values if host in pair}
        if own <= low and len(own) > 2 * (ENOUGH_PEERS - 1):
            best = max(held.values[pair] for pair in own)
            yield f"{host}: with its best peer {carried_text(best)}, {best / theory:.0%} {what}"
            low -= own
    for pair in sorted(low):
        value = held.values[pair]
        yield f"{named(pair)}: {carried_text(value)}, {value / theory:.0%} {what}"
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
    counted = Counter(value for value in values if value is not None)
    return counted.most_common(1)[0][0] if counted else None


def named(pair: Pair) -> str:
    return f"{pair[0]} -> {pair[1]}"
