"""What a kernel reports of its network: by the commands `ip -j` and `tc -j`, and in files of /sys and /proc.

What the kernel does not know is None.
"""

import re
from collections.abc import Callable, Mapping
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

from harness.base.errors import ToolError
from harness.base.words import shorten
from harness.model.bounds import MAX_MTU_BYTES
from harness.model.interface import (
    DEVICE_NAME,
    MAX_SPEED_MBIT_S,
    NO_AGGREGATOR,
    Bond,
    BondMember,
    HostLink,
)
from harness.node.printed_json import printed_json

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

DEFAULT_ROUTE = ("ip", "-j", "route", "show", "default")
OWN_ADDRESSES = ("ip", "-j", "-4", "address", "show", "scope", "global", "up")
ALL_ADDRESSES = ("ip", "-j", "address", "show", "up")
"""Commands: the second prints the IPv4 addresses by which others can reach the host, the third all."""

MAX_COUNT = 2**63 - 1
MAX_TEXT = 300
"""Characters of a word or of a setting, such as the state of a link; kernels have a few."""

IPAddress = Union[IPv4Address, IPv6Address]  # noqa: UP007  for Python 3.8
_GLOBAL = "global"
_DIRECTIONS = ("rx", "tx")
_DEVICE = re.compile(DEVICE_NAME)
_DRIVER = re.compile(r"bus/([\w-]+)/drivers/([\w.-]+)$")


def route_to(address: str) -> list[str]:
    """Return the command that prints the route to an address."""
    return ["ip", "-j", "route", "get", address]


def read_route(text: str) -> str:
    """Return the device of the first route that has one.

    Raise ToolError if none has, if the route has next hops on several, or if the device has no plain name.
    """
    devices = next(filter(None, map(_devices_of, json_rows(text, "ip route"))), ())
    if not devices:
        raise ToolError("no route leads there")
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

    A route whose MTU is set, or announced by a router, is not forgotten for that. Raise ToolError for
    anything but routes.
    """
    for route in json_rows(text, "ip route"):
        seconds = count(route.get("expires"))
        listed = route.get("metrics")
        metrics = (
            [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
        )
        for each in metrics:
            mtu_bytes = positive(each.get("mtu"), MAX_MTU_BYTES)
            if mtu_bytes and seconds is not None and route.get("protocol") != "ra":
                return RememberedMtu(mtu_bytes, seconds)
    return None


def _devices_of(route: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the devices of a route, or of its next hops, each once; none where the kernel sends nothing."""
    listed = route.get("nexthops")
    hops = [hop for hop in listed if isinstance(hop, dict)] if isinstance(listed, list) else [route]
    alive = (hop for hop in hops if hop.get("dev") and "dead" not in str(hop.get("flags")))
    return tuple(dict.fromkeys(str(hop["dev"]) for hop in alive))


def read_addresses(text: str) -> list[IPv4Interface]:
    """Return the IPv4 addresses with their networks, in the order of their devices.

    Those that hold on the host or on one link alone are left out. Raise ToolError if the text has anything
    else.
    """
    return [
        address
        for address, scope in _addresses(text)
        if isinstance(address, IPv4Interface) and scope == _GLOBAL
    ]


def read_all_addresses(text: str) -> list[IPAddress]:
    """Return the addresses of both versions of IP, those of the host alone included.

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
    [row] = rows
    kind = mapping(row, "linkinfo").get("info_kind")
    stats = mapping(row, "stats64") or mapping(row, "stats")
    has_no_carrier = "NO-CARRIER" in str(row.get("flags"))
    return HostLink(
        host,
        shorten(row["ifname"], MAX_TEXT),
        mtu_bytes=positive(row.get("mtu"), MAX_MTU_BYTES),
        state=known(row.get("operstate")) or ("down" if has_no_carrier else None),
        queue=shorten(str(row["qdisc"]), MAX_TEXT) if row.get("qdisc") else None,
        kind=shorten(str(kind), MAX_TEXT) if kind else None,
        counters=_counters(lambda direction, name: mapping(stats, direction).get(name)),
    )


def sysctl_file(name: str) -> str:
    """Return the path of a kernel setting's file."""
    return f"/proc/sys/{name.replace('.', '/')}"


def device_directory(device: str) -> str:
    """Return the directory of a device's files."""
    return f"/sys/class/net/{device}"


