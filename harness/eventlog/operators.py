"""The operators of a plan that Spark logged, each without what differs each time that it is planned.

Numbers of columns, of stages and of plans, addresses of objects, dates, ids, temporary names and the sites of
locations are left out, and so is what hides how an operator is executed: stages and generated code.
"""

from __future__ import annotations  # for Python 3.8

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Callable

from harness.base.redaction import without_credentials
from harness.eventlog.passing_words import without_passing_words
from harness.eventlog.plans import table_of
from harness.model.plan import MAX_OPERATORS, Operator, Plan

MAX_TEXT = 200
"""Characters of details, and of expressions."""
MAX_LOGGED = 8_000
"""Characters of an operator that are looked at."""
_WRAPPERS = frozenset(
    {
        "AdaptiveSparkPlan",
        "InputAdapter",
        "WholeStageCodegen",
        "ShuffleQueryStage",
        "BroadcastQueryStage",
        "TableCacheQueryStage",
        "ResultQueryStage",
        "ColumnarToRow",
        "CollectMetrics",
    }
)
"""Operators that are no work of their own; the last observes rows, as the benchmark does."""
_NUMBERED = re.compile(
    r"#\d+L?|,? ?\[?(?:plan_)?id=#?\d+\]?|@[0-9a-f]{4,}|\$?\$?Lambda[$/\w.]*|0x[0-9a-f]{6,}"
)
"""The parts of a plan that number columns and plans, and addresses of objects."""
_LOCATION = re.compile(r"(?:\b[a-z][a-z0-9+.-]{0,15}:)?/[^\s,;'\"()\[\]{}]+")
"""A path or a URI, such as that of what is written, which may be another each time."""
_JOIN = re.compile(
    r"\b(?:Inner|Cross|LeftOuter|RightOuter|FullOuter|LeftSemi|LeftAnti|LeftSingle|ExistenceJoin"
    r"|BuildLeft|BuildRight)\b"
)
_PARTITIONS = re.compile(r"(?:\(|, )(\d+)\)\Z")
_WHY_EXCHANGED = re.compile(r", (?:ENSURE_REQUIREMENTS|RE[A-Z_]{6,40}|\[).*\Z", re.DOTALL)
_LIMIT = re.compile(r"\(limit=(\d+)|Limit (\d+)")
_LISTED = {
    "PushedFilters": "pushed",
    "PartitionFilters": "partitions",
    "PushedAggregation": "aggregates",
    "RuntimeFilters": "filters at run time",
}
"""What a scan leaves out by itself, and what it is called here."""
_ICEBERG = re.compile(r"\[filters=(?P<filters>.*?)(?:, groupedBy=.*?)?\](?: |\Z)", re.DOTALL)
_NUMBERS = re.compile(r"-?\d+")


def plan_of(*logged: Any) -> Plan | None:
    """Return the plan of one or several executions that belong together, each as an event describes it.

    Equal executions count once. Return None if there is none.
    """
    trees: dict[tuple[Operator, ...], None] = {}
    for each in logged:
        trees[tuple(_operators(each))] = None
    operators: list[Operator] = []
    for tree in trees:
        operators += tree
    if not operators:
        return None
    left_out = max(0, len(operators) - MAX_OPERATORS)
    return Plan(digest_of(operators), tuple(operators[:MAX_OPERATORS]), left_out)


def digest_of(operators: list[Operator]) -> str:
    """Return what plans with the same meaning have in common; numbers within expressions do not count."""
    found = hashlib.sha256()
    for each in operators:
        expressions = _NUMBERS.sub("", each.expressions)
        found.update(f"{each.depth}\0{each.name}\0{each.details}\0{expressions}\n".encode())
    return found.hexdigest()[:16]


def _operators(plan: Any) -> Iterator[Operator]:
    """Yield the operators of a plan in the order in which Spark prints them."""
    nodes: list[tuple[int, Any]] = [(0, plan)]
    while nodes:
        depth, node = nodes.pop()
        name = _name(str(node["nodeName"]))
        children = [(depth, child) for child in reversed(node["children"])]
        if name not in _WRAPPERS:
            details, expressions = _described(name, node)
            yield Operator(depth, name, details, expressions)
            children = [(depth + 1, child) for _, child in children]
        if name.startswith("Reused"):
            continue  # what it reuses is in the plan where it is executed
        nodes += children


