"""How many rows each execution of SQL returned, and its scans read, by Spark's own metrics of operators.

Spark counts the rows of an operator in each task. A partition counts once: Spark repeats tasks whose output
was lost, runs copies of slow ones, and reads twice what it sorts by range.
"""

from __future__ import annotations  # for Python 3.8

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.eventlog.events import TaskEnded, as_number, task_ended
from harness.eventlog.executed_plans import ExecutedPlans
from harness.model.answer import RowsDigest

_RETURNED = "number of output rows"
_SENT = "shuffle records written"
_COUNTED = frozenset({_RETURNED, _SENT})

_WRITING = "AppendData Execute OverwriteByExpression WriteFiles"
_OF_PLANS = "AdaptiveSparkPlan InputAdapter ResultQueryStage ShuffleQueryStage WholeStageCodegen"
_OF_ROWS = "ArrowEvalPython BatchEvalPython CollectMetrics Project Window"
_OF_PARTITIONS = "AQEShuffleRead Coalesce CustomShuffleReader Sort"
_PRESERVING = frozenset(f"{_WRITING} {_OF_PLANS} {_OF_ROWS} {_OF_PARTITIONS}".split())
"""The first words of operators that return the rows of their first child, all of them."""
_LIMIT = re.compile(
    r"(?:(?:Global|Collect)Limit (\d{1,10})(?:, 0)?\s*$|TakeOrderedAndProject\(limit=(\d{1,10}), orderBy)"
)
"""Operators that return a number of rows at most, and skip none."""
_SCANS = ("Scan ", "BatchScan")
_KEEPS_ROWS = "InMemoryTableScan"
"""A scan of what is in memory. Below it is the plan that computed this, once."""


@dataclass(frozen=True)
class RowCounts:
    """The rows that an execution returned, and that each of its scans read; None if Spark does not say."""

    returned: int | None
    scanned: tuple[int | None, ...] = ()

    @property
    def answer(self) -> RowsDigest | None:
        """The rows of the answer, as far as they are known; None if nothing is known."""
        if self.returned is None:
            return None
        return RowsDigest(self.returned, "")


class RowCounter:
    """Counts the rows of the executions in an event log, from its events in their order."""

    def __init__(self) -> None:
        self._described: dict[int, str] = {}
        self._rows: dict[int, int] = {}
        self._partitions: dict[int, set[int]] = {}
        self.executed = ExecutedPlans()

    def counts(self) -> Mapping[str, Sequence[RowCounts]]:
        """Return the counts of all executions by their description, in the order of their start."""
        found: dict[str, list[RowCounts]] = {}
        for number, description in self._described.items():
            plan = self.executed.logged[number]
            scanned = tuple(self._counted(scan, _RETURNED) for scan in _scans(plan))
            found.setdefault(description, []).append(RowCounts(self._returned(plan), scanned))
        return found

    def started(self, event: Any, description: str) -> None:
        """An execution starts."""
        number = as_number(event["executionId"])
        if event.get("rootExecutionId") in (None, number):
            self._described[number] = description
        self.executed.planned(event)

    def task_ended(self, event: Any) -> TaskEnded | None:
        """Count the rows of a task that ended, and return its end."""
        if event["Task End Reason"]["Reason"] == "Success":
            info = event["Task Info"]
            for each in info["Accumulables"]:
                if each.get("Name") in _COUNTED and each.get("Metadata") == "sql":
                    partition = as_number(info.get("Partition ID", info.get("Index")))
                    self._add(as_number(each["ID"]), partition, int(each["Update"]))
        return task_ended(event)

    def _add(self, accumulator: int, partition: int, rows: int) -> None:
        counted = self._partitions.setdefault(accumulator, set())
        if partition not in counted:
            counted.add(partition)
            self._rows[accumulator] = self._rows.get(accumulator, 0) + rows

    def _returned(self, plan: Any) -> int | None:
        """Return the rows that a plan returned, by the first operator from its root that tells."""
        limit: int | None = None
        node = plan
        while node is not None:
            name = node["nodeName"]
            if name == "Union":
                return _at_most(limit, self._sum(node["children"]))
            metric = _SENT if name == "Exchange" else _RETURNED
            rows = self._counted(node, metric)
            if rows is not None:
                return _at_most(limit, rows)
            own_limit = _limit(node)
            if own_limit is not None:
                limit = _at_most(limit, own_limit)
            elif not _preserves_rows(name) and not (limit is not None and name == "LocalLimit"):
                return None
            node = next(iter(node["children"]), None)
        return None

    def _sum(self, plans: Iterable[Any]) -> int | None:
        total = 0
        for plan in plans:
            rows = self._returned(plan)
            if rows is None:
                return None
            total += rows
        return total

    def _counted(self, node: Any, metric: str) -> int | None:
        """Return the value of an operator's metric; None if the operator has no such metric."""
        for each in node["metrics"]:
            if each["name"] == metric:
                accumulator = as_number(each["accumulatorId"])
                return self._rows.get(accumulator, self.executed.counts.get(accumulator, 0))
        return None


def _at_most(limit: int | None, rows: int | None) -> int | None:
    if limit is None or rows is None:
        return rows
    return min(limit, rows)


def _preserves_rows(name: str) -> bool:
    return name.partition(" ")[0] in _PRESERVING


def _limit(node: Any) -> int | None:
    found = _LIMIT.match(str(node["simpleString"]))
    if found is None:
        return None
    return int(found[1] or found[2])


def _scans(plan: Any) -> Iterator[Any]:
    """Yield the operators of a plan that read files or tables."""
    nodes = [plan]
    while nodes:
        node = nodes.pop()
        if node["nodeName"].startswith(_SCANS):
            yield node
        elif node["nodeName"] != _KEEPS_ROWS:
            nodes += node["children"]
