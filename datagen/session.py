"""The Spark session that both entry scripts run in."""

from __future__ import annotations

from pyspark import SparkConf, cloudpickle
from pyspark.sql import SparkSession

import datagen
import harness


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
    return SparkSession.builder.appName(name).config(conf=conf).getOrCreate()


def tasks_done(spark: SparkSession) -> int:
    """How many tasks of the stages that run now have ended."""
    tracker = spark.sparkContext.statusTracker()
    stages = (tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds())
    return sum(stage.numCompletedTasks for stage in stages if stage)
