"""The Spark session of an entry script, and its executors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from pyspark import SparkConf, cloudpickle
from pyspark.sql import SparkSession

import datagen
import harness
from datagen.spark.errors import spark_errors_as_one_line
from harness.terminal import say

EXECUTORS_WAIT_S = 30.0
EXECUTORS_STABLE_S = 2.0


def start_session(name: str, *packages: object) -> SparkSession:
    """Return the session that spark-submit configured, and start it if necessary.

    Functions of our packages, and of `packages`, are sent to the executors by value: executors need
    Spark and Python, but not this checkout. Raises ClusterliftError if Spark does not start.
    """
    for package in (datagen, harness, *packages):
        cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
    conf = SparkConf()
    # Spark's progress bar would overwrite our lines, and we report errors in one line. To see Spark's
    # own log, add `--conf spark.log.level=WARN`.
    conf.setIfMissing("spark.ui.showConsoleProgress", "false")
    conf.setIfMissing("spark.log.level", "OFF")
    with spark_errors_as_one_line("Spark did not start"):
        return SparkSession.builder.appName(name).config(conf=conf).getOrCreate()


def executors(spark: SparkSession) -> list[str]:
    """Return the host of each executor, sorted; in local mode, the driver's host."""
    return sorted(executor_hosts(spark).values())


def executor_hosts(spark: SparkSession) -> dict[str, str]:
    """Return the host of each live executor, by the executor's id."""
    return {id_: str(entry.hostPort()).rpartition(":")[0] for id_, entry in _live_executors(spark)}


def executor_cores(spark: SparkSession) -> dict[str, int]:
    """Return the number of cores of each live executor, by the executor's id."""
    return {id_: entry.totalCores() for id_, entry in _live_executors(spark)}


def _live_executors(spark: SparkSession) -> Iterator[tuple[str, Any]]:
    """Yield the id of each live executor and Spark's own summary of it."""
    context: Any = spark.sparkContext
    listed = context._jsc.sc().statusStore().executorList(True)  # noqa: SLF001, FBT003  not in pyspark
    for entry in map(listed.apply, range(listed.size())):
        # Spark lists the driver, too.
        if is_local(spark) or entry.id() != "driver":
            yield str(entry.id()), entry


def is_local(spark: SparkSession) -> bool:
    """Return whether driver and executors are one process."""
    return str(spark.sparkContext.master).startswith("local")


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
    count, stable_since = 0, time.monotonic()
    while time.monotonic() < min(deadline, stable_since + EXECUTORS_STABLE_S):
        now = len(executors(spark))
        if now != count:
            count, stable_since = now, time.monotonic()
        time.sleep(0.2)


def completed_tasks(spark: SparkSession) -> int:
    """Return how many tasks of the active stages have completed."""
    tracker = spark.sparkContext.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage)
