"""What `ip -j` and `tc -j` say: the way to a host, a device, its queue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.model.errors import ToolError

COUNTED = {"errors": "errors", "dropped": "drops"}
"""Counters of packets as the kernel calls them, and as we do."""


@dataclass(frozen=True)
class Device:
    """A network device. `kind` is that of a virtual one: bond, vlan, veth; None of hardware.

    `counters` are packets since it came up, such as `rx_errors`; None where they are not told.
    """

    name: str
    mtu_bytes: int | None
    state: str | None
    kind: str | None
    counters: Mapping[str, int] | None


def route_to(address: str) -> list[str]:
    """Ask for the way to an address."""
    return ["ip", "-j", "route", "get", address]


def default_route() -> list[str]:
    """Ask for the way to everywhere else."""
    return ["ip", "-j", "route", "show", "default"]


def own_addresses() -> list[str]:
    """Ask for the addresses that others may reach a host by."""
    return ["ip", "-j", "-4", "address", "show", "scope", "global", "up"]


def read_route(text: str) -> str:
    """The device that a way begins with. Raises ToolFailed if there is none."""
    for route in _rows(text, "ip route"):
        if isinstance(route.get("dev"), str) and route["dev"]:
            return str(route["dev"])
    raise ToolError("no route leads there")


def read_addresses(text: str) -> list[str]:
    """IPv4 addresses in the order of their devices. Raises ToolFailed if the text is not ip's."""
    found = (one for device in _rows(text, "ip address") for one in device.get("addr_info") or ())
    return [str(one["local"]) for one in found if isinstance(one, dict) and one.get("local")]


def read_device(text: str) -> Device:
    """The one device of `ip -j -d -s link show dev`. Raises ToolFailed if it is not there."""
    rows = [row for row in _rows(text, "ip link") if isinstance(row.get("ifname"), str)]
    if len(rows) != 1:
        raise ToolError("ip link does not show the device")
    [row] = rows
    state = row.get("operstate")
    kind = _mapping(row, "linkinfo").get("info_kind")
    return Device(
        name=row["ifname"],
        mtu_bytes=_positive(row.get("mtu")),
        state=str(state).lower() if state and state != "UNKNOWN" else None,
        kind=str(kind) if kind else None,
        counters=_counters(_mapping(row, "stats64") or _mapping(row, "stats")),
    )


def read_queue(text: str) -> tuple[str, int | None]:
    """The kind of a device's root queue, and the bit/s that it is limited to, None if it is not.

    Raises ToolFailed if tc shows none.
    """
    for row in _rows(text, "tc qdisc"):
        if row.get("root") is True and row.get("kind"):
            bytes_s = _positive(_mapping(row, "options").get("rate"))
            limited = row["kind"] == "tbf" and bytes_s is not None
            return str(row["kind"]), 8 * bytes_s if limited and bytes_s else None
    raise ToolError("tc shows no queue")


def _rows(text: str, what: str) -> list[dict[str, Any]]:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolError(
            f"{what}: its answer cannot be read; is its iproute2 older than 4.14?"
        ) from error
    if not isinstance(rows, list):
        raise ToolError(f"{what}: its answer is no list")
    return [row for row in rows if isinstance(row, dict)]


def _mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _positive(value: Any) -> int | None:
    return value if type(value) is int and value > 0 else None


def _counters(stats: Mapping[str, Any]) -> dict[str, int] | None:
    found = {
        f"{way}_{name}": of_way[key]
        for way in ("rx", "tx")
        for key, name in COUNTED.items()
        if type((of_way := _mapping(stats, way)).get(key)) is int
    }
    return found or None
