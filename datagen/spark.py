"""The Spark session of an entry script, its executors, and its errors in one line."""

from __future__ import annotations  # for Python 3.8

import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Callable, Mapping

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkConf, SparkContext, cloudpickle
from pyspark.sql import SparkSession
from pyspark.version import __version__ as pyspark_version

import datagen
import harness
from harness.base.clock import duration_text
from harness.base.errors import BadInput, ClusterliftError
from harness.base.failure_reason import NO_REASON, cause_or_first_line, innermost_cause
from harness.base.interrupt import deferred_signals
from harness.base.own_driver import require_own_driver
from harness.base.pod_problem import refusals
from harness.base.spark_needs import java_fault, minor_version
from harness.base.terminal import say

try:
    from pyspark.errors import PySparkException
except ImportError:  # Spark 3.3
    from pyspark.sql.utils import CapturedException as PySparkException  # type: ignore[attr-defined, assignment]

SPARK_ERRORS = (Py4JError, PySparkException)
"""What a call of Spark raises."""

EXECUTORS_WAIT_S = 30.0
EXECUTORS_STABLE_S = 2.0
LATE_EXECUTOR_S = 120.0
"""How long a run waits for the next executor that it asked for: a node is added, or an image is pulled."""
ALL_EXECUTORS_S = 600.0
_WAITING_TIME = "spark.scheduler.maxRegisteredResourcesWaitingTime"
"""Spark's own property for the longest time to wait for executors, which the user may give."""
_SAID_EVERY_S = 30.0
TASKS_END_WAIT_S = 10.0
EVENTS_WAIT_MS = 10 * 60 * 1000

_ON_KUBERNETES = {
    # Spark would end its JVM, and no reason would be printed: see datagen/executor_pods.py.
    "spark.executor.maxNumFailures": "1000000",
    # Two pods with the network of one node have one address, and Spark would look for the shuffle files of
    # the one in the file system of the other.
    "spark.shuffle.readHostLocalDisk": "false",
}
_KNOWS_LOG_LEVEL = (3, 5)
ENDED = "Spark has ended"
STOPPED = (
    "Spark stopped itself, and only its log says why: add --conf spark.log.level=ERROR to see it"
)
_JAVA_CLASS = re.compile(r"^(?:[\w$]+\.)+[\w$]+(?:\([\w.$]+\))?: ")


Change = Callable[[Mapping[str, str], str], Mapping[str, str]]
"""Returns the properties to set, by those that spark-submit has set and by its command line."""


def start_session(
    name: str, *packages: object, fair: bool = False, change: Change | None = None
) -> SparkSession:
    """Return the session that spark-submit configured, and start it if necessary; with a `fair` scheduler.

    `change` sets further properties.

    Functions of our packages, and of `packages`, are sent to the executors by value: executors need
    Spark and Python, but not this checkout. Raises ClusterliftError if Spark does not start,
    BadInput with Spark Connect and with --deploy-mode cluster, and if spark-submit could not pass on the
    command line.
    """
    for package in (datagen, harness, *packages):
        cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    require_own_driver({})  # before pyspark looks for a JVM
    conf = _submitted_conf()
    require_own_driver(dict(conf.getAll()))
    if change:
        for key, value in change(dict(conf.getAll()), _command_line()).items():
            conf.set(key, value)
    # Spark's progress bar would overwrite our lines, and we report errors in one line. To see Spark's
    # own log, add `--conf spark.log.level=WARN`.
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.log.level", "OFF")
    # The default of 100 is too few for all workloads in turn: each trial would compile its classes anew,
    # and the JIT compiler would work on them for ever.
    conf.setIfMissing("spark.sql.codegen.cache.maxEntries", "1000")
    # Spark does not count what other threads read for a task: vectored reads of local files and of S3A.
    conf.setIfMissing("spark.hadoop.parquet.hadoop.vectored.io.enabled", "false")
    if conf.get("spark.master", "").startswith("k8s://"):
        for key, value in _ON_KUBERNETES.items():
            conf.setIfMissing(key, value)
    if fair:  # else the tasks of a job wait for all tasks of the job before it
        conf.setIfMissing("spark.scheduler.mode", "FAIR")
    # A context that stopped while it started fails at the first call that follows.
    with spark_errors_as_one_line("Spark did not start"):
        _set_early_log_level(conf)
        spark = SparkSession.builder.config(conf=conf).appName(name).getOrCreate()
        # Spark before 3.5 does not know spark.log.level.
        spark.sparkContext.setLogLevel(conf.get("spark.log.level", "OFF"))
        _silence_accumulators(spark)
        deploy_mode = spark.conf.get("spark.submit.deployMode", "client")
        encoding = java_packages(spark).System.getProperty("sun.jnu.encoding")
    if deploy_mode == "cluster":
        raise BadInput("--deploy-mode cluster would leave the results on a node: leave it out")
    lost = lost_characters(sys.argv[1:], encoding)
    if lost:
        raise BadInput(
            f"{lost!r} has question marks where Java cannot read a character in the encoding {encoding} "
            "of this locale: set LC_ALL=C.UTF-8"
        )
    return spark


