"""Builders of the lines of an event log, as Spark writes them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

NS_PER_MS = 1_000_000


SQL = "org.apache.spark.sql.execution.ui."


def line(event: str, prefix: str = "", **fields: Any) -> bytes:
    named = {name.replace("_", " "): value for name, value in fields.items()}
    text = json.dumps({"Event": f"{prefix}SparkListener{event}", **named}, separators=(",", ":"))
    return text.encode() + b"\n"


def job_started(job: int, at_ms: int) -> bytes:
    return line("JobStart", Job_ID=job, Submission_Time=at_ms)


def job_ended(job: int, at_ms: int) -> bytes:
    result = {"Result": "JobSucceeded"}
    return line("JobEnd", Job_ID=job, Completion_Time=at_ms, Job_Result=result)


def application_started(
    name: str = "etl",
    at_ms: int = 0,
    id_: str = "app-1",
    attempt: str | None = None,
    **properties: str,
) -> list[bytes]:
    """The lines of a start with two executors of four cores on one node; `__` in a property is a dot."""
    conf = {key.replace("__", "."): value for key, value in properties.items()}
    jvm = {"Java Version": "17.0.9", "Scala Version": "2.13.16"}
    return [
        line("LogStart", Spark_Version="4.0.1"),
        line(
            "EnvironmentUpdate",
            JVM_Information=jvm,
            Spark_Properties=conf,
            System_Properties={"os.version": "6.1.0", "os.arch": "amd64"},
        ),
        line(
            "ApplicationStart",
            App_Name=name,
            App_ID=id_,
            App_Attempt_ID=attempt,
            Timestamp=at_ms,
            User="u",
        ),
        *(executor_added(number, at_ms) for number in (1, 2)),
    ]


def executor_added(number: int, at_ms: int, cores: int = 4) -> bytes:
    about = {"Host": "n1", "Total Cores": cores}
    return line("ExecutorAdded", Timestamp=at_ms, Executor_ID=str(number), Executor_Info=about)


def executor_removed(number: int, at_ms: int) -> bytes:
    return line("ExecutorRemoved", Timestamp=at_ms, Executor_ID=str(number))


def application_ended(at_ms: int) -> bytes:
    return line("ApplicationEnd", Timestamp=at_ms)


def execution(
    number: int,
    start_ms: int,
    end_ms: int,
    description: str,
    *,
    operators: Sequence[str] = ("Scan",),
    root: int | None = None,
    input_bytes: int = 0,
    error: str | None = "",
    runs_job: bool = True,
    job_fails: bool = False,
) -> list[bytes]:
    """The lines of an execution of SQL, with a job, a stage and a task that have its number, or without."""
    plan: dict[str, Any] = {}
    for operator in reversed(operators):
        children = [plan] if plan else []
        is_scan = operator.startswith("Scan parquet ")
        name = operator if is_scan else operator.partition(" ")[0]
        plan = {"nodeName": name, "simpleString": operator, "children": children}
    ids = {"executionId": number} | ({} if root is None else {"rootExecutionId": root})
    ending = {} if error is None else {"errorMessage": error}
    properties = {"spark.sql.execution.id": str(number)}
    a_job = job(number, start_ms, end_ms, properties, input_bytes=input_bytes, fails=job_fails)
    return [
        line(
            "SQLExecutionStart",
            SQL,
            **ids,
            description=description,
            sparkPlanInfo=plan,
            time=start_ms,
        ),
        *(a_job if runs_job else []),
        line("SQLExecutionEnd", SQL, executionId=number, time=end_ms, **ending),
    ]


def job(
    number: int,
    start_ms: int,
    end_ms: int,
    properties: Mapping[str, str] | None = None,
    *,
    stage: str = "count at etl.py:7",
    input_bytes: int = 0,
    fails: bool = False,
) -> list[bytes]:
    """The lines of a job with a stage and a task that have its number."""
    failure = {"Result": "JobFailed", "Exception": {"Message": "Job aborted\nat java"}}
    result = failure if fails else {"Result": "JobSucceeded"}
    info = {"Stage ID": number, "Stage Name": stage}
    return [
        line(
            "JobStart",
            Job_ID=number,
            Submission_Time=start_ms,
            Stage_Infos=[info],
            Properties=dict(properties or {}),
        ),
        stage_started(number, at_ms=start_ms),
        task_started(number),
        task_ended(number, start_ms, end_ms, metrics=task_counters(input_bytes=input_bytes)),
        stage_ended(number, at_ms=end_ms),
        line("JobEnd", Job_ID=number, Completion_Time=end_ms, Job_Result=result),
    ]


def stage_started(
    stage: int, attempt: int = 0, rdds: Sequence[tuple[str, str]] = (), at_ms: int | None = None
) -> bytes:
    """`rdds` has a name and an operator for each RDD; the time is missing if it is None."""
    times = {} if at_ms is None else {"Submission Time": at_ms}
    return line("StageSubmitted", Stage_Info=_stage_info(stage, attempt, rdds) | times)


def stage_ended(stage: int, attempt: int = 0, at_ms: int | None = None) -> bytes:
    times = {} if at_ms is None else {"Completion Time": at_ms}
    return line("StageCompleted", Stage_Info=_stage_info(stage, attempt, ()) | times)


def _stage_info(stage: int, attempt: int, rdds: Sequence[tuple[str, str]]) -> dict[str, Any]:
    rdd_info = [
        {"Name": name, "Scope": json.dumps({"id": "1", "name": operator})}
        if operator
        else {"Name": name}
        for name, operator in rdds
    ]
    return {"Stage ID": stage, "Stage Attempt ID": attempt, "RDD Info": rdd_info}


def task_started(stage: int, attempt: int = 0) -> bytes:
    return line("TaskStart", Stage_ID=stage, Stage_Attempt_ID=attempt, Task_Info={"Task ID": 1})


def task_ended(
    stage: int,
    launched_ms: int,
    finished_ms: int,
    *,
    task: int = 1,
    attempt: int = 0,
    locality: str = "NODE_LOCAL",
    reason: str = "Success",
    failed: bool = False,
    killed: bool = False,
    speculative: bool = False,
    fetching_result_since_ms: int = 0,
    python_ms: Sequence[int] = (),
    metrics: Mapping[str, Any] | None = None,
) -> bytes:
    """`metrics` is a result of `task_counters`, or None for a task that lost its metrics."""
    accumulables = [
        {"ID": number, "Name": "time to run Python workers", "Update": str(update)}
        for number, update in enumerate(python_ms)
    ]
    info = {
        "Task ID": task,
        "Launch Time": launched_ms,
        "Finish Time": finished_ms,
        "Getting Result Time": fetching_result_since_ms,
        "Locality": locality,
        "Failed": failed,
        "Killed": killed,
        "Speculative": speculative,
        "Accumulables": [{"ID": 99, "Name": "number of output rows", "Update": "7"}, *accumulables],
    }
    fields: dict[str, Any] = {"Task Info": info}
    if metrics is not None:
        fields["Task Metrics"] = metrics
    end_reason = {"Reason": reason}
    return line(
        "TaskEnd", Stage_ID=stage, Stage_Attempt_ID=attempt, Task_End_Reason=end_reason, **fields
    )


def task_counters(
    *,
    run_ms: int = 0,
    cpu_ms: float = 0,
    fetch_wait_ms: int = 0,
    shuffle_write_ms: float = 0,
    deserialization_ms: int = 0,
    result_ms: int = 0,
    gc_ms: int = 0,
    input_bytes: int = 0,
    output_bytes: int = 0,
    local_bytes: int = 0,
    remote_bytes: int = 0,
    written_bytes: int = 0,
    disk_spilled_bytes: int = 0,
) -> dict[str, Any]:
    """A task's metrics, in Spark's own units."""
    return {
        "Executor Deserialize Time": deserialization_ms,
        "Executor Run Time": run_ms,
        "Executor CPU Time": round(cpu_ms * NS_PER_MS),
        "JVM GC Time": gc_ms,
        "Result Serialization Time": result_ms,
        "Disk Bytes Spilled": disk_spilled_bytes,
        "Shuffle Read Metrics": {
            "Fetch Wait Time": fetch_wait_ms,
            "Remote Bytes Read": remote_bytes,
            "Local Bytes Read": local_bytes,
        },
        "Shuffle Write Metrics": {
            "Shuffle Bytes Written": written_bytes,
            "Shuffle Write Time": round(shuffle_write_ms * NS_PER_MS),
        },
        "Input Metrics": {"Bytes Read": input_bytes},
        "Output Metrics": {"Bytes Written": output_bytes},
    }
