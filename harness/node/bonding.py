"""/proc/net/bonding: links that are to act as one, and whether they do."""

from __future__ import annotations

from harness.model.interface import Bond, BondMember


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


def _member(block: dict[str, str]) -> BondMember:
    speed = block.get("Speed", "").removesuffix(" Mbps")
    return BondMember(
        device=block.get("Slave Interface", "unknown"),
        status=block.get("MII Status"),
        speed_mbit_s=_number(speed),
        duplex=_known(block.get("Duplex")),
        aggregator=_number(block.get("Aggregator ID")),
    )


def _known(text: str | None) -> str | None:
    return None if text is None or text.lower().startswith("unknown") else text.lower()


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdigit() and int(text) > 0 else None
