"""The network interfaces of hosts, as the hosts describe them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median_low

from harness.base.items import known
from harness.model.bounds import MAX_MTU_BYTES, Annotated, Count, Meta
from harness.model.link import (
    IPOIB_CONNECTED_MTU,
    OFTEN_EMULATED_DRIVERS,
    VIRTUAL_NIC_DRIVERS,
    goodput_bit_s,
    infiniband_mbit_s,
)

LACP = "802.3ad"
ACTIVE_BACKUP = "active-backup"
BROADCAST = "broadcast"
TEAM = "team"
OPEN_VSWITCH = "openvswitch"
"""Drivers of devices that may be bonds, of a mode that the kernel does not tell."""
_ROUND_ROBIN = ("round-robin", "balance-rr")
NO_AGGREGATOR = 0
"""Linux counts the aggregators of a bond from 1."""
DEVICE_NAME = "[A-Za-z0-9_][A-Za-z0-9_.@+-]{0,14}"
"""A regular expression of names of network interfaces. A kernel allows more names."""

INBOUND_DEVICE = "clusterlift0"
"""Packets that a host receives pass through it, too, while we limit the host's link."""

MAX_SPEED_MBIT_S = 10**8
"""A driver that does not know its speed may also report 2^32 - 1."""
Speed = Annotated[int, Meta(ge=0, le=MAX_SPEED_MBIT_S)]
Mtu = Annotated[int, Meta(ge=0, le=MAX_MTU_BYTES)]


@dataclass(frozen=True)
class BondMember:
    """One link of a bond. `aggregator` is the number of the aggregator that it joined, or NO_AGGREGATOR.

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

    - `mode`: as Linux words it, or else the driver, TEAM or OPEN_VSWITCH, because the mode is unknown.
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

    @property
    def is_active_backup(self) -> bool:
        """Whether one member carries all, and the others wait for its end."""
        return ACTIVE_BACKUP in self.mode

    @property
    def has_one_rate(self) -> bool:
        """Whether the bond carries no more than one member does."""
        return self.is_active_backup or BROADCAST in self.mode

    @property
    def spreads_a_connection(self) -> bool:
        """Whether the packets of one connection leave by all members in turn."""
        return any(name in self.mode for name in _ROUND_ROBIN)

    @property
    def sharing_mbit_s(self) -> list[int]:
        """The speeds of the members that share connections, the fastest first.

        Each connection takes one of them, by a hash of its addresses or by load. The list is empty in a mode
        that does not share, with a single member, and if the speed of a member is unknown.
        """
        if self.has_one_rate or self.spreads_a_connection:
            return []
        speeds = []
        for member in self.members:
            if self._is_in_use(member):
                if not member.speed_mbit_s:
                    return []
                speeds.append(member.speed_mbit_s)
        if len(speeds) > 1:
            return sorted(speeds, reverse=True)
        return []

    def _is_in_use(self, member: BondMember) -> bool:
        """Whether a member is up and, as far as that is known, in the active aggregator."""
        is_apart = self.aggregator is not None and member.aggregator not in {None, self.aggregator}
        return member.status == "up" and not is_apart


@dataclass(frozen=True)
class SlowPort:
    """The port of a card, such as `USB port 1-4`, if that carries less than the card."""

    device: str
    name: str
    mbit_s: Speed


@dataclass(frozen=True)
class HostLink:
    """A host's network interface as its kernel describes it; None means unknown.

    - `kind`: the type of a virtual interface, such as `veth` or `bond`.
    - `bus`, `queue`: what connects the card to the host, such as `usb`; the queueing discipline.
    - `speed_mbit_s`: the speed of the card, or of the cards below a virtual interface.
    - `carried_mbit_s`: the part of that speed which the card's port and the encoding of its signals leave for
      bytes.
    - `slow_ports`: the slow ports of the card, and of the cards below a virtual interface.
    - `has_invented_speed`: whether the card is emulated by a hypervisor, which makes up its speed.
    - `shaped_bit_s`: the limit that tc sets, as a rate on the wire.
    - `has_unknown_limit`: whether tc sets a limit that its output does not show, or a port of USB does not
      tell its speed.
    - `limit_unread`: why nobody could look whether tc sets a limit.
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
    carried_mbit_s: Speed | None = None
    slow_ports: tuple[SlowPort, ...] = ()
    has_invented_speed: bool | None = False
    limit_unread: str | None = None

    @property
    def card_mbit_s(self) -> int | None:
        """The speed at which the card carries bytes; None if it is unknown or invented."""
        if self.has_invented_speed or self.driver in VIRTUAL_NIC_DRIVERS:
            return None
        if self.carried_mbit_s is not None or not self.speed_mbit_s:
            return self.carried_mbit_s
        if self.driver in OFTEN_EMULATED_DRIVERS:
            return None
        # Records of earlier versions do not name InfiniBand, but no other network has this MTU.
        if self.bus and self.mtu_bytes == IPOIB_CONNECTED_MTU:
            return infiniband_mbit_s(self.speed_mbit_s)
        return self.speed_mbit_s

    @property
    def rate_bit_s(self) -> int | None:
        """The rate that packets really have: the lower of the card's speed and the limit that tc sets.

        None if it is unknown. The speed that a virtual card reports is invented, and does not count.
        """
        if self.has_unknown_limit:
            return None
        card_bit_s = (self.card_mbit_s or 0) * 10**6
        known = [rate for rate in (card_bit_s, self.shaped_bit_s) if rate]
        return min(known, default=None)

    def connections_bit_s(self, connections: int) -> int | None:
        """The most that some connections can carry over a bond that gives each of them one member.

        It is what the fastest members carry. For one connection, it is what the slowest carries, because the
        bond chooses. None without such a bond.
        """
        speeds = self.bond.sharing_mbit_s if self.bond else []
        if not speeds:
            return None
        if connections == 1:
            return speeds[-1] * 10**6
        return sum(speeds[:connections]) * 10**6

    @property
    def why_unknown(self) -> str:
        """Why its rate is unknown, if it is."""
        if self.has_unknown_limit:
            port = " or its USB port" if self.bus == "usb" else ""
            queue = self.queue or "unknown"
            return f"tc{port} limits it (queue {queue}), but does not say to what rate"
        if self.has_invented_speed or self.driver in OFTEN_EMULATED_DRIVERS:
            return f"its card is emulated (driver {self.driver}), and its speed is made up"
        return f"its driver ({self.driver or 'unknown'}) does not report the rate of one card"

    @property
    def is_up(self) -> bool:
        """Whether packets can pass. A driver that does not set the state leaves it unknown (RFC 2863)."""
        return self.state in {"up", None}


