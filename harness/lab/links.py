"""A node's link, shaped by the kernel in both directions while everything runs.

Limiting senders alone would let three senders overrun one receiver. The kernel cannot queue incoming
packets at the device where they arrive, so they are redirected through a second device, ifb0, whose
queue is shaped like the outgoing one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from harness.lab.cluster import Node, max_mtu
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import MIN_MTU, Link, wire_bit_s

DEVICE, INBOUND = "eth0", "ifb0"
# A packet that a network card would split into frames passes through here whole: up to 64 KiB.
MIN_BURST_BYTES = 128 * 1024
BURST_S = 1e-3
LATENCY = "5ms"

T = TypeVar("T")

_UNSUPPORTED = ("unknown", "not supported", "no such file", "failed to load", "not found")


@dataclass(frozen=True)
class LinkCommand:
    """A command line to run as root in a node, and the kernel modules that it needs."""

    line: str
    modules: str
    may_fail: bool = False
    """True for a command that removes something that may not exist."""


REDIRECT_INCOMING = (
    LinkCommand(f"ip link add {INBOUND} type ifb", "ifb"),
    LinkCommand(f"ip link set dev {INBOUND} up", "ifb"),
    LinkCommand(f"tc qdisc add dev {DEVICE} handle ffff: ingress", "sch_ingress"),
    LinkCommand(
        f"tc filter add dev {DEVICE} parent ffff: protocol all u32 match u32 0 0 "
        f"action mirred egress redirect dev {INBOUND}",
        "cls_u32 and act_mirred",
    ),
)
REMOVE_LIMITS = (
    LinkCommand(f"tc qdisc del dev {DEVICE} root", "sch_tbf", may_fail=True),
    LinkCommand(f"tc qdisc del dev {DEVICE} ingress", "sch_ingress", may_fail=True),
    LinkCommand(f"ip link del {INBOUND}", "ifb", may_fail=True),
)
"""They remove every limit, including what an interrupted change left behind."""


def limit_rate(device: str, link: Link) -> LinkCommand:
    """Limit what leaves through a device. An earlier limit is replaced without a gap."""
    rate = link.counted_bit_s
    if rate is None:
        raise ValueError("an unshaped link has no rate")
    burst = max(MIN_BURST_BYTES, round(rate / 8 * BURST_S))
    limit = f"tbf rate {rate}bit burst {burst}b latency {LATENCY}"
    return LinkCommand(f"tc qdisc replace dev {device} root {limit}", "sch_tbf")


def commands_to_change(before: Link, after: Link) -> Iterator[LinkCommand]:
    """Yield the commands that change one link into the other."""
    if after.mtu != before.mtu:
        yield LinkCommand(f"ip link set dev {DEVICE} mtu {after.mtu}", "veth")
    if before.rate_bit_s is None or after.rate_bit_s is None:
        yield from REMOVE_LIMITS
    if after.rate_bit_s is None:
        return
    if before.rate_bit_s is None:
        yield from REDIRECT_INCOMING
    yield limit_rate(INBOUND, after)
    yield limit_rate(DEVICE, after)  # last: `read_link` reads this limit, so the rest is there, too


def read_link(node: Node, device: str = DEVICE, mtu: int | None = None) -> Link:
    """Return the current link. `mtu` is the packets' MTU in bytes, by default the device's.

    Raises ClusterliftError if `ip` or `tc` fails.
    """
    [state] = json.loads(node.execute("ip", "-j", "link", "show", "dev", device))
    queues = json.loads(node.execute("tc", "-j", "qdisc", "show", "dev", device))
    packet_mtu = mtu or int(state["mtu"])
    for queue in queues:
        if queue["kind"] == "tbf":
            return Link(wire_bit_s(queue["options"]["rate"] * 8, packet_mtu), packet_mtu)
    return Link(None, packet_mtu)


def read_links(nodes: Sequence[Node]) -> list[Link]:
    """Return each node's current link."""
    return run_on_all_nodes(read_link, nodes)


def set_links(nodes: Sequence[Node], change: Callable[[Link], Link]) -> list[Link]:
    """Apply `change` to each node's link and return the new links.

    Raises BadInput for an MTU that the lab's network does not carry, ClusterliftError that names the
    missing kernel module.
    """
    largest = max_mtu()

    def set_link(node: Node) -> Link:
        before = read_link(node)
        after = change(before)
        if not MIN_MTU <= after.mtu <= largest:
            raise BadInput(
                f"--mtu {after.mtu}: the lab's network carries {MIN_MTU} to {largest}; "
                "`clusterlift lab up` makes one that carries 9000"
            )
        for command in commands_to_change(before, after):
            run_link_command(node, command)
        return after

    return run_on_all_nodes(set_link, nodes)


def to_link(link: Link) -> Callable[[Link], Link]:
    """Return a change, for `set_links`, that replaces any link by this one."""
    return lambda _before: link


def run_link_command(node: Node, command: LinkCommand) -> None:
    """Run a command in a node. Raises ClusterliftError if it fails and may not."""
    try:
        node.execute(*command.line.split())
    except BadInput:
        raise
    except ClusterliftError as error:
        if command.may_fail:
            return
        if any(sign in str(error).lower() for sign in _UNSUPPORTED):
            raise ClusterliftError(
                f"{node.name}: this kernel cannot shape links without {command.modules}: load it on "
                f"the host (modprobe), or use a kernel that has it ({error})"
            ) from error
        raise ClusterliftError(f"{node.name}: {command.line}: {error}") from error


def run_on_all_nodes(work: Callable[[Node], T], nodes: Sequence[Node]) -> list[T]:
    """Call a function with each node, in parallel, and return the results in order."""
    with ThreadPoolExecutor(max(1, len(nodes))) as threads:
        return list(threads.map(work, nodes))
