"""The rate of a host's link, limited by the kernel in both directions while everything runs.

Limiting senders alone would let three senders overrun one receiver. The kernel cannot queue incoming
packets at the device where they arrive, so they are redirected through a second device, whose queue
is shaped like the outgoing one.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from harness.hosts.remote_process import CompletedCommand
from harness.model.errors import ToolError
from harness.model.link import Link, parse_rate, rate_text, wire_bit_s
from harness.settings.setting import Setting, ShellCommand

INBOUND = "clusterlift0"
"""The device through which incoming packets are redirected."""
HANDLE = "c1f7:"
"""The handle of our queue, by which it is recognised."""
# A packet that a network card would split into frames passes through here whole: up to 64 KiB.
MIN_BURST_BYTES = 128 * 1024
BURST_S = 1e-3
LATENCY = "5ms"
UNLIMITED = "unlimited"

_DEFAULT_HANDLE = "0:"
_INGRESS = frozenset({"ingress", "clsact"})


class Rate(Setting, frozen=True, tag="rate"):
    """The rate on the wire of a device, in both directions; None for no limit.

    `mtu` is that of its packets, in bytes: the kernel counts less of each packet than the wire carries.
    """

    device: str
    bit_s: int | None
    mtu: int

    @property
    def name(self) -> str:
        """`rate of eth0`."""
        return f"rate of {self.device}"

    @property
    def value(self) -> str:
        """`160mbit`, or `unlimited`."""
        return UNLIMITED if self.bit_s is None else rate_text(self.bit_s)

    def reading(self) -> ShellCommand:
        """Return the command that prints the device's queues."""
        return ShellCommand(f"tc -j qdisc show dev {self.device}")

    def read(self, completed: CompletedCommand) -> str:
        """Return the rate of our own limit, if there is one.

        Raise ToolError if somebody else has given the device a queue, which could not be put back.
        """
        bit_s = limited_bit_s(completed.output, self.mtu)
        return UNLIMITED if bit_s is None else rate_text(bit_s)

    def commands_to_set(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that limit both directions; a former limit is replaced without a gap."""
        return self._commands(before, self.bit_s)

    def commands_to_put_back(self, before: str) -> Sequence[ShellCommand]:
        """Return the commands that remove the limit, or set the former one."""
        if before == UNLIMITED:
            return commands_to_remove(self.device)
        return self._commands(before, parse_rate(self.name, before))

    def _commands(self, before: str, bit_s: int | None) -> Sequence[ShellCommand]:
        if bit_s is None:
            return commands_to_remove(self.device)
        link = Link(bit_s, self.mtu)
        return tuple(commands_to_limit(self.device, link, is_limited=before != UNLIMITED))


def commands_to_limit(device: str, link: Link, *, is_limited: bool) -> Iterator[ShellCommand]:
    """Yield the commands that limit both directions. If there `is_limited` one, only rates change."""
    if not is_limited:
        yield from commands_to_remove(device)
        yield ShellCommand(f"ip link add {INBOUND} type ifb", "ifb")
        yield ShellCommand(f"ip link set dev {INBOUND} up", "ifb")
        yield ShellCommand(f"tc qdisc add dev {device} handle ffff: ingress", "sch_ingress")
        yield ShellCommand(
            f"tc filter add dev {device} parent ffff: protocol all u32 match u32 0 0 "
            f"action mirred egress redirect dev {INBOUND}",
            "cls_u32 and act_mirred",
        )
    yield limit_outgoing(INBOUND, link)
    # The last one: it is what `limited_bit_s` reads, so if it is there, the rest is there, too.
    yield limit_outgoing(device, link)


def limit_outgoing(device: str, link: Link) -> ShellCommand:
    """Limit what leaves through a device. A former limit is replaced without a gap."""
    rate = link.counted_bit_s
    if rate is None:
        raise ValueError("a link without a limit has no rate")
    burst = max(MIN_BURST_BYTES, round(rate / 8 * BURST_S))
    limit = f"tbf rate {rate}bit burst {burst}b latency {LATENCY}"
    return ShellCommand(f"tc qdisc replace dev {device} root handle {HANDLE} {limit}", "sch_tbf")


def commands_to_remove(device: str) -> Sequence[ShellCommand]:
    """Return the commands that remove our limit, and what an interrupted change left of it."""
    return (
        ShellCommand(f"tc qdisc del dev {device} root", "sch_tbf", may_fail=True),
        ShellCommand(f"tc qdisc del dev {device} ingress", "sch_ingress", may_fail=True),
        ShellCommand(f"ip link del {INBOUND}", "ifb", may_fail=True),
    )


def limited_bit_s(text: str, mtu: int) -> int | None:
    """Return the rate on the wire that `tc -j qdisc show dev` says we set; None for none.

    Raise ToolError if the text cannot be read, or shows a queue that is neither ours nor the default one.
    """
    queues = _queues(text)
    ours = next((queue for queue in queues if queue.get("handle") == HANDLE), None)
    if ours is not None:
        try:
            return wire_bit_s(ours["options"]["rate"] * 8, mtu)
        except (KeyError, TypeError) as error:
            raise ToolError(f"tc printed no rate for the queue {HANDLE}") from error
    for queue in queues:
        is_root = queue.get("root") is True and queue.get("kind") != "noqueue"
        has_own_root = is_root and queue.get("handle") != _DEFAULT_HANDLE
        if has_own_root or queue.get("kind") in _INGRESS:
            raise ToolError(
                f"its device already has a queue of the kind {queue.get('kind')}, which could not be put "
                "back: remove it (tc qdisc del), or choose another device"
            )
    return None


def _queues(text: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ToolError(f"the output of tc cannot be read: {text[:40]!r}") from error
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ToolError("the output of tc is not a list of queues")
    return found