def max_goodput_bit_s(
    sender: HostLink | None, receiver: HostLink | None, connections: int = 1
) -> float | None:
    """Return the most that TCP can deliver from one to the other; None if a rate or an MTU is unknown.

    A bond may give each connection one of its members.
    """
    if not (sender and receiver and sender.rate_bit_s and receiver.rate_bit_s):
        return None
    if not (sender.mtu_bytes and receiver.mtu_bytes):
        return None
    rates = [sender.rate_bit_s, receiver.rate_bit_s]
    for link in (sender, receiver):
        share_bit_s = link.connections_bit_s(connections)
        if share_bit_s:
            rates.append(share_bit_s)
    rate_bit_s = min(rates)
    return goodput_bit_s(rate_bit_s, min(sender.mtu_bytes, receiver.mtu_bytes))


def usual_max_goodput_bit_s(links: Iterable[HostLink]) -> float | None:
    """Return the most that TCP can deliver between two hosts with the usual link; None if none is known."""
    allowed = [max_goodput_bit_s(link, link) for link in links]
    known_rates = known(allowed)
    if known_rates:
        return median_low(known_rates)
    return None


def counter_growth(before: HostLink, after: HostLink, kind: str) -> int | None:
    """Return by how much the counters of a kind, `errors` or `drops`, grew.

    None if they are unknown or were reset meanwhile.
    """
    if before.counters is None or after.counters is None or before.device != after.device:
        return None
    grown: list[int] = []
    for name, count in after.counters.items():
        if name.endswith(kind) and name in before.counters:
            grown.append(count - before.counters[name])
    if grown and sum(grown) >= 0:
        return sum(grown)
    return None
