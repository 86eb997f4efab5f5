"""Paths that carry less than their ends think, and above all those that do not say so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from harness.probes.link import HostLink
from harness.probes.matrix import Pair, matrix
from harness.probes.measurement import Measurement
from harness.probes.mtu import PATH_MTU, VANISHED


def black_holes(
    measurements: Iterable[Measurement], links: Mapping[str, HostLink]
) -> dict[Pair, str]:
    """A line by pair where packets that the sender may send vanish, or are refused on the way."""
    held = list(measurements)
    paths, vanished = matrix(held, PATH_MTU), matrix(held, VANISHED)
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
