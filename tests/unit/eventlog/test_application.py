"""What an event log of a user's application says: which workloads it has, and their trials."""

from collections.abc import Sequence
from typing import Any

import pytest

from harness.eventlog.application import Application
from harness.eventlog.plans import tables
from harness.model.run import Ending, RecordedRun, Status
from tests.unit.eventlog.event_log_lines import (
    application_ended,
    application_started,
    execution,
    executor_added,
    executor_removed,
    job,
    line,
)


def read(*lines: bytes) -> RecordedRun:
    application = Application()
    for each in lines:
        application.add(each)
    return application.recorded("before", "app-1")


def run_of(*executions: Sequence[bytes], **properties: Any) -> RecordedRun:
    return read(
        *application_started(**properties),
        *(each for lines in executions for each in lines),
        application_ended(90_000),
    )


def times(recorded: RecordedRun) -> list[tuple[str, float | None]]:
    return [(trial.workload, trial.wall_s) for trial in recorded.trials]


def test_an_application_is_a_run_and_a_workload_and_so_is_what_it_executes() -> None:
    recorded = run_of(
        execution(0, 1_000, 3_500, "load", input_bytes=700),
        job(1, 4_000, 4_250, stage="count at /home/u/etl.py:7"),
        spark__executor__memory="4g",
        spark__some__thing="1",
    )
    assert times(recorded) == [("load", 2.5), ("count at etl.py:7", 0.25), ("etl", 90.0)]
    assert recorded.run.workloads == ("etl", "load", "count at etl.py:7")
    assert recorded.ending is Ending.COMPLETED
    assert (recorded.run.id, recorded.run.started_at) == ("app-1", "1970-01-01T00:00:00.000Z")
    environment = recorded.run.environment
    assert (environment["spark"], environment["java"]) == ("4.0.1", "17.0.9")
    assert (environment["executors"], environment["parallelism"]) == (["n1", "n1"], 8)
    assert environment["spark_conf"]["spark.executor.memory"] == "4g"
    assert environment["spark_conf"]["spark.some.thing"].startswith("digest:")


def test_each_trial_has_the_metrics_of_its_own_tasks() -> None:
    load, *_, whole = run_of(
        execution(0, 0, 9, "load", input_bytes=700), execution(1, 9, 20, "save", input_bytes=50)
    ).trials
    assert load.tasks is not None
    assert whole.tasks is not None
    assert (load.tasks.input_bytes, load.tasks.tasks, load.tasks.slots) == (700, 1, 8)
    assert (whole.tasks.input_bytes, whole.tasks.tasks) == (750, 2)
    assert (load.tasks.incomplete, whole.tasks.incomplete) == (None, None)


@pytest.mark.parametrize(
    ("changes", "slots"),
    [
        ([], 8),
        ([executor_added(3, 15_000)], 10),
        ([executor_added(3, 10_000, cores=32)], 40),
        ([executor_added(3, 11_000), executor_added(4, 12_000)], 14.8),
        ([executor_removed(1, 15_000)], 6),
        ([executor_removed(1, 20_000)], 8),
        # Time without any executor is not of slots without a task.
        ([executor_removed(1, 15_000), executor_removed(2, 15_000)], 8),
        (
            [executor_removed(1, 5_000), executor_removed(2, 5_000), executor_added(3, 12_000, 40)],
            40,
        ),
        ([executor_removed(1, 5_000), executor_removed(2, 5_000)], None),
    ],
)
def test_slots_are_the_mean_of_executors_that_come_and_go(
    changes: Sequence[bytes], slots: float | None
) -> None:
    """An execution from 10 to 20 s, which begins with two executors of four cores."""
    lines = execution(0, 10_000, 20_000, "load")
    load = run_of([*lines[:-1], *changes, lines[-1]]).trials[0]
    assert load.tasks is not None
    assert load.tasks.slots == slots


def test_what_takes_no_time_has_the_slots_of_its_millisecond() -> None:
    [load, _] = run_of(execution(0, 7, 7, "load"), [executor_added(3, 9)]).trials
    assert load.tasks is not None
    assert load.tasks.slots == 8


