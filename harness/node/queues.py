"""The limit that the root queue of a device sets, by what tc shows of its queueing disciplines.

A limit is in bit/s as the kernel counts them: NO_LIMIT, or None if it cannot be known.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from harness.base.checked import MAX_TEXT, mapping, positive
from harness.base.errors import ToolError
from harness.base.words import shorten
from harness.node.iproute2 import json_rows

Limit = int | None
NO_LIMIT = 0

_UNLIMITED = frozenset(
    {
        *("noqueue", "noop", "pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "mq", "mqprio"),
        *("codel", "fq_codel", "fq", "pie", "fq_pie", "sfq", "red", "choke", "gred", "sfb", "hhf"),
        *("skbprio", "dualpi2", "multiq", "prio", "drr", "qfq", "ets", "ingress", "clsact"),
    }
)
"""Queues that hand on packets as fast as the device takes them."""
_RECOUNTED = ("overhead", "mpu", "linklayer", "packetoverhead", "cellsize", "celloverhead", "slot")
"""Options by which a rate is not that of the bytes of packets."""


def read_queues(parts: Mapping[str, str], kind: str | None) -> tuple[str | None, Limit]:
    """Return the kind of a device's root queue, and the limit of what passes through it.

    What filters do, or limits below the root queue, is not followed. `parts` come from program.sh; `kind`
    is the root queue by ip, in case tc prints no JSON. Then NO_LIMIT says nothing of limits that ip does not
    show: what program.sh prints of `no limits` is the reason.
    """
    rows: list[Mapping[str, Any]] = []
    with suppress(ToolError):
        rows += json_rows(parts.get("queue", ""), "tc qdisc")
    rows = [row for row in rows if isinstance(row.get("kind"), str)]
    root = next((row for row in rows if row.get("root") is True and row["kind"]), None)
    if root is None:
        return kind, _own_limit({"kind": kind or "noqueue"})
    below = {_own_limit(row) for row in rows if row is not root}
    is_known = below <= {NO_LIMIT} and not parts.get("filters", "").strip()
    return shorten(root["kind"], MAX_TEXT), _own_limit(root) if is_known else None


def _own_limit(queue: Mapping[str, Any]) -> Limit:
    """Return the limit of a queue without those below it."""
    kind, options = queue["kind"], mapping(queue, "options")
    if kind in _UNLIMITED:
        # fq may limit each flow, and mqprio each class of traffic.
        return None if options.get("maxrate") or options.get("max_rate") else NO_LIMIT
    if kind == "netem" and options:
        options = {"rate": "unlimited", **options, **mapping(options, "rate")}
    if kind not in {"tbf", "netem", "cake"} or any(map(options.get, _RECOUNTED)):
        return None
    rate = options.get("bandwidth" if kind == "cake" else "rate")
    bytes_s = positive(rate)
    return NO_LIMIT if rate == "unlimited" else bytes_s and 8 * bytes_s
