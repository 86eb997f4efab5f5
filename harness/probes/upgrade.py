"""Did the upgrade take? A network held against what it was before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median

from harness.probes import mesh
from harness.probes.gate import Expectation, gate, named, usual
from harness.probes.link import HostLink
from harness.probes.matrix import matrix
from harness.probes.record import Probed
from harness.rate import carried_text, is_same_rate, rate_text

UNCHANGED = 0.1
"""Goodput that differs by no more than this share is no other."""


def upgrade_gate(before: Probed, after: Probed, expected: Expectation) -> list[str]:
    """What is wrong afterwards, what has become worse, and whether anything has changed at all."""
    return [*gate(after, expected), *_worse(before, after), *_unchanged(before, after)]


def _worse(before: Probed, after: Probed) -> Iterator[str]:
    now = after.links()
    for host, link in before.links().items():
        if host not in now:
            yield f"{host}: probed before, and not after"
            continue
        was, is_ = link.rate_bit_s, now[host].rate_bit_s
        if was is not None and is_ is not None and is_ < was and not is_same_rate(is_, was):
            yield f"{host}: {rate_text(was)} before, {rate_text(is_)} after"
    was_carried, is_carried = (
        matrix(one.measurements, mesh.GOODPUT).values for one in (before, after)
    )
    for pair, value in was_carried.items():
        if pair in is_carried and is_carried[pair] < (1 - UNCHANGED) * value:
            less = carried_text(is_carried[pair])
            yield f"{named(pair)}: {carried_text(value)} before, {less} after"


def _unchanged(before: Probed, after: Probed) -> Iterator[str]:
    """The upgrade that nobody plugged in."""
    was, is_ = before.links(), after.links()
    if not was or not is_ or _shape(was) != _shape(is_):
        return
    carried = [matrix(one.measurements, mesh.GOODPUT).values.values() for one in (before, after)]
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
