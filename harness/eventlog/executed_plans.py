"""The plans of executions of SQL while they run: the latest of each, and the files that they read."""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.eventlog.events import as_number
from harness.eventlog.operators import plan_of
from harness.model.plan import Plan
from harness.model.spark_properties import recorded_properties

SQL_EVENTS = b"org.apache.spark.sql.execution.ui.SparkListener"
"""How the names of events of SQL begin."""
_SCANNED = {"number of files read": "input_files", "size of files read": "input_file_bytes"}
"""The metrics of a scan, and the fields of TaskMetrics that have their sums."""


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

    def files(self) -> Counter[str]:
        """Return what the scans of all executions counted of the files that they read.

        It is by field of TaskMetrics, without what no scan counted.
        """
        found: Counter[str] = Counter()
        for logged in self._logged.values():
            for number, field in dict(_file_metrics(logged)).items():
                if number in self._counts:
                    found[field] += self._counts[number]
        return found


def _file_metrics(logged: Any) -> Iterator[tuple[int, str]]:
    """Yield the number of each such metric of each scan that was executed, with its field."""
    nodes = [logged]
    while nodes:
        node = nodes.pop()
        for metric in node.get("metrics") or ():
            field = _SCANNED.get(metric["name"])
            if field is not None:
                yield as_number(metric["accumulatorId"]), field
        if not str(node["nodeName"]).startswith("Reused"):
            nodes += node["children"]
