"""Spark's plans in an event log: what tells one from others, and which tables it reads."""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Iterator
from typing import Any

from harness.eventlog.passing_words import place, without_passing_words

_PASSING = re.compile(r"#\d+L?|=\d+|\(\d+\)|@[0-9a-f]{4,}|Lambda\S*")
"""The parts of a plan that differ each time: numbers of columns, nodes and stages, and addresses."""
_SCAN = re.compile(r"(Batch|File)?Scan (?:(?P<format>\S*) )?(?P<table>\S*)")
_LOCATION = re.compile(r"Location: \w{1,80}(?:\(\d{1,9} paths?\))? ?\[([^\],]{1,2000})")
_MAX_TABLE = 500
"""Characters of a scan's name that are looked at."""


def fingerprint(plan: Any) -> int:
    """Return a hash of a plan without what differs each time that the plan is made."""
    found: list[str] = []
    for node in _nodes(plan):
        found += (_PASSING.sub("", str(node[key])) for key in ("nodeName", "simpleString"))
    return hash(tuple(found))


def tables(plan: Any) -> frozenset[str]:
    """Return the names of the tables that a plan reads, without what differs each time; empty if unknown.

    A table without a name is called like the last directory of its location that is no partition.
    """
    names = [table_of(node) for node in _nodes(plan)]
    return frozenset(name for name in names if name)


def _nodes(plan: Any) -> Iterator[Any]:
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        yield node
        nodes += node["children"]


def table_of(node: Any) -> str:
    """Return the name of the table that an operator reads, as in `tables`."""
    scan = _SCAN.match(str(node["nodeName"])[:_MAX_TABLE])
    if scan is None:
        return ""
    table = scan["table"]
    if table.startswith("["):  # of JDBC: JDBCRelation(orders) [numPartitions=1]
        table = scan["format"] or ""
    if ":/" in table:
        return place(table)
    if table and (scan["format"] is not None or scan[1] == "Batch"):
        return without_passing_words(table)
    # Spark cuts long values, but not in the metadata.
    whole = (node.get("metadata") or {}).get("Location")
    described = f"Location: {whole}" if whole else str(node["simpleString"])
    location = _LOCATION.search(described)
    if not location:
        return ""
    return place(location[1])
