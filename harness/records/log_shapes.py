"""The shapes of the events that are read. The rest of a line is passed over, and takes no memory.

org.apache.spark.util.JsonProtocol defines the format. A missing key is noticed where it is read.
"""

from typing import Any, TypedDict

import msgspec

from harness.base.words import shorten
from harness.records.document import MAX_REASON


def _shape(name: str, **types: Any) -> Any:
    """Return the type of an object with these keys, in which `_` stands for a space."""
    keys = {key.replace("_", " "): type_ for key, type_ in types.items()}
    return TypedDict(name, keys, total=False)  # type: ignore[operator]


class _Metric(TypedDict, total=False):
    name: str
    accumulatorId: int


class _Plan(TypedDict, total=False):
    nodeName: str
    simpleString: str
    children: "list[_Plan]"  # Python 3.10 cannot read a name inside of brackets
    metadata: dict[str, Any] | None
    metrics: list[_Metric] | None


class _SqlStart(TypedDict, total=False):
    executionId: int
    rootExecutionId: int | None
    description: str | None
    sparkPlanInfo: _Plan
    modifiedConfigs: dict[str, Any] | None
    time: int


class _SqlUpdate(TypedDict, total=False):
    executionId: int
    sparkPlanInfo: _Plan


class _SqlCounts(TypedDict, total=False):
    executionId: int
    accumUpdates: list[list[int]]


class _SqlEnd(TypedDict, total=False):
    executionId: int
    time: int
    errorMessage: str | None


_STAGE = _shape(
    "Stage",
    Stage_ID=int,
    Stage_Attempt_ID=int,
    Stage_Name=str,
    Submission_Time=int | None,
    Completion_Time=int | None,
)
_SUBMITTED = _shape(
    "Submitted",
    Stage_ID=int,
    Stage_Attempt_ID=int,
    Submission_Time=int | None,
    RDD_Info=list[_shape("Rdd", Name=str, Scope=str | None)],  # type: ignore[misc]
)
_TASK = _shape(
    "Task",
    Task_ID=int,
    Launch_Time=int,
    Finish_Time=int,
    Getting_Result_Time=int,
    Locality=str,
    Failed=bool,
    Killed=bool,
    Speculative=bool,
    Accumulables=list[_shape("Accumulable", Name=str | None, Update=Any)],  # type: ignore[misc]
)
_METRICS = _shape(
    "Metrics",
    Executor_Deserialize_Time=int,
    Executor_Run_Time=int,
    Executor_CPU_Time=int,
    JVM_GC_Time=int,
    Result_Serialization_Time=int,
    Disk_Bytes_Spilled=int,
    Shuffle_Read_Metrics=_shape(
        "Read", Fetch_Wait_Time=int, Local_Bytes_Read=int, Remote_Bytes_Read=int
    ),
    Shuffle_Write_Metrics=_shape("Write", Shuffle_Bytes_Written=int, Shuffle_Write_Time=int),
    Input_Metrics=_shape("Input", Bytes_Read=int, Records_Read=int),
    Output_Metrics=_shape("Output", Bytes_Written=int, Records_Written=int),
)
_PROPERTIES = TypedDict(
    "_PROPERTIES", {"spark.sql.execution.id": str, "spark.job.description": str | None}, total=False
)
_SYSTEM = TypedDict("_SYSTEM", {"os.version": str, "os.arch": str}, total=False)
_SHAPES: dict[bytes, Any] = {
    b"SparkListenerLogStart": _shape("LogStart", Spark_Version=str),
    b"SparkListenerApplicationStart": _shape(
        "ApplicationStart", App_Name=str, App_ID=str, App_Attempt_ID=str | None, Timestamp=int
    ),
    b"SparkListenerApplicationEnd": _shape("ApplicationEnd", Timestamp=int, ExitCode=int | None),
    b"SparkListenerEnvironmentUpdate": _shape(
        "EnvironmentUpdate",
        JVM_Information=_shape("Jvm", Java_Version=str, Scala_Version=str),
        Spark_Properties=dict[str, Any],
        System_Properties=_SYSTEM,
    ),
    b"SparkListenerExecutorAdded": _shape(
        "ExecutorAdded",
        Timestamp=int,
        Executor_ID=str,
        Executor_Info=_shape("Executor", Host=str, Total_Cores=int),
    ),
    b"SparkListenerExecutorRemoved": _shape("ExecutorRemoved", Timestamp=int, Executor_ID=str),
    b"SparkListenerJobStart": _shape(
        "JobStart",
        Job_ID=int,
        Submission_Time=int,
        Stage_Infos=list[_shape("JobStage", Stage_ID=int, Stage_Name=str)],  # type: ignore[misc]
        Properties=_PROPERTIES | None,
    ),
    b"SparkListenerJobEnd": _shape(
        "JobEnd",
        Job_ID=int,
        Completion_Time=int,
        Job_Result=_shape("JobResult", Result=str, Exception=_shape("Error", Message=str | None)),
    ),
    b"SparkListenerStageSubmitted": _shape("StageSubmitted", Stage_Info=_SUBMITTED),
    b"SparkListenerStageCompleted": _shape("StageCompleted", Stage_Info=_STAGE),
    b"SparkListenerTaskStart": _shape("TaskStart", Stage_ID=int, Stage_Attempt_ID=int),
    b"SparkListenerTaskEnd": _shape(
        "TaskEnd",
        Stage_ID=int,
        Stage_Attempt_ID=int,
        Task_End_Reason=_shape("Reason", Reason=str),
        Task_Info=_TASK,
        Task_Metrics=_METRICS | None,
    ),
    b"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart": _SqlStart,
    b"org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate": _SqlUpdate,
    b"org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates": _SqlCounts,
    b"org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd": _SqlEnd,
}
_DECODERS = {name: msgspec.json.Decoder(shape) for name, shape in _SHAPES.items()}


def decoded_event(name: bytes, line: bytes) -> Any:
    """Return what a line has of the event of this name. Raise ValueError unless it is as Spark writes it."""
    try:
        return _DECODERS[name].decode(line)
    except (msgspec.MsgspecError, RecursionError, UnicodeError) as error:
        raise ValueError(
            f"not an event as Spark writes it: {shorten(str(error), MAX_REASON)}"
        ) from error
