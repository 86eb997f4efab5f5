"""What went over a node's network interfaces: the kernel's counters, before and after.

What runs on executors is here too, and needs nothing but Python there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.model.task_metrics import NodeBytes, WireBytes

Traffic = tuple[int, int]
"""Bytes received and sent since an interface is there."""

_RECEIVED, _SENT = 0, 8
"""Columns of /proc/net/dev."""


@dataclass(frozen=True)
class NodeTraffic:
    """A node as it was seen once. Containers on one machine are nodes of their own."""

    identity: str
    host: str
    traffic: Mapping[str, Traffic]


@dataclass(frozen=True)
class TrafficSnapshot:
    """All nodes that could be looked at, at about the same time, by their identity.

    `executors` has the host of every executor, and the identity of its node, None if it could not be
    asked.
    """

    nodes: Mapping[str, NodeTraffic]
    executors: Mapping[str, tuple[str, str | None]]


def wire_bytes(before: TrafficSnapshot, after: TrafficSnapshot) -> WireBytes:
    """What each node's interfaces counted between two looks.

    A host is unread if its executor was not there both times, or its node's counters were reset.
    """
    known = {
        identity: counted
        for identity, node in before.nodes.items()
        if identity in after.nodes and (counted := _counted(node, after.nodes[identity]))
    }
    executors = [*before.executors.values(), *after.executors.values()]
    read = {host for host, identity in executors if identity in known}
    unread = {host for host, identity in executors} - read
    return WireBytes(tuple(known[identity] for identity in sorted(known)), tuple(sorted(unread)))


def _counted(before: NodeTraffic, after: NodeTraffic) -> NodeBytes | None:
    received = sent = 0
    for interface, (received_then, sent_then) in before.traffic.items():
        received_now, sent_now = after.traffic.get(interface, (-1, -1))
        if received_now < received_then or sent_now < sent_then:
            return None
        received += received_now - received_then
        sent += sent_now - sent_then
    return NodeBytes(before.host, received, sent) if before.traffic else None


def node_identity(root: Path = Path("/")) -> str:
    """Which network this process sees, the same for all processes that share one."""
    boot = (root / "proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {(root / 'proc/self/ns/net').readlink()}"


def interface_traffic(root: Path = Path("/")) -> dict[str, Traffic]:
    """The counters of the interfaces that lead to other machines.

    Those are the ones with hardware behind them; in a container, which has none, all but the
    loopback, the detours of shaped links (ifb) and what consists of others, such as a bridge. What
    is counted on its way through two interfaces would else be counted twice.
    """
    lines = (root / "proc/self/net/dev").read_text().splitlines()
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    columns = {name.strip(): rest.split() for name, rest in pairs}
    traffic = {n: (int(column[_RECEIVED]), int(column[_SENT])) for n, column in columns.items()}
    known = root / "sys/class/net"
    hardware = {name for name in traffic if (known / name / "device").exists()}
    plain = {name for name in traffic if not _is_detour(known / name)}
    return {name: traffic[name] for name in sorted(hardware or plain)}


def _is_detour(interface: Path) -> bool:
    own = interface.name == "lo" or interface.name.startswith("ifb")
    return own or any(interface.glob("lower_*"))
