"""The plans of executions of SQL while they run: the latest of each, and the files that they read."""

from __future__ import annotations  # for Python 3.8

from collections import Counter
from collections.abc import Iterator
from typing import Any

from harness.eventlog.events import as_number
from harness.eventlog.operators import plan_of
from harness.model.plan import Plan
from harness.model.spark_properties import recorded_properties

_SQL_EVENTS = b"org.apache.spark.sql.execution.ui.SparkListener"
EXECUTION_STARTED = _SQL_EVENTS + b"SQLExecutionStart"
PLAN_CHANGED = _SQL_EVENTS + b"SQLAdaptiveExecutionUpdate"
DRIVER_COUNTED = _SQL_EVENTS + b"DriverAccumUpdates"
EXECUTION_ENDED = _SQL_EVENTS + b"SQLExecutionEnd"
"""The events of SQL, by their names."""
_SCANNED = {"number of files read": "input_files", "size of files read": "input_file_bytes"}
"""The metrics of a scan, and the fields of TaskMetrics that have their sums."""


class ExecutedPlans:
    """The plans of executions that belong together, from the events that Spark logs of them.

    `logged` has the latest of each execution, by its number, and `counts` what the driver counted, by the
    number of the metric.
    """

    def __init__(self) -> None:
        self.logged: dict[int, Any] = {}
        self.counts: dict[int, int] = {}
        self._properties: dict[str, str] | None = None

    def planned(self, event: Any) -> None:
        """An execution starts with a plan, or adaptive execution changed it."""
        self.logged[as_number(event["executionId"])] = event["sparkPlanInfo"]
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
            self.counts[as_number(number)] = as_number(count)

    def plan(self) -> Plan | None:
        """Return the plan of all executions; None if none has any operator."""
        first, *others = self.logged.values() or [None]
        if first is None:
            return None
        # Executions within another may run at the same time, in any order.
        return plan_of(first, *sorted(others, key=str))

    def files(self) -> Counter[str]:
        """Return the number and the bytes of the files that all scans read, by the field of TaskMetrics.

        What no scan counted is missing.
        """
        found: Counter[str] = Counter()
        for logged in self.logged.values():
            for number, field in dict(_file_metrics(logged)).items():
                if number in self.counts:
                    found[field] += self.counts[number]
        return found


class NumberedPlans:
    """Gives each event to the plans that it changes, by the number of its execution."""

    def __init__(self) -> None:
        self._plans: dict[int, ExecutedPlans] = {}

    def started(self, event: Any, plans: ExecutedPlans) -> None:
        """An execution starts; its plan is one of these."""
        self._plans[as_number(event["executionId"])] = plans
        plans.planned(event)

    def planned(self, event: Any) -> None:
        """Adaptive execution changed a plan."""
        plans = self._plans.get(as_number(event["executionId"]))
        if plans is not None:
            plans.planned(event)

    def counted(self, event: Any) -> None:
        """The driver counted something for an execution."""
        plans = self._plans.get(as_number(event["executionId"]))
        if plans is not None:
            plans.counted(event)

    def ended(self, event: Any) -> None:
        """An execution ended; nothing more changes its plan."""
        self._plans.pop(as_number(event["executionId"]), None)


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
