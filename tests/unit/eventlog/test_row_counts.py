"""Rows are counted by Spark's metrics: of the first operator that tells, each partition once."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from harness.eventlog.row_counts import RowCounts
from harness.eventlog.trial import read_log

SQL = "org.apache.spark.sql.execution.ui.SparkListener"
ROWS, SENT = "number of output rows", "shuffle records written"
Plan = dict[str, Any]


def operator(
    name: str, *children: Plan, rows: int | None = None, text: str = "", metric: str = ROWS
) -> Plan:
    """Return an operator; `rows` is the number of the accumulator that counts its rows."""
    metrics = []
    if rows is not None:
        metrics = [{"name": metric, "accumulatorId": rows, "metricType": "sum"}]
    return {
        "nodeName": name,
        "simpleString": text or name,
        "children": list(children),
        "metrics": metrics,
    }


def started(plan: Plan, execution: int = 1, description: str = "group", root: int = 1) -> Plan:
    return {
        "Event": f"{SQL}SQLExecutionStart",
        "executionId": execution,
        "rootExecutionId": root,
        "description": description,
        "time": 1,
        "sparkPlanInfo": plan,
    }


def task(partition: int, reason: str = "Success", **rows: int) -> Plan:
    """Return the end of a task that added to accumulators, which are called like `_7`."""
    accumulables = [
        {"ID": int(name[1:]), "Name": ROWS, "Update": str(update), "Metadata": "sql"}
        for name, update in rows.items()
    ]
    info = {
        "Partition ID": partition,
        "Launch Time": 1,
        "Finish Time": 2,
        "Getting Result Time": 0,
        "Task ID": 1,
        "Locality": "ANY",
        "Failed": False,
        "Killed": False,
        "Speculative": False,
        "Accumulables": accumulables,
    }
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": 0,
        "Stage Attempt ID": 0,
        "Task End Reason": {"Reason": reason},
        "Task Info": info,
    }


def counts(*events: Plan) -> Sequence[RowCounts]:
    lines = [json.dumps(event).encode() + b"\n" for event in events]
    return read_log(lines, 2).rows.get("group", ())


SCAN = operator("Scan parquet ", rows=7)
TASKS = [task(0, _7=60, _8=6), task(1, _7=40, _8=4)]
PLANS: dict[str, tuple[Plan, int | None]] = {
    "the sink counts": (operator("OverwriteByExpression", SCAN, rows=8), 10),
    "an older sink does not": (operator("OverwriteByExpression", SCAN), 100),
    "operators that keep rows": (
        operator("AdaptiveSparkPlan", operator("WholeStageCodegen (1)", operator("Project", SCAN))),
        100,
    ),
    "a shuffle": (operator("Exchange", operator("Generate"), rows=8, metric=SENT), 10),
    "an operator that may drop rows": (operator("Generate", SCAN), None),
    "a leaf without a metric": (operator("Project"), None),
    "a limit": (operator("GlobalLimit", SCAN, text="GlobalLimit 30, 0"), 30),
    "a limit of an older Spark": (operator("GlobalLimit", SCAN, text="GlobalLimit 30"), 30),
    "a limit above that of each task": (
        operator("GlobalLimit", operator("LocalLimit", SCAN), text="GlobalLimit 300, 0"),
        100,
    ),
    "a limit that skips rows": (operator("GlobalLimit", SCAN, text="GlobalLimit 30, 5"), None),
    "a limit of tasks alone": (operator("LocalLimit", SCAN, text="LocalLimit 30"), None),
    "the first rows in an order": (
        operator(
            "TakeOrderedAndProject", SCAN, text="TakeOrderedAndProject(limit=30, orderBy=[a])"
        ),
        30,
    ),
    "a union": (operator("Union", SCAN, operator("Filter", rows=8)), 110),
    "a union with an unknown part": (operator("Union", SCAN, operator("Generate")), None),
    "a subquery beside the input": (
        operator("Project", SCAN, operator("Subquery", operator("Filter", rows=8))),
        100,
    ),
}


@pytest.mark.parametrize("case", PLANS)
def test_rows_are_those_of_the_first_operator_that_tells(case: str) -> None:
    plan, rows = PLANS[case]
    [counted] = counts(started(plan), *TASKS)
    assert counted.returned == rows


TWICE = {
    "a task that Spark repeated": [*TASKS, task(1, _7=40)],
    "a copy of a slow task": [*TASKS, task(0, _7=60)],
    "a task that failed": [task(1, "ExceptionFailure", _7=13), *TASKS],
    "a task whose output was lost later": [*TASKS, task(0, "Resubmitted", _7=60)],
}


@pytest.mark.parametrize("case", TWICE)
def test_each_partition_counts_once(case: str) -> None:
    assert counts(started(SCAN), *TWICE[case]) == [RowCounts(100, (100,))]


def test_the_last_plan_of_adaptive_execution_counts() -> None:
    anew = {
        "Event": f"{SQL}SQLAdaptiveExecutionUpdate",
        "executionId": 1,
        "sparkPlanInfo": operator("Filter", SCAN, rows=8),
    }
    assert counts(started(SCAN), anew, *TASKS) == [RowCounts(10, (100,))]


def test_the_driver_counts_what_it_writes() -> None:
    written = {"Event": f"{SQL}DriverAccumUpdates", "executionId": 1, "accumUpdates": [[9, 100]]}
    plan = operator("Execute InsertIntoHadoopFsRelationCommand", SCAN, rows=9)
    assert counts(started(plan), *TASKS, written) == [RowCounts(100, (100,))]


def test_executions_are_in_their_order_without_those_within_others() -> None:
    filtered = operator("Filter", SCAN, rows=8)
    within = started(filtered, 2, root=1)
    last = started(filtered, 3, root=3)
    found = counts(started(SCAN), within, last, *TASKS)
    assert [counted.returned for counted in found] == [100, 10]


def test_what_computed_the_rows_in_memory_is_no_scan() -> None:
    plan = operator("InMemoryTableScan", SCAN, rows=8)
    assert counts(started(plan), *TASKS) == [RowCounts(10)]


def test_an_execution_that_has_no_tasks_returned_nothing() -> None:
    assert counts(started(SCAN)) == [RowCounts(0, (0,))]
