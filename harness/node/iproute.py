"""The commands `ip -j` and `tc -j`, and what they print: routes, addresses, a device, its queue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from harness.model.errors import ToolError
from harness.node.sysfs import DIRECTIONS, PACKET_COUNTERS, Device, known, positive


def route_to(address: str) -> list[str]:
    """Return the command that prints the route to an address."""
    return ["ip", "-j", "route", "get", address]


def default_route() -> list[str]:
    """Return the command that prints the default route."""
    return ["ip", "-j", "route", "show", "default"]


def own_addresses() -> list[str]:
    """Return the command that prints the addresses by which others can reach the host."""
    return ["ip", "-j", "-4", "address", "show", "scope", "global", "up"]


def read_route(text: str) -> str:
    """Return the device of the first route. Raise ToolError if there is no route."""
    for route in _rows(text, "ip route"):
        if isinstance(route.get("dev"), str) and route["dev"]:
            return str(route["dev"])
    raise ToolError("no route leads there")


def read_addresses(text: str) -> list[str]:
    """Return the IPv4 addresses in the order of their devices. Raise ToolError for other text."""
    addresses = (
        address for device in _rows(text, "ip address") for address in device.get("addr_info") or ()
    )
    return [
        str(address["local"])
        for address in addresses
        if isinstance(address, dict) and address.get("local")
    ]


def read_device(text: str) -> Device:
    """Return the device that `ip -j -d -s link show dev` printed. Raise ToolError without one."""
    rows = [row for row in _rows(text, "ip link") if isinstance(row.get("ifname"), str)]
    if len(rows) != 1:
        raise ToolError("ip link does not show the device")
    [row] = rows
    kind = _mapping(row, "linkinfo").get("info_kind")
    stats = _mapping(row, "stats64") or _mapping(row, "stats")
    counters = {
        f"{direction}_{name}": count
        for direction in DIRECTIONS
        for kernel_name, name in PACKET_COUNTERS.items()
        if type(count := _mapping(stats, direction).get(kernel_name)) is int
    }
    return Device(
        name=row["ifname"],
        mtu_bytes=positive(row.get("mtu")),
        state=known(row.get("operstate")),
        kind=str(kind) if kind else None,
        counters=counters or None,
    )


def read_queue(text: str) -> tuple[str, int | None]:
    """Return the kind of a device's root queue, and the bit/s it is limited to, None if it is not.

    Raise ToolError if tc shows no queue.
    """
    for row in _rows(text, "tc qdisc"):
        if row.get("root") is True and row.get("kind"):
            bytes_s = positive(_mapping(row, "options").get("rate"))
            is_limited = row["kind"] == "tbf" and bytes_s is not None
            return str(row["kind"]), 8 * bytes_s if is_limited and bytes_s else None
    raise ToolError("tc shows no queue")


def _rows(text: str, command: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"{command}: its output is not JSON; is its iproute2 older than 4.14?"
        ) from error
    if not isinstance(rows, list):
        raise ToolError(f"{command}: its output is not a list")
    return [row for row in rows if isinstance(row, dict)]


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = row.get(key)
    return value if isinstance(value, dict) else {}
