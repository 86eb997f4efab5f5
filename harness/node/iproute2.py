"""Routes, addresses and devices, as `ip -j` and `tc -j` print them. None means unknown to the kernel."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPV4LENGTH,
    IPV6LENGTH,
    IPv4Address,
    IPv4Interface,
    IPv6Address,
    IPv6Interface,
    ip_interface,
)
from typing import Any, Union

from harness.base.checked import MAX_TEXT, count, known, mapping, positive
from harness.base.errors import ToolError
from harness.base.words import shorten
from harness.model.bounds import MAX_MTU_BYTES
from harness.model.interface import DEVICE_NAME, HostLink
from harness.node.device_files import packet_counters
from harness.node.printed_json import printed_json

DEFAULT_ROUTE = ("ip", "-j", "route", "show", "default")
ALL_ADDRESSES = ("ip", "-j", "address", "show", "up")

IPAddress = Union[IPv4Address, IPv6Address]
_GLOBAL = "global"
_DEVICE = re.compile(DEVICE_NAME)


def route_to(address: str) -> list[str]:
    """Return the command that prints the route to an address."""
    return ["ip", "-j", "route", "get", address]


def read_route_device(text: str) -> str:
    """Return the device of the first route that has one.

    Raise ToolError if none has, if the route has next hops on several, or if the device has no plain name.
    """
    for route in json_rows(text, "ip route"):
        devices = _devices_of(route)
        if devices:
            return _only_device(devices)
    raise ToolError("no route leads there")


def _devices_of(route: Mapping[str, Any]) -> list[str]:
    """Return the devices of a route, or of its next hops, each once; none if the kernel sends nothing."""
    hops = _objects(route, "nexthops") if isinstance(route.get("nexthops"), list) else [route]
    devices: dict[str, None] = {}
    for hop in hops:
        if hop.get("dev") and "dead" not in str(hop.get("flags")):
            devices[str(hop["dev"])] = None
    return list(devices)


def _only_device(devices: Sequence[str]) -> str:
    for device in devices:
        if not _DEVICE.fullmatch(device):
            raise ToolError(f"{device!r} is not a name of an interface that can be used")
    if len(devices) > 1:
        raise ToolError(f"several routes lead there ({', '.join(devices)})")
    return devices[0]


@dataclass(frozen=True)
class RememberedMtu:
    """The largest packet that a router once let through, and for how long the kernel remembers that."""

    mtu_bytes: int
    seconds: int


def read_remembered_mtu(text: str) -> RememberedMtu | None:
    """Return what the kernel remembers of the path that `route_to` prints; None if it remembers nothing.

    An MTU that is set, or that a router announced, does not count. Raise ToolError for anything but routes.
    """
    for route in json_rows(text, "ip route"):
        seconds = count(route.get("expires"))
        if seconds is None or route.get("protocol") == "ra":
            continue
        for metrics in _objects(route, "metrics"):
            mtu_bytes = positive(metrics.get("mtu"), MAX_MTU_BYTES)
            if mtu_bytes:
                return RememberedMtu(mtu_bytes, seconds)
    return None


def _objects(row: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the objects in the list at a key; none without a list."""
    listed = row.get(key)
    if not isinstance(listed, list):
        return []
    return [each for each in listed if isinstance(each, dict)]


def read_addresses(text: str) -> list[IPv4Interface]:
    """Return the IPv4 addresses by which others can reach the host, in the order of their devices.

    They come with their networks. Raise ToolError if the text has anything else.
    """
    return [
        address
        for address, scope in _addresses(text)
        if isinstance(address, IPv4Interface) and scope == _GLOBAL
    ]


def read_all_addresses(text: str) -> list[IPAddress]:
    """Return the addresses of both versions of IP, also those that only the host itself reaches.

    Raise ToolError if the text has anything else.
    """
    return [address.ip for address, _ in _addresses(text)]


def _addresses(text: str) -> list[tuple[IPv4Interface | IPv6Interface, str]]:
    """Return the addresses with their scopes, such as `global` and `host`."""
    found = []
    try:
        for device in json_rows(text, "ip address"):
            for address in device.get("addr_info", ()):
                if "local" in address:
                    is_old = ":" not in address["local"]
                    length = address.get("prefixlen", IPV4LENGTH if is_old else IPV6LENGTH)
                    interface = ip_interface(f"{address['local']}/{length}")
                    found.append((interface, str(address.get("scope", _GLOBAL))))
    except (ValueError, TypeError, AttributeError) as error:
        raise ToolError("ip address: its output has what is no address") from error
    return found


def read_device(host: str, text: str) -> HostLink:
    """Return the device that `ip -j -d -s link show dev` printed. Raise ToolError without one."""
    rows = [row for row in json_rows(text, "ip link") if isinstance(row.get("ifname"), str)]
    if len(rows) != 1:
        raise ToolError("ip link does not show the device")
    row = rows[0]
    stats = mapping(row, "stats64") or mapping(row, "stats")
    has_no_carrier = "NO-CARRIER" in str(row.get("flags"))
    return HostLink(
        host,
        shorten(row["ifname"], MAX_TEXT),
        mtu_bytes=positive(row.get("mtu"), MAX_MTU_BYTES),
        state=known(row.get("operstate")) or ("down" if has_no_carrier else None),
        queue=_text(row.get("qdisc")),
        kind=_text(mapping(row, "linkinfo").get("info_kind")),
        counters=packet_counters(lambda direction, name: mapping(stats, direction).get(name)),
    )


def _text(value: Any) -> str | None:
    """Return a text as it is printed; None if it is empty or missing."""
    if value:
        return shorten(str(value), MAX_TEXT)
    return None


def json_rows(text: str, command: str) -> list[dict[str, Any]]:
    """Return the objects in the list that `ip -j` or `tc -j` printed. Raise ToolError for anything else."""
    lists: list[list[Any]] = list(printed_json(text, "["))
    of_rows = [rows for rows in lists if all(isinstance(row, dict) for row in rows)]
    for rows in of_rows:
        if rows:
            return rows
    if of_rows:
        return []
    if lists:
        raise ToolError(f"{command}: its output is not a list of objects")
    if text.lstrip().startswith(("[", "{")):
        raise ToolError(
            f"{command}: its output is broken JSON, a fault of this version of iproute2: install another one"
        )
    raise ToolError(f"{command}: its output is not JSON, which needs iproute2 5.0")
