"""Builders of the lines of an event log, as Spark writes them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

NS_PER_MS = 1_000_000


def line(event: str, **fields: Any) -> bytes:
    named = {name.replace("_", " "): value for name, value in fields.items()}
    text = json.dumps({"Event": f"SparkListener{event}", **named}, separators=(",", ":"))
    return text.encode() + b"\n"


def job_started(job: int, at_ms: int) -> bytes:
    return line("JobStart", Job_ID=job, Submission_Time=at_ms)


def job_ended(job: int, at_ms: int) -> bytes:
    result = {"Result": "JobSucceeded"}
    return line("JobEnd", Job_ID=job, Completion_Time=at_ms, Job_Result=result)


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
    fields = {"Task Info": info} | ({} if metrics is None else {"Task Metrics": metrics})
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
