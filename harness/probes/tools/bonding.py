"""/proc/net/bonding: links that are to act as one, and whether they do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

LACP = "802.3ad"
_HINT = " (is LACP on at its port of the switch?)"


@dataclass(frozen=True)
class Member:
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
    members: tuple[Member, ...]

    @property
    def is_lacp(self) -> bool:
        """Whether the switch takes part."""
        return LACP in self.mode


def read_bond(text: str) -> Bond | None:
    """What the kernel says of a bond; None if the text is of none."""
    head, *members = _blocks(text)
    mode = head.get("Bonding Mode")
    if mode is None:
        return None
    return Bond(mode, _number(head.get("Aggregator ID")), tuple(map(_member, members)))


def _blocks(text: str) -> list[dict[str, str]]:
    """The bond's own lines, then those of each member; of a name said twice the first counts."""
    blocks: list[dict[str, str]] = [{}]
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if name == "Slave Interface":
            blocks.append({})
        if colon and value.strip():
            blocks[-1].setdefault(name, value.strip())
    return blocks


def _member(block: dict[str, str]) -> Member:
    speed = block.get("Speed", "").removesuffix(" Mbps")
    return Member(
        device=block.get("Slave Interface", "unknown"),
        status=block.get("MII Status"),
        speed_mbit_s=_number(speed),
        duplex=_known(block.get("Duplex")),
        aggregator=_number(block.get("Aggregator ID")),
    )


def faults(bond: Bond) -> Iterable[str]:
    """What keeps the members from acting as one."""
    for member in bond.members:
        if member.status != "up":
            yield f"member {member.device} is {member.status or 'in an unknown state'}"
    if not bond.members:
        yield "it has no members"
    if bond.is_lacp:
        yield from _apart(bond)


def _apart(bond: Bond) -> Iterable[str]:
    up = [member for member in bond.members if member.status == "up"]
    # Only root is told which aggregator carries the traffic; everybody, whether they differ.
    if bond.aggregator is None:
        if len({member.aggregator for member in up}) > 1:
            each = ", ".join(f"{member.device} in {_named(member.aggregator)}" for member in up)
            yield f"its members are in several aggregators: {each}{_HINT}"
        return
    for member in up:
        if member.aggregator != bond.aggregator:
            yield (
                f"member {member.device} is in aggregator {_named(member.aggregator)}, and traffic "
                f"goes through {bond.aggregator}{_HINT}"
            )


def _named(aggregator: int | None) -> str:
    return "unknown" if aggregator is None else str(aggregator)


def _known(text: str | None) -> str | None:
    return None if text is None or text.lower().startswith("unknown") else text.lower()


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and int(text) > 0 else None
