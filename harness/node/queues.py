"""The limit that the root queue of a device sets, by what tc shows of its queueing disciplines.

A limit is in bit/s as the kernel counts them: NO_LIMIT, or None if it cannot be known.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Optional

from harness.base.checked import MAX_TEXT, mapping, positive
from harness.base.errors import ToolError
from harness.base.words import shorten
from harness.node.iproute2 import json_rows

Limit = Optional[int]
NO_LIMIT = 0

_UNLIMITED = frozenset(
    {
        *("noqueue", "noop", "pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "mq", "mqprio"),
        *("codel", "fq_codel", "fq", "pie", "fq_pie", "sfq", "red", "choke", "gred", "sfb", "hhf"),
        *("skbprio", "dualpi2", "multiq", "prio", "drr", "qfq", "ets", "ingress", "clsact"),
    }
)
"""Queues that hand on packets as fast as the device takes them."""
_RATES = {"tbf": "rate", "netem": "rate", "cake": "bandwidth"}
"""The option that has the rate of a queue, by its kind."""
_RECOUNTED = ("overhead", "mpu", "linklayer", "packetoverhead", "cellsize", "celloverhead", "slot")
"""Options by which a rate counts other bytes than the packets have."""


def read_queues(parts: Mapping[str, str], kind: str | None) -> tuple[str | None, Limit]:
    """Return the kind of a device's root queue, and the limit of what passes through it.

    With filters, or limits below the root queue, the limit is unknown. `parts` come from program.sh. `kind`
    is the root queue as ip names it, in case tc prints no JSON. Then NO_LIMIT proves little, because ip shows
    few limits: the part `no limits` has the reason.
    """
    queues: list[dict[str, Any]] = []
    with suppress(ToolError):
        rows = json_rows(parts.get("queue", ""), "tc qdisc")
        queues = [row for row in rows if isinstance(row.get("kind"), str)]
    roots = [queue for queue in queues if queue.get("root") is True and queue["kind"]]
    if not roots:
        return kind, _own_limit({"kind": kind or "noqueue"})
    root = roots[0]
    below = {_own_limit(queue) for queue in queues if queue is not root}
    is_known = below <= {NO_LIMIT} and not parts.get("filters", "").strip()
    return shorten(root["kind"], MAX_TEXT), _own_limit(root) if is_known else None


def _own_limit(queue: Mapping[str, Any]) -> Limit:
    """Return the limit of a queue without those below it."""
    kind = queue["kind"]
    options = mapping(queue, "options")
    if kind in _UNLIMITED:
        # fq may limit each flow, and mqprio each class of traffic.
        if options.get("maxrate") or options.get("max_rate"):
            return None
        return NO_LIMIT
    if kind == "netem" and options:
        options = {"rate": "unlimited", **options, **mapping(options, "rate")}
    if kind not in _RATES or any(options.get(option) for option in _RECOUNTED):
        return None
    rate = options.get(_RATES[kind])
    if rate == "unlimited":
        return NO_LIMIT
    bytes_s = positive(rate)
    if bytes_s:
        return 8 * bytes_s
    return None
