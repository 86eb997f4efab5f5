"""Where a trial's time went, told by Spark's own event log.

For each trial Spark's listener is attached anew, and writes to a directory of ours on the driver's
machine. So a log holds one trial and is short-lived, and nothing depends on the log that the cluster
may write besides, which cannot be read everywhere before the application has ended: on an object
store it does not exist until then, and inside a compressed block its end is missing.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark.errors import root_cause
from datagen.spark.session import executor_cores
from harness.eventlog.trial import Slots, task_metrics
from harness.model.task_metrics import TaskMetrics

_CONF = {
    "spark.eventLog.compress": "false",
    "spark.eventLog.rolling.enabled": "false",
    "spark.eventLog.overwrite": "true",
    "spark.eventLog.logBlockUpdates.enabled": "false",
    "spark.eventLog.logStageExecutorMetrics": "false",
    # Each task's metrics once are enough.
    "spark.eventLog.includeTaskMetricsAccumulators": "false",
}
_NAME = "trial"
_EVENTS_WAIT_MS = 10 * 60 * 1000


class EventLog:
    """The event log of one trial after the other. To be closed, with `with`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._directory = tempfile.TemporaryDirectory(prefix="clusterlift-")
        self._file = Path(self._directory.name) / _NAME
        self._listener: Any = None
        self._slots = Slots()
        self._has_complained = False

    def begin(self) -> None:
        """Listen from now on; what happened before is not in the log."""
        self._file.unlink(missing_ok=True)
        try:
            self._detach()
            self._drain()
            self._attach()
        except (Py4JError, TypeError) as error:  # TypeError: this Spark has no such class
            self._complain(error)
        task_cpus = self._spark.sparkContext.getConf().get("spark.task.cpus", "1")
        self._slots = Slots(executor_cores(self._spark), float(task_cpus))

    def end(self) -> None:
        """Listen no longer; what happened until now is in the log."""
        try:
            self._drain()
            self._detach()
        except Py4JError as error:
            self._complain(error)

    def metrics(self) -> TaskMetrics | None:
        """What the log says of the trial that has ended; None if it could not be written."""
        try:
            with self._file.open("rb") as lines:
                return task_metrics(lines, self._slots)
        except OSError as error:
            self._complain(error)
            return None

    def _attach(self) -> None:
        context: Any = self._spark.sparkContext
        jvm, spark_context = context._jvm, context._jsc.sc()  # noqa: SLF001  not in pyspark
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
        listener, self._listener = self._listener, None
        if listener is not None:
            context: Any = self._spark.sparkContext
            context._jsc.sc().removeSparkListener(listener)  # noqa: SLF001  not in pyspark
            listener.stop()

    def _drain(self) -> None:
        """Wait until every listener has heard of everything that happened."""
        context: Any = self._spark.sparkContext
        context._jsc.sc().listenerBus().waitUntilEmpty(_EVENTS_WAIT_MS)  # noqa: SLF001  not in pyspark

    def _complain(self, error: Exception) -> None:
        if not self._has_complained:
            print(f"where the time went is not recorded: {root_cause(error)}", file=sys.stderr)
        self._has_complained = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()
