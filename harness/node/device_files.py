"""The files in which a kernel describes a network device, and the files with its network settings."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.base.checked import count, known, positive
from harness.model.bounds import MAX_MTU_BYTES
from harness.model.interface import HostLink

SYSCTLS = (
    "net.core.default_qdisc",
    "net.core.netdev_max_backlog",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)
"""Kernel settings that affect TCP."""

PACKET_COUNTERS = {"errors": "errors", "dropped": "drops"}
"""Counters of packets: the kernel's names, and the names in results."""

_DIRECTIONS = ("rx", "tx")
_DRIVER = re.compile(r"bus/([\w-]+)/drivers/([\w.-]+)$")


def sysctl_file(name: str) -> str:
    """Return the path of a kernel setting's file."""
    return f"/proc/sys/{name.replace('.', '/')}"


def device_directory(device: str) -> str:
    """Return the directory of a device's files."""
    return f"/sys/class/net/{device}"


def read_device_files(host: str, device: str, files: Mapping[str, str]) -> HostLink | None:
    """Return a device as its files describe it; None if there are none."""
    directory = device_directory(device)
    if f"{directory}/mtu" not in files:
        return None
    return HostLink(
        host,
        device,
        mtu_bytes=positive(files[f"{directory}/mtu"], MAX_MTU_BYTES),
        state=known(files.get(f"{directory}/operstate")),
        counters=packet_counters(
            lambda direction, name: files.get(f"{directory}/statistics/{direction}_{name}")
        ),
    )


def packet_counters(reported: Callable[[str, str], Any]) -> dict[str, int] | None:
    """Return the packets by names such as `rx_errors`; None if none are known.

    `reported` returns what a kernel states of a direction, `rx` or `tx`, and of a counter by its own name.
    """
    found = {}
    for direction in _DIRECTIONS:
        for kernel_name, name in PACKET_COUNTERS.items():
            packets = count(reported(direction, kernel_name))
            if packets is not None:
                found[f"{direction}_{name}"] = packets
    return found or None


def read_driver(link: str) -> tuple[str | None, str | None]:
    """Return driver and bus, such as `r8152` and `usb`, of the target of the link `device/driver`."""
    match = _DRIVER.search(link)
    if match is None:
        return None, None
    return match[2], match[1]