def _submitted_conf() -> SparkConf:
    """Return the properties of spark-submit, which its JVM has, and not this process.

    Raise BadInput if Spark cannot use the Java of this JVM.
    """
    context: Any = SparkContext
    with spark_errors_as_one_line("Spark did not start"):
        context._ensure_initialized()  # noqa: SLF001
        fault = java_fault(pyspark_version, _java_property("java.version"))
        if fault:
            raise BadInput(fault)
        return SparkConf()


def _set_early_log_level(conf: SparkConf) -> None:
    """Keep a Spark that does not know spark.log.level from logging how it starts."""
    version = minor_version(pyspark_version)
    if version is None or version >= _KNOWS_LOG_LEVEL:
        return
    context: Any = SparkContext
    jvm = context._jvm  # noqa: SLF001
    level = jvm.org.apache.logging.log4j.Level.toLevel(conf.get("spark.log.level"))
    jvm.org.apache.spark.util.Utils.setLogLevel(level)


def _command_line() -> str:
    """Return the command line of spark-submit; empty if something else has started Spark."""
    return _java_property("sun.java.command")


def _java_property(name: str) -> str:
    """Return a property of the JVM that spark-submit has started; empty if the JVM does not have it."""
    context: Any = SparkContext
    return str(context._jvm.java.lang.System.getProperty(name) or "")  # noqa: SLF001


def _silence_accumulators(spark: SparkSession) -> None:
    """Keep pyspark's server of accumulators from printing a stack trace when the JVM ends before us."""
    context: Any = spark.sparkContext
    context._accumulatorServer.handle_error = lambda *_: None  # noqa: SLF001


def lost_characters(arguments: Sequence[str], encoding: str) -> str | None:
    """Return the first argument that spark-submit may have changed; None if there is none.

    In an ASCII locale, Java replaces each byte of another character by a question mark, and such a
    character has two bytes or more.
    """
    if encoding.upper() not in {"ANSI_X3.4-1968", "US-ASCII", "ASCII", "646"}:
        return None
    return next((each for each in arguments if "??" in each), None)


def executors(spark: SparkSession) -> list[str]:
    """Return the host of each executor, sorted; in local mode, the driver's host."""
    return sorted(executor_hosts(spark).values())


def executor_count(spark: SparkSession) -> int:
    """Return the number of executors on a cluster, and of those that are about to come.

    This asks Spark once, however many there are, so that it disturbs no trial.
    """
    infos = scala_context(spark).statusTracker().getExecutorInfos()
    return len(infos) - 1  # the driver is one of them


def executor_hosts(spark: SparkSession) -> dict[str, str]:
    """Return the host of each live executor, by the executor's id."""
    return {id_: host for id_, host, _ in listed_executors(spark, only_live=True)}


