"""The rate of a host's link, limited by the kernel in both directions while everything runs.

Limiting senders alone would let three senders overrun one receiver. The kernel cannot queue incoming
packets at the device where they arrive, so they are redirected through a second device, whose queue
is shaped like the outgoing one.
"""

import shlex
from collections.abc import Iterator, Sequence

from harness.base.checked import mapping, positive
from harness.base.errors import ToolError
from harness.hosts.remote_process import CompletedCommand
from harness.model.interface import INBOUND_DEVICE
from harness.model.link import Link, parse_rate, rate_text, wire_bit_s
from harness.node.iproute2 import json_rows
from harness.settings.setting import Setting, ShellCommand

HANDLE = "c1f7:"
"""The handle of our queue, by which it is recognised."""
# A packet that a network card would split into frames passes through here whole: up to 64 KiB.
MIN_BURST_BYTES = 128 * 1024
BURST_S = 1e-3
LATENCY = "5ms"
UNLIMITED = "unlimited"
ROUNDING = 1e-4
"""Relative: tc prints five digits of whole bytes, and a wanted rate may have more."""

_DEFAULT_HANDLE = "0:"
_INGRESS = frozenset({"ingress", "clsact"})


def rate(device: str, bit_s: int | None, mtu: int) -> Setting:
    """Return the setting of the rate on the wire of a device, in both directions; None for no limit.

    `mtu` is the largest of its packets, in bytes: the kernel counts less of each packet than the wire
    carries.
    """

    def read(completed: CompletedCommand) -> str:
        limit_bit_s = limited_bit_s(completed.output, mtu)
        if limit_bit_s is None:
            return UNLIMITED
        is_wanted = bit_s is not None and abs(limit_bit_s - bit_s) <= ROUNDING * bit_s
        if is_wanted:
            return value
        return rate_text(limit_bit_s)

    def commands(wanted: str, before: str) -> Sequence[ShellCommand]:
        if wanted == UNLIMITED:
            return commands_to_remove(device)
        link = Link(parse_rate(name, wanted), mtu)
        return tuple(commands_to_limit(device, link, is_limited=before != UNLIMITED))

    name = f"rate of {device} at MTU {mtu}"
    value = UNLIMITED if bit_s is None else rate_text(bit_s)
    return Setting(
        name,
        value,
        rf"{UNLIMITED}|[0-9.]{{1,10}}[kmg]bit",
        f"tc -j qdisc show dev {shlex.quote(device)}",
        read,
        commands,
    )


def commands_to_limit(device: str, link: Link, *, is_limited: bool) -> Iterator[ShellCommand]:
    """Yield the commands that limit both directions. If there `is_limited` one, only rates change."""
    quoted = shlex.quote(device)
    if not is_limited:
        yield from commands_to_remove(device)
    # The first to come and the last to go: it is what `limited_bit_s` reads, so that no part is left unseen.
    yield limit_outgoing(device, link)
    if not is_limited:
        yield ShellCommand(f"ip link add {INBOUND_DEVICE} type ifb", "ifb")
        yield ShellCommand(f"ip link set dev {INBOUND_DEVICE} up", "ifb")
        yield ShellCommand(f"tc qdisc add dev {quoted} handle ffff: ingress", "sch_ingress")
        yield ShellCommand(
            f"tc filter add dev {quoted} parent ffff: protocol all u32 match u32 0 0 "
            f"action mirred egress redirect dev {INBOUND_DEVICE}",
            "cls_u32 and act_mirred",
        )
    yield limit_outgoing(INBOUND_DEVICE, link)


def limit_outgoing(device: str, link: Link) -> ShellCommand:
    """Limit what leaves through a device. A former limit is replaced without a gap."""
    rate_bit_s = link.counted_bit_s
    if rate_bit_s is None:
        raise ValueError("a link without a limit has no rate")
    burst = max(MIN_BURST_BYTES, round(rate_bit_s / 8 * BURST_S))
    limit = f"tbf rate {rate_bit_s}bit burst {burst}b latency {LATENCY}"
    line = f"tc qdisc replace dev {shlex.quote(device)} root handle {HANDLE} {limit}"
    return ShellCommand(line, "sch_tbf")


def commands_to_remove(device: str) -> Sequence[ShellCommand]:
    """Return the commands that remove our limit, and what an interrupted change left of it."""
    quoted = shlex.quote(device)
    return (
        ShellCommand(f"tc qdisc del dev {quoted} ingress", "sch_ingress", may_fail=True),
        ShellCommand(f"ip link del {INBOUND_DEVICE}", "ifb", may_fail=True),
        ShellCommand(f"tc qdisc del dev {quoted} root", "sch_tbf", may_fail=True),
    )


def limited_bit_s(text: str, mtu: int) -> int | None:
    """Return the rate on the wire that `tc -j qdisc show dev` says we set; None for none.

    Raise ToolError if the text cannot be read, or shows a queue that is neither ours nor the default one.
    """
    queues = json_rows(text, "tc qdisc")
    for queue in queues:
        if queue.get("handle") == HANDLE:
            bytes_s = positive(mapping(queue, "options").get("rate"))
            if bytes_s is None:
                raise ToolError(f"tc printed no rate for the queue {HANDLE}")
            return wire_bit_s(bytes_s * 8, mtu)
    for queue in queues:
        is_root = queue.get("root") is True and queue.get("kind") != "noqueue"
        has_own_root = is_root and queue.get("handle") != _DEFAULT_HANDLE
        if has_own_root or queue.get("kind") in _INGRESS:
            raise ToolError(
                f"its device already has a queue of the kind {queue.get('kind')}, which could not be put "
                "back: remove it (tc qdisc del), or choose another device"
            )
    return None
