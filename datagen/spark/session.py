"""The Spark session that both entry scripts run in."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import Any

from pyspark import SparkConf, cloudpickle
from pyspark.sql import SparkSession

import datagen
import harness
from datagen.spark.errors import spark_errors_as_one_line

EXECUTORS_WAIT_S = 30.0
EXECUTORS_STILL_S = 2.0


def start_session(name: str, *packages: object) -> SparkSession:
    """Start, or join, the session that spark-submit configured.

    Functions of our packages, and of `packages`, that run on executors are sent by value: the
    executors have Spark and Python, and not this checkout.
    """
    for package in (datagen, harness, *packages):
        cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    conf = SparkConf()
    # Its bar and our lines would overwrite each other, and what goes wrong we say in one line;
    # Spark's own log is a `--conf spark.log.level=WARN` away.
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.log.level", "OFF")
    with spark_errors_as_one_line("Spark did not start"):
        return SparkSession.builder.appName(name).config(conf=conf).getOrCreate()


def executors(spark: SparkSession) -> list[str]:
    """Hosts of the executors, one each; in local mode the driver's own."""
    return sorted(executor_hosts(spark).values())


def executor_hosts(spark: SparkSession) -> dict[str, str]:
    """The host of each executor that is alive, by its id."""
    return {id_: str(one.hostPort()).rpartition(":")[0] for id_, one in _alive(spark)}


def executor_cores(spark: SparkSession) -> dict[str, int]:
    """How many cores each executor that is alive has, by its id."""
    return {id_: one.totalCores() for id_, one in _alive(spark)}


def _alive(spark: SparkSession) -> Iterator[tuple[str, Any]]:
    """Spark's own summary of each executor, by its id."""
    context: Any = spark.sparkContext
    listed = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001, FBT003  not in pyspark
    for one in map(listed.apply, range(listed.size())):
        # The driver is listed among them.
        if is_local(spark) or one.id() != "driver":
            yield str(one.id()), one


def is_local(spark: SparkSession) -> bool:
    """Whether driver and executors are one process."""
    return str(spark.sparkContext.master).startswith("local")


def wait_for_executors(spark: SparkSession) -> None:
    """Return when the executors' number has been still for two seconds, or after half a minute.

    On a cluster they arrive one by one, and what is planned before they have is planned for fewer.
    """
    if is_local(spark):
        return
    if not executors(spark):
        print(f"waiting for {spark.sparkContext.master} to grant an executor", file=sys.stderr)
    spark.range(1).count()  # a job, for those masters that grant none without
    deadline = time.monotonic() + EXECUTORS_WAIT_S
    count, still_since = 0, time.monotonic()
    while time.monotonic() < min(deadline, still_since + EXECUTORS_STILL_S):
        now = len(executors(spark))
        if now != count:
            count, still_since = now, time.monotonic()
        time.sleep(0.2)


def tasks_done(spark: SparkSession) -> int:
    """How many tasks of the stages that run now have ended."""
    tracker = spark.sparkContext.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage)
