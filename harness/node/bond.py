"""Bonds of links: what /proc/net/bonding says of one, and what its members really carry."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.base.checked import MAX_TEXT, count, known, positive
from harness.base.words import shorten
from harness.model.interface import MAX_SPEED_MBIT_S, NO_AGGREGATOR, Bond, BondMember, HostLink

_HAS_NO_AGGREGATOR = re.compile("^bond .* has no active aggregator$", re.MULTILINE)
_ENDS = ("Actor", "Partner")


def read_bond(text: str) -> Bond | None:
    """Return the bond that a file of /proc/net/bonding describes; None for other text."""
    bond, *members = _blocks(text)
    if "Bonding Mode" not in bond:
        return None
    has_none = _HAS_NO_AGGREGATOR.search(text)
    return Bond(
        bond["Bonding Mode"],
        NO_AGGREGATOR if has_none else positive(bond.get("Aggregator ID")),
        tuple(_member(each) for each in members),
        status=bond.get("MII Status"),
        active_member=bond.get("Currently Active Slave"),
        partner=bond.get("Partner Mac Address"),
    )


def member_failures(text: str) -> dict[str, int]:
    """Return how often a bond saw each member fail, by what its file of /proc/net/bonding says."""
    _, *members = _blocks(text)
    found = {}
    for member in members:
        failures = count(member.get("Link Failure Count"))
        if failures is not None and "Slave Interface" in member:
            found[member["Slave Interface"]] = failures
    return found


def _blocks(text: str) -> list[dict[str, str]]:
    """Return the lines `name: value` of the bond itself, and the lines of each member."""
    blocks: list[dict[str, str]] = [{}]
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if name == "Slave Interface":
            blocks.append({})
        if colon and value.strip():
            blocks[-1].setdefault(name, shorten(value.strip(), MAX_TEXT))
    return blocks


def _member(block: Mapping[str, str]) -> BondMember:
    aggregator = block.get("Aggregator ID")
    speed, _, _ = block.get("Speed", "").partition(" Mbps")
    return BondMember(
        device=block.get("Slave Interface", "unknown"),
        status=block.get("MII Status"),
        speed_mbit_s=positive(speed, MAX_SPEED_MBIT_S),
        duplex=known(block.get("Duplex")),
        aggregator=NO_AGGREGATOR if aggregator == "N/A" else positive(aggregator),
        churned=tuple(end.lower() for end in _ENDS if block.get(f"{end} Churn State") == "churned"),
    )


def undescribed_bond(driver: str, lower: Sequence[HostLink]) -> Bond:
    """Return a bond that the kernel does not describe, such as a team: its mode is not known."""
    members = [
        BondMember(
            each.device, status=each.state, speed_mbit_s=None, duplex=each.duplex, aggregator=None
        )
        for each in lower
    ]
    return Bond(mode=driver, aggregator=None, members=tuple(members))


def with_carried_speeds(bond: Bond, lower: Sequence[HostLink]) -> Bond:
    """Return a bond whose members have the speeds that their cards really carry."""
    carried = {each.device: None if each.has_unknown_limit else each.card_mbit_s for each in lower}
    members = [
        replace(member, speed_mbit_s=carried.get(member.device, member.speed_mbit_s))
        for member in bond.members
    ]
    return replace(bond, members=tuple(members))