def test_what_is_executed_again_is_another_trial_though_its_columns_have_other_numbers() -> None:
    plans = ["Scan [id#3L]"], ["Scan [id#17L]"]
    recorded = run_of(*(execution(n, n, n + 9, "load", operators=plans[n]) for n in (0, 1)))
    assert [(each.workload, each.round) for each in recorded.trials[:2]] == [
        ("load", 1),
        ("load", 2),
    ]


def test_what_is_described_alike_and_planned_differently_is_another_workload() -> None:
    site = "save at NativeMethodAccessorImpl.java:0"
    plans = ["Scan a"], ["Scan b"], ["Scan a"]
    recorded = run_of(*(execution(n, n, n + 9, site, operators=plans[n]) for n in (0, 1, 2)))
    assert [name for name, _ in times(recorded)] == [f"{site}", f"{site} #2", f"{site}", "etl"]


def test_what_has_no_description_is_called_after_its_tables_and_not_by_its_turn() -> None:
    """All writes of a Python program have one call site, and the second may be another the next time."""
    site = "save at NativeMethodAccessorImpl.java:0"
    scans = ["Scan parquet db.b", "Scan parquet db.a"], ["Scan parquet db.b"]
    recorded = run_of(*(execution(n, n, n + 9, site, operators=scans[n]) for n in (0, 1)))
    assert [name for name, _ in times(recorded)][:2] == ["save of db.a, db.b", "save of db.b"]


QUERY = "3fa85f64-5717-4562-b3fc-2c963f66afa6"
RUN = "00000000-5717-4562-b3fc-2c963f66afa"


def batch(name: str, run: int, number: int | str, break_: str) -> str:
    """The description of a batch, as Spark writes it."""
    parts = [name, f"id = {QUERY}", f"runId = {RUN}{run}", f"batch = {number}"]
    return break_.join(part for part in parts if part)


@pytest.mark.parametrize("break_", ["<br/>", "\n"], ids=["before Spark 4", "Spark 4"])
def test_a_streaming_query_is_a_workload_and_its_batches_are_trials(break_: str) -> None:
    """Plans of batches differ, and a batch may have several executions. The second run begins again."""
    batches: list[tuple[int, int | str]] = [(1, 0), (1, 0), (1, 1), (1, 1), (2, 1), (2, "init")]
    descriptions = [batch("counts", run, number, break_) for run, number in batches]
    descriptions.append(batch("", 3, 4, break_))
    done = [
        execution(n, 9 * n, 9 * n + 5, about, operators=[f"Scan {n}"])
        for n, about in enumerate(descriptions)
    ]
    assert [name for name, _ in times(run_of(*done))][:-1] == [
        *("counts", "counts #2", "counts", "counts #2", "counts", "counts"),
        f"streaming query {QUERY}",
    ]


def test_a_job_that_a_query_needs_before_it_starts_is_told_from_it() -> None:
    described = {"spark.job.description": "load"}
    recorded = run_of(
        job(0, 0, 9, described, stage="parquet at a.py:1"), execution(1, 9, 20, "load")
    )
    assert recorded.run.workloads == ("etl", "load: parquet at a.py:1", "load")


def test_numbers_do_not_count_what_ran_no_task() -> None:
    none = execution(0, 0, 9, "save", operators=["LocalTableScan"], runs_job=False)
    assert run_of(none, execution(1, 9, 20, "save")).run.workloads == ("etl", "save")


def test_a_long_description_is_cut_and_has_a_digest_and_no_password() -> None:
    query = (
        "SELECT\n  *\nFROM a WHERE url = 'jdbc:x://u:hunter2@h' AND b = {} ORDER BY c, d, e, f, g"
    )
    one, other, _ = times(run_of(*(execution(n, n, n + 9, query.format(n * 1111)) for n in (1, 2))))
    assert one[0].startswith("SELECT * FROM")
    assert len(one[0]) < 90
    assert one != other
    assert "hunter2" not in one[0]


