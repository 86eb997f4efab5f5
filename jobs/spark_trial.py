"""The trials of a workload on Spark: prepare under a job group, force with a sink, check the answer."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark.session import executor_hosts
from harness.model.errors import SparkLost
from harness.model.task_metrics import TaskMetrics, WireBytes
from harness.node.traffic import TrafficSnapshot, wire_bytes
from harness.runtime.trials import PreparedTrial
from jobs.executors import outside_trials
from jobs.nodes import traffic_snapshot
from jobs.sinks import Sink, SinkFactory
from jobs.spark_event_log import EventLog
from jobs.workload import Context, Workload


@dataclass(frozen=True)
class SparkTrialRunner:
    """A workload, what it runs on, the sink that forces it, and the event log of its trials."""

    workload: Workload
    context: Context
    sink: SinkFactory
    log: EventLog

    @property
    def name(self) -> str:
        return self.workload.name

    def prepare(self, job_group: str) -> PreparedTrial:
        """Build the frame anew, because a frame that was forced keeps its shuffle files."""
        spark = self.context.spark
        with _spark_loss_detected(spark):
            executors = executor_hosts(spark)
            _collect_garbage(spark)
            if (prewarming := self.workload.prewarm(self.context)) is not None:
                with outside_trials(spark):
                    prewarming.collect()
            spark.sparkContext.setJobGroup(job_group, job_group)
            frame = self.workload.frame(self.context)
            sink = self.sink(frame, self.workload.observe(self.context))
            traffic = traffic_snapshot(spark)
            self.log.begin()
        return _PreparedSparkTrial(self.workload, self.context, sink, self.log, executors, traffic)


@dataclass(frozen=True)
class _PreparedSparkTrial:
    """A trial that is ready to run.

    `executors_before` and `traffic_before` are the executors' hosts by id and the counters of the
    nodes' interfaces just before the trial.
    """

    workload: Workload
    context: Context
    sink: Sink
    log: EventLog
    executors_before: Mapping[str, str]
    traffic_before: TrafficSnapshot

    def run(self) -> None:
        with _spark_loss_detected(self.context.spark):
            self.sink.run()

    def metrics(self) -> tuple[TaskMetrics | None, WireBytes]:
        """Return the task metrics and the bytes on the wire.

        The log ends before the job that reads the interfaces, and is read afterwards.
        """
        with _spark_loss_detected(self.context.spark):
            self.log.end()
            wire = wire_bytes(self.traffic_before, traffic_snapshot(self.context.spark))
        return self.log.metrics(), wire

    def check(self) -> None:
        with _spark_loss_detected(self.context.spark):
            plan, answer = self.sink.plan(), self.sink.answer()
        # If there are no rows, Spark may leave out any part of the plan.
        if self.context.totals.rows:
            self.workload.check_plan(plan)
        self.workload.check(answer, self.context)

    def note(self) -> str | None:
        """Return which executors were lost since the trial was prepared."""
        with _spark_loss_detected(self.context.spark):
            executors = executor_hosts(self.context.spark)
        lost = [host for id_, host in self.executors_before.items() if id_ not in executors]
        return f"executors lost: {', '.join(sorted(lost))}" if lost else None


def _collect_garbage(spark: SparkSession) -> None:
    """Make Spark delete the shuffle files of earlier trials now, and not during a measured one."""
    gc.collect()
    context: Any = spark.sparkContext
    context._jvm.System.gc()  # noqa: SLF001  not in pyspark


@contextmanager
def _spark_loss_detected(spark: SparkSession) -> Iterator[None]:
    """Raise SparkLost instead of any error if the Spark application has ended."""
    try:
        yield
    except Exception as error:
        if not _is_alive(spark):
            raise SparkLost(f"the Spark application ended: {error}") from error
        raise


def _is_alive(spark: SparkSession) -> bool:
    """Return whether the driver's JVM answers and its context still accepts jobs."""
    context: Any = spark.sparkContext
    try:
        return not context._jsc.sc().isStopped()  # noqa: SLF001  not in pyspark
    except (Py4JError, OSError, AttributeError):
        return False
