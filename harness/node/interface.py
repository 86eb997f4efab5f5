"""One network interface of a host, by what program.sh prints of it and of the devices below it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from harness.base.checked import MAX_TEXT, known, positive
from harness.base.errors import ToolError
from harness.base.words import first_line, shorten, visible
from harness.model.interface import MAX_SPEED_MBIT_S, OPEN_VSWITCH, TEAM, HostLink
from harness.model.link import TYPICAL_MTU, VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node.bond import read_bond, undescribed_bond, with_carried_speeds
from harness.node.card import with_card
from harness.node.device_files import (
    SYSCTLS,
    device_directory,
    read_device_files,
    read_driver,
    sysctl_file,
)
from harness.node.iproute2 import read_device
from harness.node.program import Parts, first_lines, read_link_answer, section
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
"""Work that the network card can do instead of the processor, in the words of `ethtool -k`."""
_FEATURE = re.compile(r"^([a-z0-9-]+): (on|off)(?: \[[a-z ]+\])?$", re.MULTILINE)

_SHARING = frozenset({"bond", TEAM, OPEN_VSWITCH})
"""Drivers of devices whose members share the traffic, or may."""


def describing_command(device: str) -> list[str]:
    """Return the command that prints all that a host knows about a device, for `parse_link`."""
    return section("link", device, *(sysctl_file(name) for name in SYSCTLS))


def parse_link(host: str, device: str, text: str) -> HostLink:
    """Return the link that a host's output of `describing_command` describes.

    Facts of a missing program are None. Raise ToolError if the device is missing.
    """
    answer = read_link_answer(device, text)
    links: dict[str, HostLink] = {}
    # Each device comes after the ones above it, so all that is below a device is known already.
    for name, parts in reversed(list(answer.devices.items())):
        # A device that has disappeared, or that was not asked any more, is unknown.
        below = answer.below.get(name, ())
        lower = [links.get(each) or _unknown(host, each) for each in below]
        described = {**parts, **answer.host}
        if name == device:
            return _read_device(host, device, described, lower)
        links[name] = _unknown(host, name)
        with suppress(ToolError):
            links[name] = _read_device(host, name, described, lower)
    raise ToolError(f"there is no device {device}")


def _unknown(host: str, device: str) -> HostLink:
    return HostLink(host, device, has_unknown_limit=True)


def _read_device(host: str, device: str, parts: Parts, lower: Sequence[HostLink]) -> HostLink:
    """Return a device as it describes itself, and as the devices below allow."""
    files = first_lines(parts.get("files", ""))
    directory = device_directory(device)
    # Where ip is not installed, the kernel's files describe the device.
    link: HostLink | None
    if parts.get("device"):
        link = read_device(host, parts["device"])
    else:
        link = read_device_files(host, device, files)
    if link is None:
        raise ToolError(f"there is no device {device}")
    bond = read_bond(parts.get("bond", ""))
    driver, bus = read_driver(parts.get("driver", ""))
    if not driver:
        has_no_card = f"/sys/devices/virtual/net/{device}/mtu" in files
        driver = link.kind or ("virtual" if has_no_card else None)
    queue, limit = read_queues(parts, link.queue)
    described = replace(
        link,
        speed_mbit_s=positive(files.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        duplex=known(files.get(f"{directory}/duplex")),
        driver="bond" if bond else driver,
        bus=bus,
        queue=queue,
        shaped_bit_s=wire_bit_s(limit, link.mtu_bytes or TYPICAL_MTU) if limit else None,
        has_unknown_limit=limit is None,
        limit_unread=shorten(visible(first_line(parts.get("no limits", ""))), MAX_TEXT) or None,
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        sysctls=_sysctls(files),
    )
    return _above(lower, with_card(described, parts, files))


def _sysctls(files: Mapping[str, str]) -> dict[str, str]:
    names = [name for name in SYSCTLS if sysctl_file(name) in files]
    return {name: files[sysctl_file(name)] for name in names}


def _above(lower: Sequence[HostLink], link: HostLink) -> HostLink:
    """Return a link as the devices below it allow."""
    up = [each for each in lower if each.is_up]
    # A bridge has virtual ports, too, that lead to containers and virtual machines.
    ways = [each for each in up if each.bus or each.speed_mbit_s or not each.driver] or up
    slow_ports = list(link.slow_ports)
    for way in ways:
        slow_ports += way.slow_ports
    ways = _active(link, ways) or ways
    is_shared = link.driver in _SHARING and len(ways) > 1
    if link.bond or is_shared or (link.driver == TEAM and len(lower) > 1):
        bond = link.bond or undescribed_bond(str(link.driver), lower)
        link = replace(link, bond=with_carried_speeds(bond, lower))
    elif len(ways) == 1:
        link = replace(link, bond=ways[0].bond)
    limits = [each.shaped_bit_s for each in ways]
    known_limits = [limit for limit in (link.shaped_bit_s, *limits) if limit is not None]
    # Nobody knows how many members of a bond share the traffic, nor which port of a bridge has it.
    is_unclear = len(set(limits)) > 1 or (is_shared and limits[0] is not None)
    return replace(
        link,
        speed_mbit_s=_speed(link, up, ways),
        shaped_bit_s=min(known_limits, default=None),
        has_unknown_limit=is_unclear or any(each.has_unknown_limit for each in (link, *ways)),
        slow_ports=tuple(slow_ports),
        counters=_counted(lower, link),
    )


def _speed(link: HostLink, up: Sequence[HostLink], ways: Sequence[HostLink]) -> int | None:
    """Return the speed of a link in Mbit/s.

    Linux invents the speed of a virtual device. That of a bond is the sum of the members in use.
    """
    if link.driver == "bond":
        return _bond_speed(link, _active(link, up) or up)
    if link.bus or not link.driver:
        if link.driver in VIRTUAL_NIC_DRIVERS:
            return None
        return link.speed_mbit_s
    speeds = {each.card_mbit_s for each in ways}
    is_shared = link.driver in _SHARING and len(ways) > 1
    if len(speeds) == 1 and not is_shared:
        return speeds.pop()
    return None


def _active(link: HostLink, lower: Sequence[HostLink]) -> list[HostLink]:
    """Return the member that carries all, in a bond whose others wait for its end; else nothing."""
    if link.bond is None or not link.bond.is_active_backup:
        return []
    return [each for each in lower if each.device == link.bond.active_member]


def _bond_speed(link: HostLink, in_use: Sequence[HostLink]) -> int | None:
    """Return the speed that Linux computes, less what the ports and the signals of its members take."""
    carried = [each.card_mbit_s for each in in_use]
    known_speeds = [speed for speed in carried if speed is not None]
    if len(known_speeds) < len(carried):
        return None
    if known_speeds == [each.speed_mbit_s for each in in_use]:
        return link.speed_mbit_s
    has_one_rate = link.bond is not None and link.bond.has_one_rate
    if has_one_rate:
        return min(known_speeds)
    return sum(known_speeds)


def _counted(lower: Sequence[HostLink], link: HostLink) -> Mapping[str, int] | None:
    """Return what a link counts together with those below it; None if one of them is unknown.

    A bond adds up its members itself, and so does a card that passes packets through another one (netvsc).
    """
    if link.driver == "bond" or link.bus:
        return link.counters
    total: Counter[str] = Counter()
    for each in (link, *lower):
        if each.counters is None:
            return None
        total.update(each.counters)
    return dict(total)


def read_offloads(text: str) -> dict[str, bool] | None:
    """Return which of the OFFLOADS are on; None if `ethtool -k` is missing or printed none."""
    states = dict(_FEATURE.findall(text))
    return {name: states[name] == "on" for name in OFFLOADS if name in states} or None
