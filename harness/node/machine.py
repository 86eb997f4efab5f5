"""Facts about the machine of this process. A fact that cannot be read is None, never 0."""

import os
import platform
from pathlib import Path
from typing import Any

from harness.node.kernel import SYSCTLS, known, positive, sysctl_file


def machine_facts(root: Path = Path("/")) -> dict[str, Any]:
    """Return host, kernel, processors, memory in bytes, sysctls and links, read below `root`."""
    return {
        "host": platform.node() or None,
        "kernel": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine() or None,
        "cpu_model": _field(root / "proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "memory_bytes": _kibibytes(_field(root / "proc/meminfo", "MemTotal")),
        "python": platform.python_version(),
        "sysctls": {name: _read(root / sysctl_file(name).lstrip("/")) for name in SYSCTLS},
        "links": links(root),
    }


def links(root: Path = Path("/")) -> dict[str, dict[str, Any]]:
    """Return `speed_mbit_s`, `mtu_bytes`, duplex, driver and state of each interface, without lo.

    Unlike `harness.node.interface`, it needs no program, so that it works on every Linux.
    """
    net = root / "sys/class/net"
    if not net.is_dir():
        return {}
    return {link.name: _link(link) for link in sorted(net.iterdir()) if link.name != "lo"}


def _link(link: Path) -> dict[str, Any]:
    return {
        "speed_mbit_s": positive(_read(link / "speed")),
        "mtu_bytes": positive(_read(link / "mtu")),
        "duplex": known(_read(link / "duplex")),
        "driver": _target(link / "device/driver"),
        "state": known(_read(link / "operstate")),
    }


def _read(file: Path) -> str | None:
    # Reading the speed of a link that is down is an error, not an empty file.
    try:
        return " ".join(file.read_text().split()) or None
    except OSError:
        return None


def _target(link: Path) -> str | None:
    try:
        return link.readlink().name
    except OSError:
        return None


def _field(file: Path, name: str) -> str | None:
    """Return the value of the first line `name: value`."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return None
    pairs = (line.partition(":") for line in lines)
    return next((value.strip() for key, _, value in pairs if key.strip() == name), None)


def _kibibytes(text: str | None) -> int | None:
    number = (text or "").removesuffix(" kB")
    return int(number) * 1024 if number.isdecimal() else None
