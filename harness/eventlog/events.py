"""The events in Spark's event log that task metrics need, as written by Spark 3.5 and 4.x.

Each line of the log is a JSON object whose first key is `Event`, so its first bytes show which event
it is, and lines of other events are not parsed. org.apache.spark.util.JsonProtocol defines the format.
"""

from __future__ import annotations  # for Python 3.8

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Callable, NamedTuple, Optional, Union

NS_PER_MS = 1_000_000
_MAX_LONG = 2**63 - 1
MAX_MS = _MAX_LONG // NS_PER_MS
"""A time in 2262, in milliseconds since 1970, or a duration."""

_EVENT = re.compile(rb'\s{0,99}\{\s{0,99}"Event"\s{0,99}:\s{0,99}"([^"\\]{1,300})"')
_PYTHON_OPERATOR = re.compile("Python|InPandas|InArrow")
_PYTHON_TIME_METRIC = "time to run Python workers"


class StageKey(NamedTuple):
    """One attempt of a stage."""

    stage: int
    attempt: int


@dataclass(frozen=True)
class JobStarted:
    job: int


@dataclass(frozen=True)
class JobEnded:
    job: int


@dataclass(frozen=True)
class StageStarted:
    """`runs_python` is true if any operator of the stage hands rows to Python workers."""

    key: StageKey
    runs_python: bool
    at_ms: int | None


@dataclass(frozen=True)
class StageEnded:
    key: StageKey
    at_ms: int | None


class TaskStarted(NamedTuple):
    key: StageKey


class TaskCounters(NamedTuple):
    """A task's metrics, in nanoseconds and bytes; the times overlap.

    `python_ns` is None if there is no metric for the time of Python workers.
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
    input_rows: int
    output_bytes: int
    output_rows: int
    shuffle_local_bytes: int
    shuffle_remote_bytes: int
    shuffle_written_bytes: int
    disk_spilled_bytes: int


class TaskEnded(NamedTuple):
    """One attempt of a task. `counters` is None if they were lost with the executor.

    `fetching_ms` is the end of `duration_ms` in which the driver fetched the result.
    """

    key: StageKey
    task: int
    launched_ms: int
    duration_ms: int
    fetching_ms: int
    locality: str
    failed: bool
    killed: bool
    speculative: bool
    counters: TaskCounters | None


Event = Union[JobStarted, JobEnded, StageStarted, StageEnded, TaskStarted, TaskEnded]
Reader = Callable[[Any], Optional[Event]]
Decode = Callable[[bytes, bytes], Any]
"""Reads the JSON of a line, given the event's name and the line; raises ValueError if it is none."""


def decoded(_name: bytes, line: bytes) -> Any:
    """Return the values of a line."""
    return json.loads(line.decode())  # given bytes, it would first guess their encoding


def parse(
    line: bytes, others: Mapping[bytes, Reader] = MappingProxyType({}), decode: Decode = decoded
) -> Event | None:
    """Return the event of a line; None if neither the task metrics nor one of the `others` needs it.

    Raise ValueError if the line is cut off, garbled, or not from an event log.
    """
    found = _EVENT.match(line)
    if found is None or not line.endswith(b"\n"):
        raise ValueError("not a complete line of an event log")
    name = found[1]
    read = others.get(name) or _READERS.get(name)
    if read is None:
        return None
    try:
        return read(decode(name, line))
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"not an event as Spark writes it: {error!r}") from error


def _stage_started(event: Any) -> StageStarted:
    info = event["Stage Info"]
    runs_python = any(map(_runs_python, info["RDD Info"]))
    return StageStarted(_key(info), runs_python, _optional_ms(info.get("Submission Time")))


def _stage_ended(event: Any) -> StageEnded:
    info = event["Stage Info"]
    return StageEnded(_key(info), _optional_ms(info.get("Completion Time")))


def _runs_python(rdd: Mapping[str, Any]) -> bool:
    # The scope, JSON inside a string, names the operator; an RDD of Python functions has none.
    scope = rdd.get("Scope")
    operator = json.loads(scope)["name"] if scope else ""
    return rdd["Name"] == "PythonRDD" or bool(_PYTHON_OPERATOR.search(operator))


