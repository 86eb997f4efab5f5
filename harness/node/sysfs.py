"""The kernel's values in the small files of /sys and /proc. What the kernel does not know is None."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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

DIRECTIONS = ("rx", "tx")
PACKET_COUNTERS = {"errors": "errors", "dropped": "drops"}
"""Counters of packets: the kernel's names, and the names in results."""

VIRTUAL = "virtual"
_DEVICE_FILES = (
    *("speed", "duplex", "mtu", "operstate"),
    *(f"statistics/{direction}_{name}" for direction in DIRECTIONS for name in PACKET_COUNTERS),
)
_DRIVER = re.compile(r"bus/([\w-]+)/drivers/([\w.-]+)$")


@dataclass(frozen=True)
class Device:
    """A network device.

    `kind` is the kind of a virtual device (bond, vlan, veth), None for hardware. `counters` counts
    packets since the device came up, by names such as `rx_errors`; None if they are unknown.
    """

    name: str
    mtu_bytes: int | None
    state: str | None
    kind: str | None
    counters: Mapping[str, int] | None


def known(value: Any) -> str | None:
    """Return the text in lower case; None if it is empty or says that the value is unknown."""
    text = str(value or "").lower()
    return None if text.startswith("unknown") else text or None


def positive(value: Any) -> int | None:
    """Return a whole number, or its digits, as a number; None unless it is greater than 0.

    A driver that does not know its speed reports -1.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    return value if type(value) is int and value > 0 else None


def sysctl_file(name: str) -> str:
    """Return the path of a kernel setting's file."""
    return f"/proc/sys/{name.replace('.', '/')}"


def device_directory(device: str) -> str:
    """Return the directory of a device's files."""
    return f"/sys/class/net/{device}"


def device_files(device: str) -> list[str]:
    """Return the paths that describe a device; the last exists only for a virtual device."""
    directory = device_directory(device)
    return [*(f"{directory}/{name}" for name in _DEVICE_FILES), _virtual_file(device)]


def read_files(text: str) -> dict[str, str]:
    """Return value by path of what `grep -s . FILE...` printed.

    Blanks inside a value become one; of a file with several lines only the first counts. A file that
    cannot be read is left out.
    """
    values: dict[str, str] = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        if colon and path.startswith("/"):
            values.setdefault(path, " ".join(value.split()))
    return values


def read_device(device: str, files: Mapping[str, str]) -> Device | None:
    """Return a device as its files describe it; None if there are none."""
    directory = device_directory(device)
    if f"{directory}/mtu" not in files:
        return None
    counters = {
        f"{direction}_{name}": int(files[file])
        for direction in DIRECTIONS
        for kernel_name, name in PACKET_COUNTERS.items()
        if files.get(file := f"{directory}/statistics/{direction}_{kernel_name}", "").isdecimal()
    }
    return Device(
        name=device,
        mtu_bytes=positive(files[f"{directory}/mtu"]),
        state=known(files.get(f"{directory}/operstate")),
        kind=VIRTUAL if _virtual_file(device) in files else None,
        counters=counters or None,
    )


def read_driver(link: str) -> tuple[str | None, str | None]:
    """Return driver and bus, such as `r8152` and `usb`, of the target of the link `device/driver`."""
    match = _DRIVER.search(link.strip())
    return (match[2], match[1]) if match else (None, None)


def _virtual_file(device: str) -> str:
    return f"/sys/devices/virtual/net/{device}/mtu"
