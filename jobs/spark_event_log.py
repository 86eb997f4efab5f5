"""Where the time of a trial went, as reported by Spark's own event log.

Spark's listener is attached anew for each trial and writes to a temporary directory on the driver's
machine. So each log is short-lived and has the events of one trial. The log that the cluster may
write cannot be used: on an object store it does not exist before the application ends, and the end of
a compressed block is missing until then.
"""

from __future__ import annotations  # for Python 3.8

import tempfile
import time
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import executor_cores, java_packages, root_cause, scala_context, wait_for_events
from harness.base.terminal import say
from harness.eventlog.trial import TrialLog, read_log
from jobs.executor_watch import ExecutorWatch

_CONF = {
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.overwrite": "true",
    "spark.eventLog.logBlockUpdates.enabled": "false",
    "spark.eventLog.logStageExecutorMetrics": "false",
    # The metrics of each task are enough; accumulators would repeat them.
    "spark.eventLog.includeTaskMetricsAccumulators": "false",
}
_NAME = "trial"


class EventLog:
    """The event log of one trial after another. Use it with `with`: leaving deletes the directory.

    `executors` watches the executors from trial to trial.
    """

    def __init__(self, spark: SparkSession) -> None:
        self.executors = ExecutorWatch(spark)
        self._spark = spark
        self._directory = tempfile.TemporaryDirectory(prefix="clusterlift-")
        self._file = Path(self._directory.name) / _NAME
        self._listener: Any = None
        self._slots: int | None = None
        self._began_ms = 0.0
        self._has_warned = False

    def begin(self) -> None:
        """Start a new log; earlier events are not in it. The stages' times count from when this returns."""
        try:
            self._detach()
            wait_for_events(self._spark)
            self._attach()
        except (Py4JError, TypeError) as error:  # TypeError: this Spark has no such class
            self._warn(error)
        # The log of the trial before, whose file has its name only now if that trial failed.
        self._file.unlink(missing_ok=True)
        task_cpus = float(self._spark.sparkContext.getConf().get("spark.task.cpus", "1"))
        cores = executor_cores(self._spark).values()
        self._slots = sum(int(each / task_cpus) for each in cores) or None
        self._began_ms = 1e3 * time.time()

    def end(self) -> None:
        """End the log. All events until now are in it."""
        try:
            wait_for_events(self._spark)
            self._detach()
        except Py4JError as error:
            self._warn(error)

    def read(self) -> TrialLog | None:
        """Return what the log has of the trial; None if the log could not be written."""
        try:
            with self._file.open("rb") as lines:
                return read_log(lines, self._slots, self._began_ms)
        except OSError as error:
            self._warn(error)
            return None

    def _attach(self) -> None:
        """Let Spark write its events into our directory, from now on."""
        jvm = java_packages(self._spark)
        spark_context = scala_context(self._spark)
        conf = spark_context.conf().clone()
        for key, value in _CONF.items():
            conf.set(key, value)
        listener = jvm.org.apache.spark.scheduler.EventLoggingListener(
            _NAME,
            jvm.scala.Option.empty(),
            jvm.java.io.File(self._directory.name).toURI(),
            conf,
            spark_context.hadoopConfiguration(),
        )
        listener.start()
        spark_context.addSparkListener(listener)
        self._listener = listener

    def _detach(self) -> None:
        listener = self._listener
        if listener is not None:
            self._listener = None
            scala_context(self._spark).removeSparkListener(listener)
            listener.stop()

    def _warn(self, error: Exception) -> None:
        """Report, once per run, why there are no metrics. The trials continue without them."""
        if not self._has_warned:
            say(f"where the time went is not recorded: {root_cause(error)}")
        self._has_warned = True

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()