def executor_cores(spark: SparkSession) -> dict[str, int]:
    """Return the number of cores of each live executor, by the executor's id."""
    return {id_: entry.totalCores() for id_, _, entry in listed_executors(spark, only_live=True)}


def listed_executors(spark: SparkSession, *, only_live: bool) -> Iterator[tuple[str, str, Any]]:
    """Yield id, host and Spark's entry of each executor; in local mode, the driver is one.

    Spark also lists executors that are about to come, whose host it does not know yet: these are left out.
    """
    for entry in elements(scala_context(spark).statusStore().executorList(only_live)):
        is_executor = is_local(spark) or entry.id() != "driver"
        if is_executor and entry.hostPort():
            yield str(entry.id()), str(entry.hostPort()).rpartition(":")[0], entry


def is_local(spark: SparkSession) -> bool:
    """Return whether driver and executors are one process."""
    return is_local_master(str(spark.sparkContext.master))


def is_local_master(master: str) -> bool:
    """Return whether a master of this name runs driver and executors as one process."""
    return master == "local" or master.startswith("local[")  # `local-cluster[...]` starts executors


def elements(sequence: Any) -> list[Any]:
    """Return what a Seq of Scala has."""
    return [sequence.apply(number) for number in range(sequence.size())]


def scala_context(spark: SparkSession) -> Any:
    """Return the SparkContext of the JVM, for what pyspark does not offer."""
    context: Any = spark.sparkContext
    return context._jsc.sc()  # noqa: SLF001


def java_packages(spark: SparkSession) -> Any:
    """Return the packages of the driver's JVM, for what pyspark does not offer."""
    context: Any = spark.sparkContext
    return context._jvm  # noqa: SLF001


def wait_for_events(spark: SparkSession) -> None:
    """Wait until every listener in Spark has received all events so far."""
    scala_context(spark).listenerBus().waitUntilEmpty(EVENTS_WAIT_MS)


def wait_for_executors(spark: SparkSession) -> None:
    """Wait until the number of executors has been stable for 2 seconds, for at most 30 seconds.

    On a cluster, executors register one by one. A job that is planned earlier has too few partitions.
    """
    if is_local(spark):
        return
    if not executors(spark):
        say(f"waiting for {spark.sparkContext.master} to grant an executor")
    spark.range(1).count()  # some masters grant no executor before the first job
    deadline = time.monotonic() + EXECUTORS_WAIT_S
    count = 0
    stable_since = time.monotonic()
    while time.monotonic() < min(deadline, stable_since + EXECUTORS_STABLE_S):
        now = len(executors(spark))
        if now != count:
            count = now
            stable_since = time.monotonic()
        time.sleep(0.2)


def wait_for_all_executors(
    spark: SparkSession, asked: int, none_comes: Callable[[], bool] = lambda: False
) -> int:
    """Wait until `asked` executors have come, and return how many have.

    It ends before that if none has come for LATE_EXECUTOR_S, after ALL_EXECUTORS_S, or after the time that
    Spark's own property for it gives, and as soon as `none_comes`.
    """
    began_s = time.monotonic()
    deadline_s = began_s + ALL_EXECUTORS_S
    next_by_s = began_s + LATE_EXECUTOR_S
    given_s = _given_waiting_time_s(spark)
    if given_s is not None:
        deadline_s = began_s + given_s
        next_by_s = deadline_s
    come = len(executors(spark))
    said_s = 0.0
    while come < asked and time.monotonic() < min(deadline_s, next_by_s) and not none_comes():
        now_s = time.monotonic()
        if now_s - said_s >= _SAID_EVERY_S:
            left_s = min(deadline_s, next_by_s) - now_s
            say(
                f"waiting for executors: {come} of {asked} have come, for {duration_text(left_s)} more"
            )
            said_s = now_s
        time.sleep(0.2)
        now = len(executors(spark))
        if now > come and given_s is None:
            next_by_s = time.monotonic() + LATE_EXECUTOR_S
        come = now
    return come


