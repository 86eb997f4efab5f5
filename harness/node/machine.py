"""Facts of the machine that this process runs on. What cannot be read is None, never 0."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path
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


def machine_facts(root: Path = Path("/")) -> dict[str, Any]:
    """Host, kernel, processors, memory in bytes, sysctls and network links, read below `root`."""
    return {
        "host": platform.node() or None,
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine() or None,
        "cpu_model": _field(root / "proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "memory_bytes": _kibibytes(_field(root / "proc/meminfo", "MemTotal")),
        "python": platform.python_version(),
        "sysctls": {name: _read(root / "proc/sys" / name.replace(".", "/")) for name in SYSCTLS},
        "links": links(root),
    }


def links_by_host(environment: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The links of all nodes that a run recorded; older runs know the driver's alone."""
    driver = {str(environment.get("host")): environment.get("links") or {}}
    return environment.get("nodes") or driver


def links(root: Path = Path("/")) -> dict[str, dict[str, Any]]:
    """Each network interface but the loopback: `speed_mbit_s`, `mtu_bytes`, duplex, driver, state."""
    net = root / "sys/class/net"
    if not net.is_dir():
        return {}
    return {link.name: _link(link) for link in sorted(net.iterdir()) if link.name != "lo"}


def _link(link: Path) -> dict[str, Any]:
    return {
        "speed_mbit_s": _positive(_read(link / "speed")),
        "mtu_bytes": _positive(_read(link / "mtu")),
        "duplex": _known(_read(link / "duplex")),
        "driver": _target(link / "device/driver"),
        "state": _known(_read(link / "operstate")),
    }


def _read(file: Path) -> str | None:
    # Reading the speed of a link that is down is an error, not an empty file.
    try:
        return " ".join(file.read_text().split()) or None
    except OSError:
        return None


def _known(text: str | None) -> str | None:
    return None if text == "unknown" else text


def _positive(text: str | None) -> int | None:
    # A driver that does not know its speed says -1.
    return int(text) if text and text.isdecimal() and int(text) > 0 else None


def _target(link: Path) -> str | None:
    try:
        return link.readlink().name
    except OSError:
        return None


def _field(file: Path, name: str) -> str | None:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), None)


def _kibibytes(text: str | None) -> int | None:
    number = (text or "").removesuffix(" kB")
    return int(number) * 1024 if number.isdecimal() else None
