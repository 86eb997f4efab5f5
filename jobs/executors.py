"""One question to every executor: a task on each, and what came back from which."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.serializers import UTF8Deserializer
from pyspark.sql import SparkSession

from datagen.spark.session import executor_hosts, is_local
from harness.node.traffic import node_identity

JOB_GROUP = "clusterlift: between trials"
_THERE = frozenset({"RUNNING", "SUCCESS"})
_OURS = ("spark.jobGroup.id", "spark.job.description")

T = TypeVar("T")


def run_on_executors(
    spark: SparkSession, hosts: Mapping[str, str], traffic_snapshot: Callable[[], T]
) -> dict[str, T]:
    """What `traffic_snapshot` returned on each executor of `hosts`, by its id; without those that did not answer.

    What it returns has to be of Python's own types: ours could not be told apart from themselves
    there.
    """
    if not hosts:
        return {}
    with outside_trials(spark):
        try:
            asked = one_partition_per_executor(spark, hosts).mapPartitions(
                partial(_answer, traffic_snapshot)
            )
            answers, where = asked.collect(), partition_executors(spark, JOB_GROUP)
        except (Py4JError, PySparkException, TypeError):  # TypeError: another Spark's internals
            return {}
    # One that went away has had its partition taken over by another.
    return {
        executor: answers[partition]
        for partition, executor in enumerate(hosts)
        if where.get(partition) == executor
    }


@dataclass(frozen=True)
class Nodes(Generic[T]):
    """What was seen on nodes, by their identities: host and answer; and where executors are.

    `executors` has the host of every executor, and the identity of its node, None if it did not answer.
    """

    seen: Mapping[str, tuple[str, T]]
    executors: Mapping[str, tuple[str, str | None]]


def run_on_nodes(spark: SparkSession, traffic_snapshot: Callable[[], T]) -> Nodes[T]:
    """What `traffic_snapshot` returns on the driver's node, and on each executor's like `run_on_executors`."""
    hosts = {} if is_local(spark) else executor_hosts(spark)
    answers = run_on_executors(spark, hosts, partial(_identified, traffic_snapshot))
    told = {executor: one for executor, one in answers.items() if one is not None}
    seen = {identity: (hosts[executor], one) for executor, (identity, one) in told.items()}
    if own := _identified(traffic_snapshot):
        identity, one = own
        # If an executor shares it, its name is the cluster's.
        seen.setdefault(identity, (platform.node(), one))
    where = {id_: (host, told[id_][0] if id_ in told else None) for id_, host in hosts.items()}
    return Nodes(seen, where)


def _identified(traffic_snapshot: Callable[[], T]) -> tuple[str, T] | None:
    try:
        return node_identity(), traffic_snapshot()
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):  # no Linux, or no shell
        return None


def _answer(traffic_snapshot: Callable[[], T], _executor: Iterable[str]) -> Iterator[T]:
    yield traffic_snapshot()


def one_partition_per_executor(spark: SparkSession, hosts: Mapping[str, str]) -> RDD[str]:
    """An RDD of one partition an executor, which wants to be there and nowhere else.

    Spark knows such partitions, as of a stream's receivers; pyspark has no way to them.
    """
    context: Any = spark.sparkContext
    jvm = context._jvm  # noqa: SLF001
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    partitions = [
        jvm.scala.Tuple2(executor, to_seq([f"executor_{host}_{executor}"]))
        for executor, host in hosts.items()
    ]
    tag = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    partition_executors = context._jsc.sc().makeRDD(to_seq(partitions), tag)  # noqa: SLF001
    java_rdd = jvm.org.apache.spark.api.java.JavaRDD(partition_executors, tag)
    return RDD(java_rdd, context, UTF8Deserializer())  # type: ignore[no-untyped-call]


def partition_executors(spark: SparkSession, job_group: str) -> dict[int, str]:
    """The executor that each partition of a group's last job is on, or was, by the partition's number."""
    context: Any = spark.sparkContext
    tracker = context.statusTracker()
    jobs = tracker.getJobIdsForGroup(job_group)
    if not jobs:
        return {}
    [stage] = tracker.getJobInfo(max(jobs)).stageIds
    tasks = context._jsc.sc().statusStore().taskList(stage, 0, 2**31 - 1)  # noqa: SLF001
    ran = map(tasks.apply, range(tasks.size()))
    return {task.index(): str(task.executorId()) for task in ran if task.status() in _THERE}


@contextmanager
def outside_trials(spark: SparkSession) -> Iterator[None]:
    """While entered, jobs are ours and not a trial's."""
    context = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _OURS}
    context.setJobGroup(JOB_GROUP, JOB_GROUP)
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type]  # None takes it away