def _given_waiting_time_s(spark: SparkSession) -> float | None:
    """Return how long the user lets Spark wait for executors; None if that is not given."""
    text = spark.sparkContext.getConf().get(_WAITING_TIME)
    if text is None:
        return None
    return (
        float(java_packages(spark).org.apache.spark.network.util.JavaUtils.timeStringAsMs(text))
        / 1e3
    )


def completed_tasks(spark: SparkSession) -> int:
    """Return how many tasks of the active stages have completed; 0 if Spark has ended."""
    with suppress(Py4JError, OSError):  # the job reports it
        tracker = spark.sparkContext.statusTracker()
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return sum(stage.numCompletedTasks for stage in stages if stage)
    return 0


@contextmanager
def cancel_jobs_on_error(spark: SparkSession) -> Iterator[None]:
    """If the `with` block ends by an error or a signal, cancel all jobs, and wait for their tasks."""
    try:
        yield
    except BaseException:
        with deferred_signals():
            with suppress(Py4JError, OSError):  # Spark may have ended, and its tasks may go on
                spark.sparkContext.cancelAllJobs()
            tasks_have_ended(spark)
        raise


def tasks_have_ended(spark: SparkSession) -> bool:
    """Wait for all tasks, for at most 10 s; return whether it is certain that they have ended.

    A task that still runs may create a file.
    """
    deadline = time.monotonic() + TASKS_END_WAIT_S
    try:
        while _has_tasks(spark):
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
    except (Py4JError, OSError):  # Spark has ended, which executors notice later
        return False
    return True


def _has_tasks(spark: SparkSession) -> bool:
    if is_local(spark):
        return _has_task_threads(spark)
    infos = scala_context(spark).statusTracker().getExecutorInfos()
    return any(info.numRunningTasks() for info in infos)


def _has_task_threads(spark: SparkSession) -> bool:
    """Return whether a thread of the driver's JVM runs a task, whatever has become of its context."""
    threads = java_packages(spark).java.lang.Thread.getAllStackTraces()
    for entry in threads.entrySet():
        if not entry.getKey().getName().startswith("Executor task launch worker"):
            continue
        for frame in entry.getValue():  # a thread that waits for a task has the same name
            if frame.getClassName().endswith("Executor$TaskRunner"):
                return True
    return False


@contextmanager
def spark_errors_as_one_line(
    context: str, error_type: type[ClusterliftError] = ClusterliftError
) -> Iterator[None]:
    """Turn an error of Spark into an `error_type` with the message `context: root cause`."""
    try:
        yield
    except (*SPARK_ERRORS, ConnectionRefusedError, ValueError) as error:
        raise error_type(f"{context}: {root_cause(error)}") from error


def root_cause(error: Exception) -> str:
    """Return the message of the innermost cause, and its class too if the message is a mere name."""
    if isinstance(error, (Py4JNetworkError, ConnectionRefusedError)):
        return ENDED
    java = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return cause_or_first_line(str(error), NO_REASON)
    try:
        cause = innermost_cause(_stack(java))
    except (Py4JError, OSError):
        return ENDED  # the JVM, which has the message, is gone
    if "stopped SparkContext" in cause:
        return STOPPED
    return _message_of(cause) or NO_REASON


def _message_of(cause: str) -> str:
    """Return the message of a Java error: of one of Kubernetes, what its API server answered."""
    for refusal in refusals(cause):
        return refusal
    message = _JAVA_CLASS.sub("", cause)
    return message if " " in message else cause


def _stack(java: Any) -> str:
    """Return the messages of a Java error and of its causes, as Java prints them."""
    lines = []
    while java:
        lines.append(f"Caused by: {java.toString()}")
        java = java.getCause()
    return "\n".join(lines)
