"""One network interface of a host: the command that describes it, and how to read its output."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib.resources import files

from harness.model.errors import ToolError
from harness.model.interface import MAX_SPEED_MBIT_S, HostLink
from harness.model.link import TYPICAL_MTU, VIRTUAL_NIC_DRIVERS, wire_bit_s
from harness.node.kernel import (
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

_PART, _BELOW = "== ", "== below "
_SCRIPT = (files(__package__) / "interface.sh").read_text()


def link_command(device: str) -> list[str]:
    """Return the command that prints all that a host knows about a device, for `parse_link`."""
    return ["sh", "-c", _SCRIPT, device, *map(sysctl_file, SYSCTLS)]


def parse_link(host: str, device: str, text: str) -> HostLink:
    """Return the link that a host's output of `link_command` describes.

    Facts of a missing program are None. Raise ToolError if the device is missing.
    """
    own, *others = re.split(f"^{_BELOW}(.*)$", text, flags=re.MULTILINE)
    # Each device comes after the one above it: from the end, all that is below a device is known already.
    lower: dict[str, list[HostLink]] = {}
    for heading, parts in reversed(list(zip(others[::2], others[1::2], strict=True))):
        upper, _, name = heading.partition(" ")
        # What has disappeared is unknown, and so is what was not asked any more.
        link = HostLink(host, name, has_unknown_limit=True)
        with suppress(ToolError):
            link = _read_device(host, name, _parts(parts), lower.pop(name, ()))
        lower.setdefault(upper, []).append(link)
    return _read_device(host, device, _parts(own), lower.get(device, ()))


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
    is_virtual = f"/sys/devices/virtual/net/{device}/mtu" in values
    queue, limit = read_queues(parts, link.queue)
    described = replace(
        link,
        speed_mbit_s=positive(values.get(f"{directory}/speed"), MAX_SPEED_MBIT_S),
        duplex=known(values.get(f"{directory}/duplex")),
        driver="bond" if bond else driver or link.kind or ("virtual" if is_virtual else None),
        bus=bus,
        queue=queue,
        shaped_bit_s=wire_bit_s(limit, link.mtu_bytes or TYPICAL_MTU) if limit else None,
        has_unknown_limit=limit is None,
        offloads=read_offloads(parts.get("offloads", "")),
        bond=bond,
        sysctls={name: values[file] for name in SYSCTLS if (file := sysctl_file(name)) in values},
    )
    return _above(lower, described)


def _above(lower: Sequence[HostLink], link: HostLink) -> HostLink:
    """Return a link as the devices below it allow.

    Linux invents the speed of a virtual device. That of a bond is the sum of the members in use.
    """
    up = [each for each in lower if each.is_up]
    # A bridge has virtual ports, too, that lead to containers and virtual machines.
    ways = [each for each in up if each.bus or each.speed_mbit_s or not each.driver] or up
    is_shared = link.driver in {"bond", "team"} and len(ways) > 1
    speed_mbit_s = link.speed_mbit_s
    if link.driver == "bond":
        speed_mbit_s = speed_mbit_s if all(each.speed_mbit_s for each in up) else None
    elif link.driver and not link.bus:
        speeds = {each.speed_mbit_s for each in ways}
        speed_mbit_s = speeds.pop() if len(speeds) == 1 and not is_shared else None
    elif link.driver in VIRTUAL_NIC_DRIVERS:
        speed_mbit_s = None
    limits = {(each.shaped_bit_s, each.has_unknown_limit) for each in ways} or {(None, False)}
    shaped_bit_s, is_unknown = limits.pop()
    # How many members of a bond share the traffic is not known, nor which port of a bridge has it.
    is_unknown = is_unknown or bool(limits) or (is_shared and shaped_bit_s is not None)
    return replace(
        link,
        speed_mbit_s=speed_mbit_s,
        shaped_bit_s=min(filter(None, (link.shaped_bit_s, shaped_bit_s)), default=None),
        has_unknown_limit=link.has_unknown_limit or is_unknown,
        bond=link.bond or (ways[0].bond if len(ways) == 1 else None),
    )


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
