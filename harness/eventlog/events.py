"""The lines of Spark's event log that tell of tasks, as values; Spark 3.5's and 4.x's.

A line is one JSON object whose first key is `Event`. What a line is about can be seen from its first
bytes, so that the others are not parsed. The format is that of org.apache.spark.util.JsonProtocol.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

NS_PER_MS = 1_000_000
_MOST = 2**63 - 1
_MOST_MS = _MOST // NS_PER_MS

_START = b'{"Event":"'
_PYTHON_OPERATOR = re.compile("Python|InPandas|InArrow")
_PYTHON_TIME = "time to run Python workers"
_GROUP = "spark.jobGroup.id"


class StageKey(NamedTuple):
    """One attempt of a stage."""

    stage: int
    attempt: int


@dataclass(frozen=True)
class ExecutorAdded:
    executor: str
    cores: int
    at_ms: int


@dataclass(frozen=True)
class ExecutorRemoved:
    executor: str
    at_ms: int


@dataclass(frozen=True)
class TaskCpus:
    """What a task of the default resource profile occupies: `spark.task.cpus`."""

    cpus: float


@dataclass(frozen=True)
class JobStarted:
    """`stages` are all that the job may run; `group` is its job group."""

    job: int
    at_ms: int
    stages: tuple[int, ...]
    group: str | None


@dataclass(frozen=True)
class JobEnded:
    job: int
    at_ms: int


@dataclass(frozen=True)
class StageStarted:
    """`runs_python` says whether any of its operators hands rows to Python workers."""

    key: StageKey
    runs_python: bool


@dataclass(frozen=True)
class StageEnded:
    key: StageKey


class TaskStarted(NamedTuple):
    key: StageKey


class TaskCounters(NamedTuple):
    """What a task's metrics say it spent, in nanoseconds and bytes; they overlap.

    `python_ns` is None where no metric tells.
    """

    run_ns: int
    cpu_ns: int
    fetch_wait_ns: int
    shuffle_write_ns: int
    python_ns: int | None
    deserialization_ns: int
    result_ns: int
    gc_ns: int
    input_bytes: int
    output_bytes: int
    shuffle_local_bytes: int
    shuffle_remote_bytes: int
    shuffle_written_bytes: int
    memory_spilled_bytes: int
    disk_spilled_bytes: int
    peak_execution_memory_bytes: int


class TaskEnded(NamedTuple):
    """One attempt of a task; `spent` is None where its executor was lost with its metrics."""

    key: StageKey
    launched_ms: int
    duration_ms: int
    locality: str
    failed: bool
    killed: bool
    speculative: bool
    spent: TaskCounters | None


Event = (
    ExecutorAdded
    | ExecutorRemoved
    | TaskCpus
    | JobStarted
    | JobEnded
    | StageStarted
    | StageEnded
    | TaskStarted
    | TaskEnded
)


def parse(line: bytes) -> Event | None:
    """The event that a line tells of; None if it is of no interest here.

    Raises ValueError if the line is cut off, garbled, or not one of an event log.
    """
    if not line.startswith(_START) or not line.endswith(b"\n"):
        raise ValueError("not a whole line of an event log")
    read = _READERS.get(line[len(_START) : line.find(b'"', len(_START))])
    if read is None:
        return None
    try:
        return read(json.loads(line.decode()))  # of text, which it need not guess the encoding of
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not an event as Spark writes it: {error!r}") from error


def _executor_added(event: Any) -> ExecutorAdded:
    cores = _count(event["Executor Info"]["Total Cores"])
    return ExecutorAdded(str(event["Executor ID"]), cores, _ms(event["Timestamp"]))


def _executor_removed(event: Any) -> ExecutorRemoved:
    return ExecutorRemoved(str(event["Executor ID"]), _ms(event["Timestamp"]))


def _resource_profile(event: Any) -> TaskCpus | None:
    if event["Resource Profile Id"] != 0:
        return None
    cpus = float(event["Task Resource Requests"]["cpus"]["Amount"])
    if not cpus >= 1:
        raise TypeError(f"a task that occupies {cpus} of a core")
    return TaskCpus(cpus)


def _job_started(event: Any) -> JobStarted:
    group = (event.get("Properties") or {}).get(_GROUP)
    stages = tuple(map(_count, event["Stage IDs"]))
    return JobStarted(_count(event["Job ID"]), _ms(event["Submission Time"]), stages, group)


def _job_ended(event: Any) -> JobEnded:
    return JobEnded(_count(event["Job ID"]), _ms(event["Completion Time"]))


def _stage_started(event: Any) -> StageStarted:
    info = event["Stage Info"]
    return StageStarted(_key(info), any(map(_runs_python, info["RDD Info"])))


def _runs_python(rdd: Mapping[str, Any]) -> bool:
    # The scope, itself JSON in text, names the operator; an RDD of Python functions has none.
    scope = rdd.get("Scope")
    operator = json.loads(scope)["name"] if scope else ""
    return rdd["Name"] == "PythonRDD" or bool(_PYTHON_OPERATOR.search(operator))


def _stage_ended(event: Any) -> StageEnded:
    return StageEnded(_key(event["Stage Info"]))


def _task_started(event: Any) -> TaskStarted:
    return TaskStarted(_key(event))


def _task_ended(event: Any) -> TaskEnded | None:
    if event["Task End Reason"]["Reason"] == "Resubmitted":
        # Ended well, and counted, some time ago; what it wrote was lost with its executor.
        return None
    info, metrics = event["Task Info"], event.get("Task Metrics")
    launched_ms, finished_ms = _ms(info["Launch Time"]), _ms(info["Finish Time"])
    # When the driver began to fetch the result; 0 if it came with the task's last message.
    fetching_since_ms = _ms(info["Getting Result Time"]) or finished_ms
    fetching_ms = max(0, finished_ms - fetching_since_ms)
    return TaskEnded(
        key=_key(event),
        launched_ms=launched_ms,
        duration_ms=max(0, finished_ms - launched_ms),
        locality=str(info["Locality"]),
        failed=bool(info["Failed"]),
        killed=bool(info["Killed"]),
        speculative=bool(info["Speculative"]),
        spent=_spent(metrics, info["Accumulables"], fetching_ms) if metrics else None,
    )


def _spent(metrics: Any, accumulables: Any, fetching_result_ms: int) -> TaskCounters:
    read, written = metrics["Shuffle Read Metrics"], metrics["Shuffle Write Metrics"]
    result_ms = _ms(metrics["Result Serialization Time"]) + fetching_result_ms
    return TaskCounters(
        run_ns=_ms(metrics["Executor Run Time"]) * NS_PER_MS,
        cpu_ns=_count(metrics["Executor CPU Time"]),
        fetch_wait_ns=_ms(read["Fetch Wait Time"]) * NS_PER_MS,
        shuffle_write_ns=_count(written["Shuffle Write Time"]),
        python_ns=_python_ns(accumulables),
        deserialization_ns=_ms(metrics["Executor Deserialize Time"]) * NS_PER_MS,
        result_ns=result_ms * NS_PER_MS,
        gc_ns=_ms(metrics["JVM GC Time"]) * NS_PER_MS,
        input_bytes=_count(metrics["Input Metrics"]["Bytes Read"]),
        output_bytes=_count(metrics["Output Metrics"]["Bytes Written"]),
        shuffle_local_bytes=_count(read["Local Bytes Read"]),
        shuffle_remote_bytes=_count(read["Remote Bytes Read"]),
        shuffle_written_bytes=_count(written["Shuffle Bytes Written"]),
        memory_spilled_bytes=_count(metrics["Memory Bytes Spilled"]),
        disk_spilled_bytes=_count(metrics["Disk Bytes Spilled"]),
        peak_execution_memory_bytes=_count(metrics["Peak Execution Memory"]),
    )


def _python_ns(accumulables: Any) -> int | None:
    """The longest of the Python operators: they work at the same time, one feeding the other.

    Only this one metric can be used: a worker that was used before counts the time that it idled
    since as its initialization.
    """
    times_ms = [_ms(int(one["Update"])) for one in accumulables if one.get("Name") == _PYTHON_TIME]
    return max(times_ms) * NS_PER_MS if times_ms else None


def _key(event: Any) -> StageKey:
    return StageKey(_count(event["Stage ID"]), _count(event["Stage Attempt ID"]))


def _count(value: Any, most: int = _MOST) -> int:
    """A whole number of Java's; below 0, as after a clock was set back, it counts as 0."""
    if type(value) is not int or value > most:
        raise TypeError(f"{value!r} is not a whole number up to {most}")
    return max(0, value)


def _ms(value: Any) -> int:
    """Milliseconds that have 64 bits as nanoseconds, too: durations, and times until 2262."""
    return _count(value, _MOST_MS)


_READERS: Mapping[bytes, Callable[[Any], Event | None]] = {
    b"SparkListenerExecutorAdded": _executor_added,
    b"SparkListenerExecutorRemoved": _executor_removed,
    b"SparkListenerResourceProfileAdded": _resource_profile,
    b"SparkListenerJobStart": _job_started,
    b"SparkListenerJobEnd": _job_ended,
    b"SparkListenerStageSubmitted": _stage_started,
    b"SparkListenerStageCompleted": _stage_ended,
    b"SparkListenerTaskStart": _task_started,
    b"SparkListenerTaskEnd": _task_ended,
}
