"""One network interface of a host: the command that describes it, and how to read its output."""

import re
from dataclasses import replace

from harness.model.errors import ToolError
from harness.model.interface import MAX_SPEED_MBIT_S, HostLink
from harness.model.link import VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node.kernel import (
    SYSCTLS,
    device_directory,
    device_files,
    known,
    positive,
    read_bond,
    read_device,
    read_device_files,
    read_driver,
    read_files,
    read_queue,
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

    Facts of a missing program are None. Raise ToolError if the device is missing.
    """
    parts = _parts(text)
    files = read_files(parts.get("files", ""))
    directory = device_directory(device)
    found = parts.get("device", "").strip()
    # Where ip is not installed, the kernel's files describe the device.
    link = read_device(host, found) if found else read_device_files(host, device, files)
    if link is None:
        raise ToolError(f"there is no device {device}")
    bond = read_bond(parts.get("bond", ""))
    driver, bus = read_driver(parts.get("driver", ""))
    driver = "bond" if bond else driver or link.kind
    queue, shaped_bit_s = _queue(parts.get("queue", ""), link.mtu_bytes)
    is_virtual = driver in VIRTUAL_NIC_DRIVERS
    return replace(
        link,
        speed_mbit_s=None
        if is_virtual
        else positive(files.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        duplex=known(files.get(f"{directory}/duplex")),
        driver=driver,
        bus=bus,
        queue=queue,
        shaped_bit_s=shaped_bit_s,
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        sysctls={name: files[file] for name in SYSCTLS if (file := sysctl_file(name)) in files},
    )


def read_offloads(text: str) -> dict[str, bool] | None:
    """Return which of the OFFLOADS are on; None if `ethtool -k` is missing or printed none."""
    states = dict(_FEATURE.findall(text))
    return {name: states[name] == "on" for name in OFFLOADS if name in states} or None


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


def _queue(text: str, mtu: int | None) -> tuple[str | None, int | None]:
    """Return the kind of the queue, and its limit as a rate on the wire."""
    try:
        kind, counted_bit_s = read_queue(text)
    except ToolError:
        return None, None
    if counted_bit_s is None or mtu is None:
        return kind, counted_bit_s
    return kind, wire_bit_s(counted_bit_s, mtu)
