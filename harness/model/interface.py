"""A host's network interface, as the host itself describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from harness.model.link import goodput_bit_s

LACP = "802.3ad"


@dataclass(frozen=True)
class BondMember:
    """One of a bond's links. Its `aggregator` is whom it negotiated to send with."""

    device: str
    status: str | None
    speed_mbit_s: int | None
    duplex: str | None
    aggregator: int | None


@dataclass(frozen=True)
class Bond:
    """`aggregator` is the one that carries traffic; None where the mode knows none."""

    mode: str
    aggregator: int | None
    members: tuple[BondMember, ...]

    @property
    def is_lacp(self) -> bool:
        """Whether the switch takes part."""
        return LACP in self.mode


@dataclass(frozen=True)
class HostLink:
    """A host's interface, as the host itself knows it; what it does not know is None.

    `shaped_bit_s` is what tc limits it to, in frames on the wire; `kind` is that of a virtual
    interface; `counters` are packets since it came up.
    """

    host: str
    device: str
    speed_mbit_s: int | None = None
    duplex: str | None = None
    mtu_bytes: int | None = None
    state: str | None = None
    kind: str | None = None
    driver: str | None = None
    bus: str | None = None
    queue: str | None = None
    shaped_bit_s: int | None = None
    offloads: Mapping[str, bool] | None = None
    bond: Bond | None = None
    counters: Mapping[str, int] | None = None
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @property
    def rate_bit_s(self) -> int | None:
        """The slower of what it is and what it is shaped to."""
        speed = None if self.speed_mbit_s is None else self.speed_mbit_s * 10**6
        return min((rate for rate in (speed, self.shaped_bit_s) if rate is not None), default=None)


def theory_bit_s(sender: HostLink | None, receiver: HostLink | None) -> float | None:
    """What TCP can deliver from one to the other at best; None where a rate or an MTU is not known."""
    if sender is None or receiver is None:
        return None
    rates = [one.rate_bit_s for one in (sender, receiver) if one.rate_bit_s is not None]
    mtus = [one.mtu_bytes for one in (sender, receiver) if one.mtu_bytes is not None]
    if len(rates) < 2 or len(mtus) < 2:  # noqa: PLR2004  both ends
        return None
    return goodput_bit_s(min(rates), min(mtus))


def growth(before: HostLink, after: HostLink, way: str) -> int | None:
    """By how many packets the counters of `way`, errors or drops, grew; None where they were not told."""
    if before.counters is None or after.counters is None or before.device != after.device:
        return None
    names = [name for name in after.counters if name.endswith(way) and name in before.counters]
    grown = sum(after.counters[name] - before.counters[name] for name in names)
    return grown if names and grown >= 0 else None