def task_ended(event: Any) -> TaskEnded | None:
    """Return the end of a task; None if the task was counted already, when it succeeded."""
    if event["Task End Reason"]["Reason"] == "Resubmitted":
        # It succeeded before, and was counted then; its output was lost with its executor.
        return None
    info = event["Task Info"]
    metrics = event.get("Task Metrics")
    launched_ms = as_ms(info["Launch Time"])
    finished_ms = as_ms(info["Finish Time"])
    # When the driver began to fetch the result; 0 if the task's last message contained it.
    fetching_since_ms = as_ms(info["Getting Result Time"]) or finished_ms
    fetching_ms = max(0, finished_ms - fetching_since_ms)
    return TaskEnded(
        key=_key(event),
        task=as_number(info["Task ID"]),
        launched_ms=launched_ms,
        duration_ms=max(0, finished_ms - launched_ms),
        fetching_ms=fetching_ms,
        locality=str(info["Locality"]),
        failed=bool(info["Failed"]),
        killed=bool(info["Killed"]),
        speculative=bool(info["Speculative"]),
        counters=_counters(metrics, info["Accumulables"], fetching_ms) if metrics else None,
    )


def _counters(metrics: Any, accumulables: Any, fetching_result_ms: int) -> TaskCounters:
    read = metrics["Shuffle Read Metrics"]
    written = metrics["Shuffle Write Metrics"]
    result_ms = as_ms(metrics["Result Serialization Time"]) + fetching_result_ms
    return TaskCounters(
        run_ns=as_ms(metrics["Executor Run Time"]) * NS_PER_MS,
        cpu_ns=as_number(metrics["Executor CPU Time"]),
        fetch_wait_ns=as_ms(read["Fetch Wait Time"]) * NS_PER_MS,
        shuffle_write_ns=as_number(written["Shuffle Write Time"]),
        python_ns=_python_ns(accumulables),
        deserialization_ns=as_ms(metrics["Executor Deserialize Time"]) * NS_PER_MS,
        result_ns=result_ms * NS_PER_MS,
        gc_ns=as_ms(metrics["JVM GC Time"]) * NS_PER_MS,
        input_bytes=as_number(metrics["Input Metrics"]["Bytes Read"]),
        input_rows=as_number(metrics["Input Metrics"].get("Records Read", 0)),
        output_bytes=as_number(metrics["Output Metrics"]["Bytes Written"]),
        output_rows=as_number(metrics["Output Metrics"].get("Records Written", 0)),
        shuffle_local_bytes=as_number(read["Local Bytes Read"]),
        shuffle_remote_bytes=as_number(read["Remote Bytes Read"]),
        shuffle_written_bytes=as_number(written["Shuffle Bytes Written"]),
        disk_spilled_bytes=as_number(metrics["Disk Bytes Spilled"]),
    )


def _python_ns(accumulables: Any) -> int | None:
    """Return the time of the slowest Python operator: they all work simultaneously, as a pipeline.

    Spark's other metrics of Python time cannot be used: a worker that is used again counts the time
    that it was idle as its initialization.
    """
    times_ms = [
        as_ms(int(accumulable["Update"]))
        for accumulable in accumulables
        if accumulable.get("Name") == _PYTHON_TIME_METRIC
    ]
    if not times_ms:
        return None
    return max(times_ms) * NS_PER_MS


def _key(event: Any) -> StageKey:
    return StageKey(as_number(event["Stage ID"]), as_number(event["Stage Attempt ID"]))


def as_number(value: Any, maximum: int = _MAX_LONG) -> int:
    """Return a Java long. A negative one, caused by a clock that was set back, becomes 0."""
    if type(value) is not int or value > maximum:
        raise TypeError(f"a {type(value).__name__} is not a whole number up to {maximum}")
    return value if value > 0 else 0  # noqa: FURB136  a call of max takes most of the time


def as_ms(value: Any) -> int:
    """Return milliseconds whose nanoseconds fit into 64 bits: durations, and times until 2262."""
    return as_number(value, MAX_MS)


def _optional_ms(value: Any) -> int | None:
    if value is None:
        return None
    return as_ms(value)


_READERS: Mapping[bytes, Reader] = {
    b"SparkListenerJobStart": lambda event: JobStarted(as_number(event["Job ID"])),
    b"SparkListenerJobEnd": lambda event: JobEnded(as_number(event["Job ID"])),
    b"SparkListenerStageSubmitted": _stage_started,
    b"SparkListenerStageCompleted": _stage_ended,
    b"SparkListenerTaskStart": lambda event: TaskStarted(_key(event)),
    b"SparkListenerTaskEnd": task_ended,
}
