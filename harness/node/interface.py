"""`ethtool -k`: what the card does instead of the processor."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from harness.model.errors import ToolError
from harness.model.interface import HostLink, counter_growth
from harness.model.link import VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node import bonding, iproute, sysfs
from harness.node.iproute import COUNTED
from harness.node.machine import SYSCTLS

OFFLOADS = (
    "rx-checksumming",
    "tx-checksumming",
    "scatter-gather",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
)
_FEATURE = re.compile(r"^([a-z0-9-]+): (on|off)(?: \[[a-z ]+\])?$", re.MULTILINE)


def read_offloads(text: str) -> dict[str, bool] | None:
    """Which of the offloads that matter are on; None where ethtool is missing or knows nothing."""
    told = dict(_FEATURE.findall(text))
    return {name: told[name] == "on" for name in OFFLOADS if name in told} or None


# MERGED from harness.probes.node_links: "The links of a run's nodes, as they are recorded, and what they counted while it ran."
NodeLinks = Mapping[str, Mapping[str, HostLink]]
"""By host, and by the name of the interface."""


def as_facts(nodes: NodeLinks) -> dict[str, dict[str, Any]]:
    """As `Run.environment` holds them under `nodes`."""
    return {
        host: {name: _facts(link) for name, link in links.items()} for host, links in nodes.items()
    }


def link_errors(before: NodeLinks, after: NodeLinks) -> dict[str, dict[str, int]]:
    """Packets in error and dropped between two looks, by `host interface`.

    A link that was not there both times, and what it does not count, is not among them.
    """
    return {
        f"{host} {name}": {
            way: grown
            for way in COUNTED.values()
            if (grown := counter_growth(link, later, way)) is not None
        }
        for host, links in before.items()
        for name, link in links.items()
        if (later := after.get(host, {}).get(name)) is not None
    }


def _facts(link: HostLink) -> dict[str, Any]:
    """Without what is where they lie, and without the counters: those of a moment say nothing."""
    left_out = ("host", "device", "counters")
    return {key: value for key, value in asdict(link).items() if key not in left_out}


_MARK = "== "


# One connection asks for everything. $0 is the device, the rest are files.
_EVERYTHING = (
    'part() { echo "== $1"; shift; "$@" 2>/dev/null; echo; }; '
    'part device ip -j -d -s link show dev "$0"; part queue tc -j qdisc show dev "$0"; '
    'part driver readlink "/sys/class/net/$0/device/driver"; part offloads ethtool -k "$0"; '
    'part bond cat "/proc/net/bonding/$0"; part files grep -s . "$@" /dev/null; exit 0'
)


def questions(device: str) -> list[str]:
    """The argument vector that has a host say all it knows of a device; `link_of` reads the answer."""
    files = sysfs.files_of(device)
    files += map(_sysctl_file, SYSCTLS)
    return ["sh", "-c", _EVERYTHING, device, *files]


def link_of(host: str, device: str, text: str) -> HostLink:
    """The link in what a host answered, part by part. Raises ToolFailed without the device itself."""
    parts = _parts(text)
    files = sysfs.read_files(parts.get("files", ""))
    place = sysfs.place_of(device)
    known = _known_device(device, parts.get("device", ""), files)
    bond = bonding.read_bond(parts.get("bond", ""))
    driver, bus = sysfs.read_driver(parts.get("driver", ""))
    queue, counted_bit_s = _queue(parts.get("queue", ""))
    kind = "bond" if bond else driver or known.kind
    return HostLink(
        host=host,
        device=known.name,
        speed_mbit_s=None
        if kind in VIRTUAL_NIC_DRIVERS
        else sysfs.whole_number(files, f"{place}/speed"),
        duplex=_known(files.get(f"{place}/duplex")),
        mtu_bytes=known.mtu_bytes,
        state=known.state,
        kind=known.kind,
        driver=kind,
        bus=bus,
        queue=queue,
        shaped_bit_s=_on_wire(counted_bit_s, known.mtu_bytes),
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        counters=known.counters,
        sysctls={name: files[file] for name in SYSCTLS if (file := _sysctl_file(name)) in files},
    )


def _known_device(device: str, text: str, files: Mapping[str, str]) -> iproute.Device:
    """As ip shows it, and else, where that is not installed, as the kernel's files do."""
    if not text.strip() and (told := sysfs.read_device(device, files)):
        return told
    return iproute.read_device(text)


def _parts(text: str) -> dict[str, str]:
    """The answer's parts by name; one whose program is missing is empty."""
    parts: dict[str, list[str]] = {}
    name = ""
    for line in text.splitlines():
        if line.startswith(_MARK):
            name = line.removeprefix(_MARK)
        else:
            parts.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in parts.items()}


def _queue(text: str) -> tuple[str | None, int | None]:
    try:
        return iproute.read_queue(text)
    except ToolError:
        return None, None


def _on_wire(counted_bit_s: int | None, mtu: int | None) -> int | None:
    """What tc counts of a frame is less than what it takes on the wire."""
    if counted_bit_s is None or mtu is None:
        return counted_bit_s
    return wire_bit_s(counted_bit_s, mtu)


def _known(text: str | None) -> str | None:
    return None if text is None or text == "unknown" else text


def _sysctl_file(name: str) -> str:
    return f"/proc/sys/{name.replace('.', '/')}"