def test_an_execution_within_another_is_part_of_it() -> None:
    outer = execution(0, 0, 5_000, "save", input_bytes=1)
    inner = execution(1, 1_000, 2_000, "save", root=0, input_bytes=2)
    recorded = run_of([*outer[:-1], *inner, outer[-1]])
    assert times(recorded)[0] == ("save", 5.0)
    assert len(recorded.trials) == 2
    assert recorded.trials[0].tasks is not None
    assert recorded.trials[0].tasks.input_bytes == 3


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (execution(0, 0, 9, "w", error="[DIVIDE_BY_ZERO] no\n\tat x"), "[DIVIDE_BY_ZERO] no"),
        (execution(0, 0, 9, "w", error="[NO_TABLE]", runs_job=False), "[NO_TABLE]"),
        (execution(0, 0, 9, "w", error=None, job_fails=True), "Job aborted"),
        (job(0, 0, 9, stage="w", fails=True), "Job aborted"),
    ],
    ids=["said by the execution", "without a job", "before Spark 3.4", "outside SQL"],
)
def test_what_failed_is_a_failed_trial(lines: Sequence[bytes], error: str) -> None:
    trial = run_of(lines).trials[0]
    assert (trial.workload, trial.status, trial.error) == ("w", Status.FAILED, error)


def test_a_job_that_failed_and_was_made_up_for_is_no_failure() -> None:
    assert run_of(execution(0, 0, 9, "w", job_fails=True)).trials[0].status is Status.OK


def test_what_ran_no_task_or_has_no_end_is_left_out_and_counted() -> None:
    recorded = read(
        *application_started(),
        *execution(0, 0, 9, "show tables", runs_job=False),
        *execution(1, 9, 20, "load")[:-1],
    )
    assert recorded.trials == ()
    assert recorded.ending is None
    assert recorded.warnings[1:] == (
        "executions that ran no task are left out: 1 in an application",
        "executions without an end are left out: 1 in an application",
    )


def test_what_ends_before_it_starts_is_left_out_and_counted() -> None:
    recorded = run_of(execution(0, 2_000, 1_000, "load"), execution(1, 3_000, 5_000, "load"))
    assert times(recorded)[0] == ("load", 2.0)
    assert recorded.run.workloads == ("etl", "load")
    assert recorded.warnings[1:] == (
        "executions that end before they start, or take 30 years, are left out: 1 in an application",
    )


@pytest.mark.parametrize(
    ("operators", "read"),
    [
        (["Scan parquet db.orders"], {"db.orders"}),
        (["BatchScan orders"], {"orders"}),
        (["HashAggregate", "Scan hive db.orders_20240501"], {"db.orders_<date>"}),
        (["Project"], set()),
    ],
)
def test_a_plan_tells_which_tables_it_reads(operators: list[str], read: set[str]) -> None:
    plan: dict[str, object] = {}
    for name in reversed(operators):
        children = [plan] if plan else []
        plan = {"nodeName": name, "simpleString": name, "children": children}
    assert tables(plan) == read


def test_a_table_without_a_name_is_called_like_its_directory() -> None:
    text = "FileScan parquet [id#1] Location: InMemoryFileIndex(1 paths)[hdfs://n/orders/dt=2024-05-01]"
    assert tables({"nodeName": "Scan parquet ", "simpleString": text, "children": []}) == {"orders"}


@pytest.mark.parametrize(
    "part", ["x", "a at ", "/", "a at /", "(1,2,", "id = ", "<br/>", "3fa85f64-"]
)
def test_a_long_description_takes_no_time(part: str) -> None:
    """In quadratic time, this would take minutes for each of them."""
    run_of(execution(0, 0, 9, part * (200_000 // len(part))))


@pytest.mark.parametrize(
    "bad",
    [
        b"hello\n",
        b'{"Event":"SparkListenerJobStart","Job ID":1}\n',
        b'{"Event":"SparkListenerApplicationStart","App Name":"x","Timestamp":1}\n',
        b'{"Event":"SparkListenerJobEnd","Job ID":"one"}\n',
        b'{"Event":"SparkListenerLogStart"',
        b'{"Event":"SparkListenerExecutorAdded","Executor ID":"1","Executor Info":[]}\n',
        line("ApplicationEnd", Timestamp=10**30),
    ],
)
def test_a_line_that_is_none_of_spark_is_refused(bad: bytes) -> None:
    with pytest.raises(ValueError, match="event"):
        read(*application_started(), bad)


def test_an_execution_that_is_called_like_the_application_is_told_from_it() -> None:
    assert times(run_of(execution(0, 0, 9, "etl"))) == [("etl #2", 0.009), ("etl", 90.0)]
