"""One network interface of a host: the command that describes it, and how to read its output."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files

from harness.base.errors import ToolError
from harness.base.words import first_line, shorten, visible
from harness.model.interface import MAX_SPEED_MBIT_S, OPEN_VSWITCH, TEAM, Bond, BondMember, HostLink
from harness.model.link import TYPICAL_MTU, VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node.card import with_card
from harness.node.iproute2 import (
    MAX_TEXT,
    SYSCTLS,
    device_directory,
    known,
    positive,
    read_bond,
    read_device,
    read_device_files,
    read_driver,
    read_files,
    sysctl_file,
)
from harness.node.queues import read_queues

OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)
"""What the network card can do instead of the processor, as `ethtool -k` calls it."""
_FEATURE = re.compile(r"^([a-z0-9-]+): (on|off)(?: \[[a-z ]+\])?$", re.MULTILINE)

_SHARING = frozenset({"bond", TEAM, OPEN_VSWITCH})
"""Drivers of devices whose members share the traffic, or may."""

_OF_MACHINE = ("maker",)
"""Parts that describe the whole machine, and are printed once."""
_PART, BELOW = "== ", "== below "
LOWER_DEVICES = (files(__package__) / "lower_devices.sh").read_text()
"""Functions of a shell that describe the devices below one, each below a heading: BELOW, and both names."""
_SCRIPT = LOWER_DEVICES + (files(__package__) / "interface.sh").read_text()


def link_command(device: str) -> list[str]:
    """Return the command that prints all that a host knows about a device, for `parse_link`."""
    return ["sh", "-c", _SCRIPT, device, *map(sysctl_file, SYSCTLS)]


def parse_link(host: str, device: str, text: str) -> HostLink:
    """Return the link that a host's output of `link_command` describes.

    Facts of a missing program are None. Raise ToolError if the device is missing.
    """
    own, *others = re.split(f"^{BELOW}(.*)$", text, flags=re.MULTILINE)
    # Each device comes after the one above it: from the end, all that is below a device is known already.
    lower: dict[str, list[HostLink]] = {}
    own_parts = _parts(own)
    of_machine = {name: own_parts[name] for name in _OF_MACHINE if name in own_parts}
    for heading, parts in reversed(list(zip(others[::2], others[1::2], strict=True))):
        upper, _, name = heading.partition(" ")
        # What has disappeared is unknown, and so is what was not asked any more.
        link = HostLink(host, name, has_unknown_limit=True)
        with suppress(ToolError):
            described = {**_parts(parts), **of_machine}
            link = _read_device(host, name, described, lower.pop(name, ()))
        lower.setdefault(upper, []).append(link)
    return _read_device(host, device, own_parts, lower.get(device, ()))


def _read_device(
    host: str, device: str, parts: Mapping[str, str], lower: Sequence[HostLink]
) -> HostLink:
    """Return a device as it describes itself, and as the devices below allow."""
    values = read_files(parts.get("files", ""))
    directory = device_directory(device)
    found = parts.get("device", "").strip()
    # Where ip is not installed, the kernel's files describe the device.
    link = read_device(host, found) if found else read_device_files(host, device, values)
    if link is None:
        raise ToolError(f"there is no device {device}")
    bond = read_bond(parts.get("bond", ""))
    driver, bus = read_driver(parts.get("driver", ""))
    has_no_card = f"/sys/devices/virtual/net/{device}/mtu" in values
    queue, limit = read_queues(parts, link.queue)
    described = replace(
        link,
        speed_mbit_s=positive(values.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        duplex=known(values.get(f"{directory}/duplex")),
        driver="bond" if bond else driver or link.kind or ("virtual" if has_no_card else None),
        bus=bus,
        queue=queue,
        shaped_bit_s=wire_bit_s(limit, link.mtu_bytes or TYPICAL_MTU) if limit else None,
        has_unknown_limit=limit is None,
        limit_unread=shorten(visible(first_line(parts.get("no limits", ""))), MAX_TEXT) or None,
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        sysctls={name: values[file] for name in SYSCTLS if (file := sysctl_file(name)) in values},
    )
    return _above(lower, with_card(described, parts, values))


def _above(lower: Sequence[HostLink], link: HostLink) -> HostLink:
    """Return a link as the devices below it allow."""
    up = [each for each in lower if each.is_up]
    # A bridge has virtual ports, too, that lead to containers and virtual machines.
    ways = [each for each in up if each.bus or each.speed_mbit_s or not each.driver] or up
    slow_ports = [port for each in ways for port in each.slow_ports]
    ways = _active(link, ways) or ways
    is_shared = link.driver in _SHARING and len(ways) > 1
    if link.bond or is_shared or (link.driver == TEAM and len(lower) > 1):
        bond = link.bond or _bond_of(str(link.driver), lower)
        link = replace(link, bond=_with_speeds(bond, lower))
    limits = {(each.shaped_bit_s, each.has_unknown_limit) for each in ways} or {(None, False)}
    shaped_bit_s, is_unknown = limits.pop()
    # How many members of a bond share the traffic is not known, nor which port of a bridge has it.
    is_unknown = is_unknown or bool(limits) or (is_shared and shaped_bit_s is not None)
    return replace(
        link,
        speed_mbit_s=_speed(link, up, ways),
        shaped_bit_s=min(filter(None, (link.shaped_bit_s, shaped_bit_s)), default=None),
        has_unknown_limit=link.has_unknown_limit or is_unknown,
        slow_ports=(*link.slow_ports, *slow_ports),
        bond=link.bond or (ways[0].bond if len(ways) == 1 else None),
        counters=_counted(lower, link),
    )


def _speed(link: HostLink, up: Sequence[HostLink], ways: Sequence[HostLink]) -> int | None:
    """Return the speed of a link in Mbit/s.

    Linux invents the speed of a virtual device. That of a bond is the sum of the members in use.
    """
    if link.driver == "bond":
        return _bond_speed(link, _active(link, up) or up)
    if link.driver and not link.bus:
        speeds = {each.card_mbit_s for each in ways}
        is_shared = link.driver in _SHARING and len(ways) > 1
        return speeds.pop() if len(speeds) == 1 and not is_shared else None
    return None if link.driver in VIRTUAL_NIC_DRIVERS else link.speed_mbit_s


def _active(link: HostLink, lower: Sequence[HostLink]) -> list[HostLink]:
    """Return the member that carries all, in a bond whose others wait for its end; else nothing."""
    if link.bond is None or not link.bond.is_active_backup:
        return []
    return [each for each in lower if each.device == link.bond.active_member]


def _bond_speed(link: HostLink, in_use: Sequence[HostLink]) -> int | None:
    """Return the speed that Linux reckons, less what the ports and the signals of its members take."""
    carried = [each.card_mbit_s for each in in_use]
    known = [speed for speed in carried if speed is not None]
    if len(known) < len(carried):
        return None
    if known == [each.speed_mbit_s for each in in_use]:
        return link.speed_mbit_s
    return min(known) if link.bond and link.bond.has_one_rate else sum(known)


def _bond_of(driver: str, lower: Sequence[HostLink]) -> Bond:
    """Return a bond that the kernel does not describe, such as a team: its mode is not known."""
    members = [BondMember(each.device, each.state, None, each.duplex, None) for each in lower]
    return Bond(driver, None, tuple(members))


def _with_speeds(bond: Bond, lower: Sequence[HostLink]) -> Bond:
    """Return a bond whose members have the speeds that their cards really carry."""
    carried = {each.device: None if each.has_unknown_limit else each.card_mbit_s for each in lower}
    members = [
        replace(member, speed_mbit_s=carried.get(member.device, member.speed_mbit_s))
        for member in bond.members
    ]
    return replace(bond, members=tuple(members))


def _counted(lower: Sequence[HostLink], link: HostLink) -> Mapping[str, int] | None:
    """Return what a link counts together with those below it; None if one of them is unknown.

    A bond adds up its members itself, and so does a card that passes packets through another one (netvsc).
    """
    if link.driver == "bond" or link.bus:
        return link.counters
    counters = [each.counters for each in lower]
    if link.counters is None or None in counters:
        return None
    total = Counter(link.counters)
    for each in counters:
        total.update(each)
    return dict(total)


def read_offloads(text: str) -> dict[str, bool] | None:
    """Return which of the OFFLOADS are on; None if `ethtool -k` is missing or printed none."""
    states = dict(_FEATURE.findall(text))
    return {name: states[name] == "on" for name in OFFLOADS if name in states} or None


def _parts(text: str) -> dict[str, str]:
    parts: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_PART):
            name = line.removeprefix(_PART)
        else:
            parts.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}
