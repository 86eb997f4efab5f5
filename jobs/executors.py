"""Run a function once on each executor, in jobs that do not count as a trial's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.serializers import UTF8Deserializer
from pyspark.sql import SparkSession

JOB_GROUP = "clusterlift: between trials"
_STARTED = frozenset({"RUNNING", "SUCCESS"})
_JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description")

T = TypeVar("T")


def run_on_executors(
    spark: SparkSession, hosts: Mapping[str, str], function: Callable[[], T]
) -> dict[str, T]:
    """Return the results of `function` by the ids of the executors in `hosts`.

    Executors that do not answer are left out. The results must be of Python's built-in types: an
    instance of our own classes would come back as an instance of another class with the same name.
    """
    if not hosts:
        return {}
    with outside_trials(spark):
        try:
            job = one_partition_per_executor(spark, hosts).mapPartitions(partial(_call, function))
            results, ran_on = job.collect(), partition_executors(spark, JOB_GROUP)
        except (Py4JError, PySparkException, TypeError):  # TypeError: other internals of Spark
            return {}
    # If an executor is gone, another one has run its partition.
    return {
        executor: results[partition]
        for partition, executor in enumerate(hosts)
        if ran_on.get(partition) == executor
    }


def _call(function: Callable[[], T], _rows: Iterable[str]) -> Iterator[T]:
    yield function()


def one_partition_per_executor(spark: SparkSession, hosts: Mapping[str, str]) -> RDD[str]:
    """Return an RDD with one partition per executor, each with a preference for its executor.

    Spark has such partitions for the receivers of streams; pyspark offers no way to create them.
    """
    context: Any = spark.sparkContext
    jvm = context._jvm  # noqa: SLF001
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    partitions = [
        jvm.scala.Tuple2(executor, to_seq([f"executor_{host}_{executor}"]))
        for executor, host in hosts.items()
    ]
    tag = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    scala_rdd = context._jsc.sc().makeRDD(to_seq(partitions), tag)  # noqa: SLF001
    java_rdd = jvm.org.apache.spark.api.java.JavaRDD(scala_rdd, tag)
    return RDD(java_rdd, context, UTF8Deserializer())  # type: ignore[no-untyped-call]


def partition_executors(spark: SparkSession, job_group: str) -> dict[int, str]:
    """Return the executor that runs, or ran, each partition of the last job of a group."""
    context: Any = spark.sparkContext
    tracker = context.statusTracker()
    jobs = tracker.getJobIdsForGroup(job_group)
    if not jobs:
        return {}
    [stage] = tracker.getJobInfo(max(jobs)).stageIds
    listed = context._jsc.sc().statusStore().taskList(stage, 0, 2**31 - 1)  # noqa: SLF001
    tasks = map(listed.apply, range(listed.size()))
    return {task.index(): str(task.executorId()) for task in tasks if task.status() in _STARTED}


@contextmanager
def outside_trials(spark: SparkSession) -> Iterator[None]:
    """Put jobs into a job group of our own instead of the trial's."""
    context = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _JOB_PROPERTIES}
    context.setJobGroup(JOB_GROUP, JOB_GROUP)
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type]  # None removes it
