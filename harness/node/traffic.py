"""The bytes that go over a node's network interfaces, by the kernel's counters.

`interface_traffic` also runs on executors, where it needs Python alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from harness.model.interface import INBOUND_DEVICE
from harness.model.task_metrics import NodeBytes, WireBytes
from harness.node.sampler import interface_bytes
from harness.node.snapshot import NodeReading, NodesSnapshot, Traffic, pairs, unread_hosts


def wire_bytes(before: NodesSnapshot, after: NodesSnapshot) -> WireBytes:
    """Return the bytes that each node received and sent between two snapshots.

    A host is unread if no executor of it has a node in both snapshots, or if the node's counters were reset
    in between.
    """
    bytes_by_node = {}
    for identity, (node, later) in pairs(before, after).items():
        grown = _difference(node, later)
        if grown:
            bytes_by_node[identity] = grown
    unread = unread_hosts(before, after, bytes_by_node.__contains__)
    nodes = tuple(bytes_by_node[identity] for identity in sorted(bytes_by_node))
    return WireBytes(nodes, tuple(sorted(unread)))


def _difference(before: NodeReading, after: NodeReading) -> NodeBytes | None:
    """Return the growth over all interfaces; None if there are none, or a counter was reset."""
    if not before.traffic:
        return None
    received = 0
    sent = 0
    for interface, (received_before, sent_before) in before.traffic.items():
        received_after, sent_after = after.traffic.get(interface, (-1, -1))
        if received_after < received_before or sent_after < sent_before:
            return None
        received += received_after - received_before
        sent += sent_after - sent_before
    return NodeBytes(before.host, received, sent)


def interface_traffic(root: Path = Path("/")) -> dict[str, Traffic]:
    """Return the counters of the interfaces that lead to other machines.

    These are the interfaces with hardware. A container has none: there they are all but the loopback, the ifb
    devices of shaped links, and interfaces that consist of others, such as a bridge. In the virtual machines
    of some clouds, one interface with hardware passes its packets through another one (Linux's netvsc and
    net_failover). Its counters include the other's counters, so the other one does not count.
    """
    counted = interface_bytes((root / "proc/self/net/dev").read_text().splitlines())
    net = root / "sys/class/net"
    hardware = [name for name in counted if (net / name / "device").exists()]
    passing = [name for name in hardware if _is_below_one_of(net / name, hardware)]
    plain = [name for name in counted if not _is_internal(net / name)]
    leading = set(hardware) - set(passing) or plain
    return {name: counted[name] for name in sorted(leading)}


def _is_below_one_of(interface: Path, names: Iterable[str]) -> bool:
    return any((interface / f"upper_{name}").exists() for name in names)


def _is_internal(interface: Path) -> bool:
    """Whether the interface does not lead to other machines by itself."""
    name = interface.name
    is_local = name in ("lo", INBOUND_DEVICE) or name.startswith("ifb")
    return is_local or any(interface.glob("lower_*"))
