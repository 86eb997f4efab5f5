"""The limit that queueing disciplines set: what tc shows of a device, followed from its root queue.

A limit is in bit/s as the kernel counts them: NO_LIMIT, or None if it cannot be known.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from harness.model.errors import ToolError
from harness.node.kernel import MAX_TEXT, json_rows, mapping, positive
from harness.words import shorten

Limit = int | None
NO_LIMIT = 0

_UNLIMITED = frozenset(
    {
        *("noqueue", "noop", "pfifo", "bfifo", "pfifo_fast", "pfifo_head_drop", "mq", "mqprio"),
        *("codel", "fq_codel", "fq", "pie", "fq_pie", "sfq", "red", "choke", "gred", "sfb", "hhf"),
        *("skbprio", "dualpi2", "multiq", "prio", "drr", "qfq", "ets"),
    }
)
"""Queues that hand on packets as fast as the device takes them."""
_RECOUNTED = ("overhead", "mpu", "linklayer", "packetoverhead", "cellsize", "celloverhead", "slot")
"""Options by which a rate is not that of the bytes of packets."""

_CLASS = re.compile(
    r"^class htb (\S+) (?:root|parent (\S+)) (?:leaf \S+ )?(?:prio \d+ )?"
    r"rate (\d{1,15})([KMGT]?)bit ceil (\d{1,15})([KMGT]?)bit ",
    re.MULTILINE,
)
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_Classes = Mapping[str, tuple[str, int, int]]
"""Parent, rate and ceiling of htb's classes, by handle."""
_MAX_DEPTH = 8  # as of htb's classes


def read_queues(parts: Mapping[str, str], kind: str | None) -> tuple[str | None, Limit]:
    """Return the kind of a device's root queue, and the limit of what passes through it.

    `parts` come from interface.sh; `kind` is the root queue by ip, in case tc prints no JSON.
    """
    rows: list[Mapping[str, Any]] = []
    with suppress(ToolError):
        rows += json_rows(parts.get("queue", ""), "tc qdisc")
    rows = [row for row in rows if isinstance(row.get("kind"), str)]
    root = next((row for row in rows if row.get("root") is True and row["kind"]), None)
    if root is None:
        return kind, _own_limit({"kind": kind or "noqueue"})
    classes = {
        handle: (parent, int(rate) * _UNITS[unit], int(ceil) * _UNITS[ceil_unit])
        for handle, parent, rate, unit, ceil, ceil_unit in _CLASS.findall(parts.get("classes", ""))
    }
    others = [row for row in rows if row["kind"] not in {"ingress", "clsact"}]
    limits = {None} if parts.get("filters", "").strip() else {*_limits(root, others, classes)}
    # Without the part, what comes in may be limited by filters.
    most = None if len(others) < len(rows) and "filters" not in parts else NO_LIMIT
    limit = None if None in limits else min(filter(None, limits), default=most)
    return shorten(root["kind"], MAX_TEXT), limit


def _limits(
    queue: Mapping[str, Any], others: Sequence[Mapping[str, Any]], classes: _Classes
) -> list[Limit]:
    """Return the limits on the way from a queue through those below it."""
    limits: list[Limit] = []
    for _ in range(_MAX_DEPTH):
        others = [row for row in others if row is not queue]
        handle, limit = str(queue.get("handle")), _own_limit(queue)
        below = [row for row in others if str(row.get("parent")).startswith(handle)]
        if queue["kind"] == "htb":
            leaf = handle + str(mapping(queue, "options").get("default")).removeprefix("0x")
            limit = _class_limit(leaf, classes)
            below = [row for row in below if row["parent"] == leaf]
        limits.append(limit)
        if queue["kind"] not in {"htb", "tbf", "netem"}:  # these have, or choose, one class
            return [*limits, *(None for row in others if _own_limit(row) != NO_LIMIT)]
        if not below:
            return limits
        queue = below[0]
    return [None]


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


def _class_limit(leaf: str, classes: _Classes) -> Limit:
    """Return the most that a class of htb gets: its rate, and up to its ceiling what its parent gets.

    None if it is no leaf: what has no class passes without a limit.
    """
    way = [leaf]
    while way[-1] in classes and len(way) <= _MAX_DEPTH:
        way.append(classes[way[-1]][0])
    if way.pop() or not way or any(parent == leaf for parent, _, _ in classes.values()):
        return None
    limit = 0
    for handle in reversed(way):
        _, rate, ceiling = classes[handle]
        limit = min(ceiling, max(rate, limit))
    return limit