def read_files(text: str) -> dict[str, str]:
    """Return value by path of what `grep -s . FILE...` printed.

    Blanks inside a value become one; of a file with several lines only the first counts. A file that
    cannot be read is left out.
    """
    values: dict[str, str] = {}
    for line in text.splitlines():
        path, colon, value = line.partition(":")
        if colon and path.startswith("/"):
            values.setdefault(path, shorten(" ".join(value.split()), MAX_TEXT))
    return values


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
        counters=_counters(
            lambda direction, name: files.get(f"{directory}/statistics/{direction}_{name}")
        ),
    )


def read_driver(link: str) -> tuple[str | None, str | None]:
    """Return driver and bus, such as `r8152` and `usb`, of the target of the link `device/driver`."""
    match = _DRIVER.search(link.strip())
    return (match[2], match[1]) if match else (None, None)


def read_bond(text: str) -> Bond | None:
    """Return the bond that a file of /proc/net/bonding describes; None for other text."""
    # The bond's own lines come first, then a block of lines for each member.
    blocks: list[dict[str, str]] = [{}]
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if name == "Slave Interface":
            blocks.append({})
        if colon and value.strip():
            blocks[-1].setdefault(name, shorten(value.strip(), MAX_TEXT))
    bond, *members = blocks
    if "Bonding Mode" not in bond:
        return None
    has_none = re.search("^bond .* has no active aggregator$", text, re.MULTILINE)
    return Bond(
        bond["Bonding Mode"],
        NO_AGGREGATOR if has_none else positive(bond.get("Aggregator ID")),
        tuple(map(_bond_member, members)),
        status=bond.get("MII Status"),
        active_member=bond.get("Currently Active Slave"),
        partner=bond.get("Partner Mac Address"),
    )


def json_rows(text: str, command: str) -> list[dict[str, Any]]:
    """Return the objects in the list that `ip -j` or `tc -j` printed. Raise ToolError for anything else."""
    lists = [each for each in printed_json(text, "[") if isinstance(each, list)]
    of_rows = [rows for rows in lists if all(isinstance(row, dict) for row in rows)]
    if of_rows:
        return next(filter(None, of_rows), of_rows[0])
    if lists:
        raise ToolError(f"{command}: its output is not a list of objects")
    if text.lstrip().startswith(("[", "{")):
        raise ToolError(
            f"{command}: its output is broken JSON, a fault of this version of iproute2: install another one"
        )
    raise ToolError(f"{command}: its output is not JSON, which needs iproute2 5.0")


def known(value: Any) -> str | None:
    """Return the text in lower case; None if it is empty or says that the value is unknown."""
    text = shorten(str(value or "").lower(), MAX_TEXT)
    return None if text.startswith("unknown") else text or None


def count(value: Any, most: int = MAX_COUNT) -> int | None:
    """Return a whole number, or its digits, as a number; None unless it is from 0 to `most`."""
    if isinstance(value, str) and re.fullmatch("[0-9]{1,19}", value):
        value = int(value)
    return value if type(value) is int and 0 <= value <= most else None


def positive(value: Any, most: int = MAX_COUNT) -> int | None:
    """Return the same; None for 0, too. A driver that does not know its speed reports -1."""
    return count(value, most) or None


def mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the object at a key of another; an empty one without it."""
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _counters(reported: Callable[[str, str], Any]) -> dict[str, int] | None:
    """Return the packets that are `reported`, by names such as `rx_errors`; None if none are known."""
    return {
        f"{direction}_{name}": packets
        for direction in _DIRECTIONS
        for kernel_name, name in PACKET_COUNTERS.items()
        if (packets := count(reported(direction, kernel_name))) is not None
    } or None


def _bond_member(block: Mapping[str, str]) -> BondMember:
    aggregator = block.get("Aggregator ID")
    return BondMember(
        device=block.get("Slave Interface", "unknown"),
        status=block.get("MII Status"),
        speed_mbit_s=positive(block.get("Speed", "").removesuffix(" Mbps"), MAX_SPEED_MBIT_S),
        duplex=known(block.get("Duplex")),
        aggregator=NO_AGGREGATOR if aggregator == "N/A" else positive(aggregator),
        churned=tuple(
            end.lower()
            for end in ("Actor", "Partner")
            if block.get(f"{end} Churn State") == "churned"
        ),
    )
