"""A node's link, shaped in both directions by the kernel while everything runs.

A sender's limit alone would let three senders overrun one receiver. What arrives cannot be queued, so
it is sent once around through a device of its own, ifb0, whose queue is shaped like the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

from harness.lab.cluster import Node, largest_mtu
from harness.model.errors import BadInput, ClusterliftError
from harness.model.link import MIN_MTU, Link, wire_bit_s

DEVICE, INBOUND = "eth0", "ifb0"
# A packet that the network card would cut up arrives whole here, 64 KiB long.
LEAST_BURST_BYTES = 128 * 1024
BURST_S = 1e-3
LATENCY = "5ms"

T = TypeVar("T")

_LACKING = ("unknown", "not supported", "no such file", "failed to load", "not found")


@dataclass(frozen=True)
class LinkCommand:
    """A command of root's in a node, and the parts of the kernel that it needs."""

    command: tuple[str, ...]
    needs: str
    may_fail: bool = False
    """It removes what need not be there."""


def shape(device: str, link: Link) -> LinkCommand:
    """Limit what leaves through a device; at once, without a moment of no limit if there is one."""
    rate = link.counted_bit_s
    if rate is None:
        raise ValueError("a link that is not shaped has no rate")
    burst = max(LEAST_BURST_BYTES, round(rate / 8 * BURST_S))
    limit = ("tbf", "rate", f"{rate}bit", "burst", f"{burst}b", "latency", LATENCY)
    return LinkCommand(("tc", "qdisc", "replace", "dev", device, "root", *limit), "sch_tbf")


def redirect() -> Iterator[LinkCommand]:
    """Send what arrives through ifb0."""
    filter_ = ("tc", "filter", "add", "dev", DEVICE, "parent", "ffff:", "protocol", "all", "u32")
    match = ("match", "u32", "0", "0")
    action = ("action", "mirred", "egress", "redirect", "dev", INBOUND)
    yield LinkCommand(("ip", "link", "add", INBOUND, "type", "ifb"), "ifb")
    yield LinkCommand(("ip", "link", "set", "dev", INBOUND, "up"), "ifb")
    yield LinkCommand(
        ("tc", "qdisc", "add", "dev", DEVICE, "handle", "ffff:", "ingress"), "sch_ingress"
    )
    yield LinkCommand((*filter_, *match, *action), "cls_u32 and act_mirred")


def remove() -> Iterator[LinkCommand]:
    """Take every limit away, also what an interrupted change left behind."""
    yield LinkCommand(("tc", "qdisc", "del", "dev", DEVICE, "root"), "sch_tbf", may_fail=True)
    yield LinkCommand(
        ("tc", "qdisc", "del", "dev", DEVICE, "ingress"), "sch_ingress", may_fail=True
    )
    yield LinkCommand(("ip", "link", "del", INBOUND), "ifb", may_fail=True)


def steps(before: Link, after: Link) -> Iterator[LinkCommand]:
    """From one link to the other."""
    if after.mtu != before.mtu:
        yield LinkCommand(("ip", "link", "set", "dev", DEVICE, "mtu", str(after.mtu)), "veth")
    if before.rate_bit_s is None or after.rate_bit_s is None:
        yield from remove()
    if after.rate_bit_s is None:
        return
    if before.rate_bit_s is None:
        yield from redirect()
    yield shape(INBOUND, after)
    yield shape(DEVICE, after)  # the last: a link that has it has everything


def read_link(node: Node, device: str = DEVICE, mtu: int | None = None) -> Link:
    """What a link is now; `mtu` is that of the packets if it is not the device's.

    Raises ClusterliftError if the kernel does not tell.
    """
    [state] = json.loads(node.execute("ip", "-j", "link", "show", "dev", device))
    queues = json.loads(node.execute("tc", "-j", "qdisc", "show", "dev", device))
    of_packets = mtu or int(state["mtu"])
    for queue in queues:
        if queue["kind"] == "tbf":
            rate = wire_bit_s(queue["options"]["rate"] * 8, of_packets)
            return Link(rate, of_packets)
    return Link(None, of_packets)


def read_links(nodes: Sequence[Node]) -> list[Link]:
    """What each node's link is now."""
    return on_all(read_link, nodes)


def set_links(nodes: Sequence[Node], change: Callable[[Link], Link]) -> list[Link]:
    """Make each node's link what `change` makes of it, and return what they are.

    Raises BadInput for an MTU that the lab's network does not carry, ClusterliftError that names the
    part of the kernel that is missing.
    """
    largest = largest_mtu()

    def set_link(node: Node) -> Link:
        before = read_link(node)
        after = change(before)
        if not MIN_MTU <= after.mtu <= largest:
            raise BadInput(
                f"--mtu {after.mtu}: the lab's network carries {MIN_MTU} to {largest}; "
                "`clusterlift lab up` makes one that carries 9000"
            )
        for step in steps(before, after):
            take(node, step)
        return after

    return on_all(set_link, nodes)


def take(node: Node, step: LinkCommand) -> None:
    """Run one step in a node."""
    try:
        node.execute(*step.command)
    except BadInput:
        raise
    except ClusterliftError as error:
        if not step.may_fail:
            raise _told(node, step, str(error)) from error


def on_all(work: Callable[[Node], T], nodes: Sequence[Node]) -> list[T]:
    """Do the same in all nodes at once."""
    with ThreadPoolExecutor(max(1, len(nodes))) as threads:
        return list(threads.map(work, nodes))


def _told(node: Node, step: LinkCommand, said: str) -> ClusterliftError:
    if any(sign in said.lower() for sign in _LACKING):
        return ClusterliftError(
            f"{node.name}: this kernel cannot shape links without {step.needs}: load it on the host "
            f"(modprobe), or use a kernel that has it ({said})"
        )
    return ClusterliftError(f"{node.name}: {' '.join(step.command)}: {said}")
