"""A workload as the runner sees it: prepared under a job group, forced by a sink, checked."""

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
from jobs.sinks import Forced, NoopSink, RddCountSink
from jobs.spark_event_log import EventLog
from jobs.workload import Context, Workload


class SparkTrialRunner:
    """One workload with what it runs on, and the log that its trials are told in."""

    def __init__(
        self, workload: Workload, context: Context, sink: type[NoopSink | RddCountSink], log: EventLog
    ) -> None:
        self.name = workload.name
        self._workload = workload
        self._context = context
        self._sink = sink
        self._log = log

    def prepare(self, job_group: str) -> PreparedTrial:
        """Plan it anew: a frame that was forced once would keep its shuffle files."""
        spark = self._context.spark
        with _watched(spark):
            executors = executor_hosts(spark)
            _collect_garbage(spark)
            if (prewarming := self._workload.prewarm(self._context)) is not None:
                with outside_trials(spark):
                    prewarming.collect()
            spark.sparkContext.setJobGroup(job_group, job_group)
            frame = self._workload.frame(self._context)
            forced = self._sink(frame, self._workload.observe(self._context))
            before = traffic_snapshot(spark)
            self._log.begin()
        return _PreparedSparkTrial(
            self._workload, self._context, forced, self._log, _Before(executors, before)
        )


@dataclass(frozen=True)
class _Before:
    """What was there before a trial: the executors' hosts by their ids, the interfaces' counters."""

    executors: Mapping[str, str]
    interfaces: TrafficSnapshot


class _PreparedSparkTrial:
    def __init__(
        self,
        workload: Workload,
        context: Context,
        forced: Forced,
        log: EventLog,
        before: _Before,
    ) -> None:
        self._workload = workload
        self._context = context
        self._forced = forced
        self._log = log
        self._before = before

    def run(self) -> None:
        with _watched(self._context.spark):
            self._forced.run()

    def metrics(self) -> tuple[TaskMetrics | None, WireBytes]:
        """The log is over before the links are looked at, and read when they have been."""
        with _watched(self._context.spark):
            self._log.end()
            wire = wire_bytes(self._before.interfaces, traffic_snapshot(self._context.spark))
        return self._log.metrics(), wire

    def check(self) -> None:
        with _watched(self._context.spark):
            plan, answer = self._forced.plan(), self._forced.answer()
        # On no rows Spark may leave out whatever it likes.
        if self._context.totals.rows:
            self._workload.check_plan(plan)
        self._workload.check(answer, self._context)

    def note(self) -> str | None:
        """The executors that are gone since it was prepared."""
        with _watched(self._context.spark):
            there = executor_hosts(self._context.spark)
        lost = [host for id_, host in self._before.executors.items() if id_ not in there]
        return f"executors lost: {', '.join(sorted(lost))}" if lost else None


def _collect_garbage(spark: SparkSession) -> None:
    """Drop the shuffle files of earlier trials now, not in the middle of a measured one."""
    gc.collect()
    context: Any = spark.sparkContext
    context._jvm.System.gc()  # noqa: SLF001  not in pyspark


@contextmanager
def _watched(spark: SparkSession) -> Iterator[None]:
    """Tell an error of the computation from the end of Spark itself."""
    try:
        yield
    except Exception as error:
        if not is_alive(spark):
            raise SparkLost(f"the Spark application ended: {error}") from error
        raise


def is_alive(spark: SparkSession) -> bool:
    """Whether the driver's JVM answers and its context still takes jobs."""
    context: Any = spark.sparkContext
    try:
        return not context._jsc.sc().isStopped()  # noqa: SLF001  not in pyspark
    except (Py4JError, OSError, AttributeError):
        return False
