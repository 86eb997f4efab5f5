"""One network interface of a host: the command that describes it, and how to read its output."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.model.errors import ToolError
from harness.model.interface import Bond, BondMember, HostLink
from harness.model.link import VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node import iproute
from harness.node.sysfs import (
    SYSCTLS,
    Device,
    device_directory,
    device_files,
    known,
    positive,
    read_device,
    read_driver,
    read_files,
    sysctl_file,
)

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

_PART = "== "
# One remote command asks for everything. $0 is the device, and the arguments are files.
_SCRIPT = (
    'part() { echo "== $1"; shift; "$@" 2>/dev/null; echo; }; '
    'part device ip -j -d -s link show dev "$0"; part queue tc -j qdisc show dev "$0"; '
    'part driver readlink "/sys/class/net/$0/device/driver"; part offloads ethtool -k "$0"; '
    'part bond cat "/proc/net/bonding/$0"; part files grep -s . "$@" /dev/null; exit 0'
)


def link_command(device: str) -> list[str]:
    """Return the command that prints all that a host knows about a device, for `parse_link`."""
    return ["sh", "-c", _SCRIPT, device, *device_files(device), *map(sysctl_file, SYSCTLS)]


def parse_link(host: str, device: str, text: str) -> HostLink:
    """Return the link that a host's output of `link_command` describes.

    What a missing program would have printed is None. Raise ToolError if the device is missing.
    """
    parts = _parts(text)
    files = read_files(parts.get("files", ""))
    directory = device_directory(device)
    found = _device(device, parts.get("device", ""), files)
    bond = read_bond(parts.get("bond", ""))
    driver, bus = read_driver(parts.get("driver", ""))
    driver = "bond" if bond else driver or found.kind
    queue, counted_bit_s = _queue(parts.get("queue", ""))
    is_virtual = driver in VIRTUAL_NIC_DRIVERS
    return HostLink(
        host=host,
        device=found.name,
        speed_mbit_s=None if is_virtual else positive(files.get(f"{directory}/speed")),
        duplex=known(files.get(f"{directory}/duplex")),
        mtu_bytes=found.mtu_bytes,
        state=found.state,
        kind=found.kind,
        driver=driver,
        bus=bus,
        queue=queue,
        shaped_bit_s=_on_wire(counted_bit_s, found.mtu_bytes),
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        counters=found.counters,
        sysctls={name: files[file] for name in SYSCTLS if (file := sysctl_file(name)) in files},
    )


def read_offloads(text: str) -> dict[str, bool] | None:
    """Return which of the OFFLOADS are on; None if `ethtool -k` is missing or printed none."""
    states = dict(_FEATURE.findall(text))
    return {name: states[name] == "on" for name in OFFLOADS if name in states} or None


def read_bond(text: str) -> Bond | None:
    """Return the bond that a file of /proc/net/bonding describes; None for other text."""
    # The bond's own lines come first, then a block of lines for each member.
    blocks: list[dict[str, str]] = [{}]
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if name == "Slave Interface":
            blocks.append({})
        if colon and value.strip():
            blocks[-1].setdefault(name, value.strip())
    bond, *members = blocks
    if "Bonding Mode" not in bond:
        return None
    aggregator = positive(bond.get("Aggregator ID"))
    return Bond(bond["Bonding Mode"], aggregator, tuple(map(_bond_member, members)))


def _bond_member(block: Mapping[str, str]) -> BondMember:
    return BondMember(
        device=block.get("Slave Interface", "unknown"),
        status=block.get("MII Status"),
        speed_mbit_s=positive(block.get("Speed", "").removesuffix(" Mbps")),
        duplex=known(block.get("Duplex")),
        aggregator=positive(block.get("Aggregator ID")),
    )


def _parts(text: str) -> dict[str, str]:
    """Return the output of each program by the name of its part."""
    parts: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_PART):
            name = line.removeprefix(_PART)
        else:
            parts.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}


def _device(device: str, text: str, files: Mapping[str, str]) -> Device:
    """Return the device as ip shows it; where ip is not installed, as the kernel's files do."""
    if not text.strip() and (found := read_device(device, files)):
        return found
    return iproute.read_device(text)


def _queue(text: str) -> tuple[str | None, int | None]:
    try:
        return iproute.read_queue(text)
    except ToolError:
        return None, None


def _on_wire(counted_bit_s: int | None, mtu: int | None) -> int | None:
    """Return the rate on the wire: tc counts fewer bytes of a frame than the wire carries."""
    if counted_bit_s is None or mtu is None:
        return counted_bit_s
    return wire_bit_s(counted_bit_s, mtu)
