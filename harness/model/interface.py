"""The network interfaces of hosts, as the hosts describe them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median_low
from typing import Annotated

from harness.model.bounds import MAX_MTU_BYTES, Count, Meta
from harness.model.link import VIRTUAL_NIC_DRIVERS, goodput_bit_s

LACP = "802.3ad"
NO_AGGREGATOR = 0
"""Linux counts the aggregators of a bond from 1."""
DEVICE_NAME = "[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}"
"""A regular expression of names of network interfaces; a kernel would allow more of them."""

INBOUND_DEVICE = "clusterlift0"
"""Packets that a host receives pass through it, too, while we limit the host's link."""

MAX_SPEED_MBIT_S = 10**8
"""A driver that does not know its speed may also report 2^32 - 1."""
Speed = Annotated[int, Meta(ge=0, le=MAX_SPEED_MBIT_S)]
Mtu = Annotated[int, Meta(ge=0, le=MAX_MTU_BYTES)]


@dataclass(frozen=True)
class BondMember:
    """One link of a bond; `aggregator` is the number of the aggregator that it joined, or NO_AGGREGATOR.

    `churned` are the ends, `actor` (this host) and `partner`, that LACP could not synchronise.
    """

    device: str
    status: str | None
    speed_mbit_s: int | None
    duplex: str | None
    aggregator: int | None
    churned: tuple[str, ...] = ()


@dataclass(frozen=True)
class Bond:
    """A bond of links as its kernel describes it; None means unknown, or that its mode has none.

    - `aggregator`: the number of the active one, or NO_AGGREGATOR. Only root can read it.
    - `active_member`, `partner`: in use, or the word `None`; the MAC address of the other end of LACP.
    """

    mode: str
    aggregator: int | None
    members: tuple[BondMember, ...]
    status: str | None = None
    active_member: str | None = None
    partner: str | None = None

    @property
    def is_lacp(self) -> bool:
        """Whether the bond negotiates with the switch (IEEE 802.3ad)."""
        return LACP in self.mode


@dataclass(frozen=True)
class HostLink:
    """A host's network interface as its kernel describes it; None means unknown.

    - `kind`: the type of a virtual interface, such as `veth` or `bond`.
    - `bus`, `queue`: what connects the card to the host, such as `usb`; the queueing discipline.
    - `speed_mbit_s`: that of the card, or of the cards below a virtual interface.
    - `shaped_bit_s`: the limit that tc sets, as a rate on the wire.
    - `has_unknown_limit`: whether tc sets a limit that its output does not show.
    - `counters`: packets with errors and dropped packets since the interface came up, such as `rx_errors`.
    """

    host: str
    device: str
    speed_mbit_s: Speed | None = None
    duplex: str | None = None
    mtu_bytes: Mtu | None = None
    state: str | None = None
    kind: str | None = None
    driver: str | None = None
    bus: str | None = None
    queue: str | None = None
    shaped_bit_s: Count | None = None
    has_unknown_limit: bool = False
    offloads: Mapping[str, bool] | None = None
    bond: Bond | None = None
    counters: Mapping[str, Count] | None = None
    sysctls: Mapping[str, str] = field(default_factory=dict)

    @property
    def rate_bit_s(self) -> int | None:
        """The rate that packets really have: the lower of the card's speed and the limit that tc sets.

        None if it is unknown. The speed that a virtual card reports is invented, and does not count.
        """
        if self.has_unknown_limit:
            return None
        speed_mbit_s = None if self.driver in VIRTUAL_NIC_DRIVERS else self.speed_mbit_s
        rates = (speed_mbit_s and speed_mbit_s * 10**6, self.shaped_bit_s)
        return min(filter(None, rates), default=None)

    @property
    def why_unknown(self) -> str:
        """Why its rate is unknown, if it is."""
        if self.has_unknown_limit:
            return f"tc limits it (queue {self.queue or 'unknown'}), but does not say to what rate"
        return f"its driver ({self.driver or 'unknown'}) does not report the rate of one card"

    @property
    def is_up(self) -> bool:
        """Whether packets can pass. A driver that does not set the state leaves it unknown (RFC 2863)."""
        return self.state in {"up", None}


def max_goodput_bit_s(sender: HostLink | None, receiver: HostLink | None) -> float | None:
    """Return the most that TCP can deliver from one to the other; None if a rate or an MTU is unknown."""
    if not (sender and receiver and sender.rate_bit_s and receiver.rate_bit_s):
        return None
    if not (sender.mtu_bytes and receiver.mtu_bytes):
        return None
    rate_bit_s = min(sender.rate_bit_s, receiver.rate_bit_s)
    return goodput_bit_s(rate_bit_s, min(sender.mtu_bytes, receiver.mtu_bytes))


def usual_max_goodput_bit_s(links: Iterable[HostLink]) -> float | None:
    """Return the most that TCP can deliver between two hosts with the usual link; None if none is known."""
    allowed = [max_goodput_bit_s(link, link) for link in links]
    known = [rate for rate in allowed if rate is not None]
    return median_low(known) if known else None


def counter_growth(before: HostLink, after: HostLink, kind: str) -> int | None:
    """Return by how much the counters of a kind, `errors` or `drops`, grew.

    None if they are unknown or were reset meanwhile.
    """
    if before.counters is None or after.counters is None or before.device != after.device:
        return None
    names = [name for name in after.counters if name.endswith(kind) and name in before.counters]
    grown = sum(after.counters[name] - before.counters[name] for name in names)
    return grown if names and grown >= 0 else None
