"""The links of the lab's nodes, which are shaped while everything runs."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from harness.base.errors import BadInput, ClusterliftError
from harness.lab.cluster import Node
from harness.model.link import Link
from harness.node.iproute2 import json_rows
from harness.settings.rate import commands_to_limit, commands_to_remove, limited_bit_s
from harness.settings.setting import ShellCommand, why_it_failed

DEVICE = "eth0"

T = TypeVar("T")


def commands_to_change(before: Link, after: Link) -> Iterator[ShellCommand]:
    """Yield the commands that change one link into the other."""
    if after.mtu != before.mtu:
        yield ShellCommand(f"ip link set dev {DEVICE} mtu {after.mtu}", "veth")
    if after.rate_bit_s is None:
        yield from commands_to_remove(DEVICE)
    else:
        yield from commands_to_limit(DEVICE, after, is_limited=before.rate_bit_s is not None)


def read_link(node: Node) -> Link:
    """Return the current link. Raise ClusterliftError if `ip` or `tc` fails."""
    [state] = json_rows(node.execute("ip", "-j", "link", "show", "dev", DEVICE), "ip link")
    mtu = int(state["mtu"])
    queues = node.execute("tc", "-j", "qdisc", "show", "dev", DEVICE)
    return Link(limited_bit_s(queues, mtu), mtu)


def read_links(nodes: Sequence[Node]) -> list[Link]:
    """Return each node's current link."""
    return run_on_all_nodes(read_link, nodes)


def set_links(nodes: Sequence[Node], change: Callable[[Link], Link]) -> list[Link]:
    """Apply `change` to each node's link and return the new links.

    Raises ClusterliftError that names the missing kernel module.
    """

    def set_link(node: Node) -> Link:
        before = read_link(node)
        after = change(before)
        for command in commands_to_change(before, after):
            run_link_command(node, command)
        return after

    return run_on_all_nodes(set_link, nodes)


def run_link_command(node: Node, command: ShellCommand) -> None:
    """Run a command in a node. Raises ClusterliftError if it fails and may not."""
    try:
        node.execute(*command.line.split())
    except BadInput:
        raise
    except ClusterliftError as error:
        if command.may_fail:
            return
        raise ClusterliftError(f"{node.name}: {why_it_failed(command, str(error))}") from error


def run_on_all_nodes(work: Callable[[Node], T], nodes: Sequence[Node]) -> list[T]:
    """Call a function with each node, in parallel, and return the results in order."""
    with ThreadPoolExecutor(max(1, len(nodes))) as threads:
        return list(threads.map(work, nodes))