def _name(logged: str) -> str:
    """Return the name of an operator without its number, its table and its format."""
    words = logged[:MAX_TEXT].split()
    if not words:
        return "operator"
    if words[0] == "Execute":
        return " ".join(words[:2])
    return words[0]


def _described(name: str, node: Any) -> tuple[str, str]:
    """Return the details and the expressions of an operator."""
    text = _NUMBERED.sub("", str(node["simpleString"])[:MAX_LOGGED])
    if "Scan" in name:
        metadata = tuple((node.get("metadata") or {}).items())
        return _scan(table_of(node), str(node["nodeName"])[:MAX_TEXT], text, metadata)
    return _explained(name, text)


@lru_cache(5_000)
def _explained(name: str, text: str) -> tuple[str, str]:
    expressions = _LOCATION.sub("<location>", text[len(name) :])
    return _details(name, text), _clean(expressions)


def _details(name: str, text: str) -> str:
    for kind, read in _READERS.items():
        if kind in name:
            return read(text)
    return ""


def _join(text: str) -> str:
    return ", ".join(_JOIN.findall(text))


def _exchange(text: str) -> str:
    """Return how rows are exchanged: `hashpartitioning, 200 partitions`."""
    if text.startswith("Broadcast"):
        return ""
    partitioning = _WHY_EXCHANGED.sub("", text.partition(" ")[2])
    kind = partitioning.partition("(")[0][:MAX_TEXT]
    partitions = _PARTITIONS.search(partitioning)
    if partitions is None:
        return kind
    return f"{kind}, {partitions[1]} partitions"


def _rest(text: str) -> str:
    return text.partition(" ")[2][:MAX_TEXT]


def _limit(text: str) -> str:
    found = _LIMIT.search(text)
    if found is None:
        return ""
    return f"limit {found[1] or found[2]}"


_READERS: Mapping[str, Callable[[str], str]] = {
    "Join": _join,
    "NestedLoop": _join,
    "Exchange": _exchange,
    "ShuffleRead": _rest,
    "TakeOrdered": _limit,
    "Limit": _limit,
}
"""How the details of operators are read, by a part of their names."""


@lru_cache(1_000)
def _scan(
    table: str, node_name: str, text: str, metadata: tuple[tuple[str, str], ...]
) -> tuple[str, str]:
    """Return what a scan reads, in which format, and what it leaves out by itself."""
    values = dict(metadata)
    words = [(values.get("Format") or _value("Format", text)).lower()]
    if not words[0]:
        words = [part.lower() for part in node_name.split()[1:2] if part.isalpha()]
    words.append(table.replace("spark_catalog.", ""))
    listed = {name: values.get(key) or _value(key, text) for key, name in _LISTED.items()}
    iceberg = _ICEBERG.search(text)
    if iceberg:
        listed["pushed"] = iceberg["filters"]
    for name, found in listed.items():
        items = sorted(_items(found))
        if items:
            words.append(f"{name} [{', '.join(items)}]")
    buckets = values.get("SelectedBucketsCount") or _value("SelectedBucketsCount", text)
    if buckets:
        words.append(f"buckets {buckets}")
    return _clean(" ".join(filter(None, dict.fromkeys(words))), 2 * MAX_TEXT), ""


def _value(key: str, text: str) -> str:
    """Return the value of a key in a text such as `Format: Parquet, PushedFilters: [IsNotNull(a)], ...`."""
    found = re.search(rf"\b{key}(?:: |=)", text)
    if found is None:
        return ""
    start = found.end()
    depth = 0
    for place in range(start, len(text)):
        character = text[place]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and character == ","):
            return text[start:place]
        if depth == 0 and character == "]":
            return text[start : place + 1]
    return text[start:]


def _items(listed: str) -> Iterator[str]:
    """Yield the items of a list such as `[IsNotNull(a), In(b, [1,2])]`."""
    text = _NUMBERED.sub("", listed[:MAX_LOGGED]).strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    depth = 0
    item = ""
    for character in text:
        depth += character in "([{"
        depth -= character in ")]}"
        if character == "," and depth == 0:
            yield item.strip()
            item = ""
        else:
            item += character
    if item.strip():
        yield item.strip()


def _clean(text: str, most: int = MAX_TEXT) -> str:
    """Return a text in one line without credentials and words that differ each time, cut."""
    line = " ".join(without_passing_words(without_credentials(text)).split())
    if len(line) > most:
        return f"{line[: most - 1]}…"
    return line
