"""The plans of executions of SQL while they run: the latest of each, and how many files they read."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterator
from typing import Any

from harness.eventlog.events import as_number
from harness.eventlog.operators import plan_of
from harness.model.plan import Plan
from harness.model.spark_properties import recorded_properties

SQL_EVENTS = b"org.apache.spark.sql.execution.ui.SparkListener"
"""How the names of events of SQL begin."""
_FILES = "number of files read"
"""The metric of a scan."""


class ExecutedPlans:
    """The plans of one execution, and of those within it, from the events that Spark logs of them."""

    def __init__(self) -> None:
        self._logged: dict[int, Any] = {}
        self._counts: dict[int, int] = {}
        self._properties: dict[str, str] | None = None

    def planned(self, event: Any) -> None:
        """An execution starts with a plan, or adaptive execution changed it."""
        self._logged[as_number(event["executionId"])] = event["sparkPlanInfo"]
        set_by_session = event.get("modifiedConfigs")
        if set_by_session is not None:
            found = {str(name): str(value) for name, value in set_by_session.items()}
            self._properties = {**(self._properties or {}), **recorded_properties(found)}

    def properties(self) -> dict[str, str] | None:
        """Return what the session had set for the executions; None if Spark did not log it."""
        return self._properties

    def counted(self, event: Any) -> None:
        """The driver counted something, such as files."""
        for number, count in event["accumUpdates"]:
            self._counts[as_number(number)] = as_number(count)

    def plan(self) -> Plan | None:
        """Return the plan of all executions; None if none has any operator."""
        first, *others = self._logged.values() or [None]
        if first is None:
            return None
        # Executions within another may run at the same time, in any order.
        return plan_of(first, *sorted(others, key=str))

    def files(self) -> int | None:
        """Return how many files the scans of all executions read; None if no scan counted them."""
        found: list[int] = []
        for logged in self._logged.values():
            numbers = set(_file_metrics(logged))
            found += [self._counts[number] for number in numbers if number in self._counts]
        if not found:
            return None
        return sum(found)


def _file_metrics(logged: Any) -> Iterator[int]:
    """Yield the number of the metric of each scan that was executed."""
    nodes = [logged]
    while nodes:
        node = nodes.pop()
        for metric in node.get("metrics") or ():
            if metric["name"] == _FILES:
                yield as_number(metric["accumulatorId"])
        if not str(node["nodeName"]).startswith("Reused"):
            nodes += node["children"]
