"""A look at the network interfaces of all nodes: the driver's, and each executor's by a task on it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.serializers import UTF8Deserializer
from pyspark.sql import SparkSession

from datagen.session import executor_hosts, is_local
from harness.record.network import Look, Node, Traffic, interface_traffic, node_identity

JOB_GROUP = "clusterlift: network interfaces"
_OURS = ("spark.jobGroup.id", "spark.job.description")

Seen = tuple[str, dict[str, Traffic]]
"""What a task sends back: types of ours could not be told apart from themselves there."""


def look(spark: SparkSession) -> Look:
    """The counters of every node that can be asked. No trial may run meanwhile."""
    hosts = {} if is_local(spark) else executor_hosts(spark)
    seen = dict(_seen_by_executors(spark, hosts)) if hosts else {}
    nodes = {
        identity: Node(identity, hosts[executor], traffic)
        for executor, (identity, traffic) in seen.items()
    }
    if own := _seen_here():
        identity, traffic = own
        # If an executor shares it, its name is the cluster's.
        nodes.setdefault(identity, Node(identity, platform.node(), traffic))
    executors = {id_: (host, seen[id_][0] if id_ in seen else None) for id_, host in hosts.items()}
    return Look(nodes, executors)


def _seen_here() -> Seen | None:
    try:
        return node_identity(), interface_traffic()
    except (OSError, ValueError, IndexError):  # no Linux
        return None


def _see(_executors: Iterable[str]) -> Iterator[Seen | None]:
    yield _seen_here()


def _seen_by_executors(spark: SparkSession, hosts: Mapping[str, str]) -> Iterator[tuple[str, Seen]]:
    """Each executor that answered, and what it saw."""
    with _job_group(spark):
        try:
            answers = _one_partition_each(spark, hosts).mapPartitions(_see).collect()
            placed = _placed(spark)
        except (Py4JError, PySparkException, TypeError):  # TypeError: another Spark's internals
            return
    for partition, executor in enumerate(hosts):
        # One that went away has had its partition taken over by another.
        answer = answers[partition]
        if answer is not None and placed.get(partition) == executor:
            yield executor, answer


def _one_partition_each(spark: SparkSession, hosts: Mapping[str, str]) -> RDD[str]:
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
    placed = context._jsc.sc().makeRDD(to_seq(partitions), tag)  # noqa: SLF001
    java_rdd = jvm.org.apache.spark.api.java.JavaRDD(placed, tag)
    return RDD(java_rdd, context, UTF8Deserializer())  # type: ignore[no-untyped-call]


def _placed(spark: SparkSession) -> dict[int, str]:
    """The executor that each partition of our last job ran on, by the partition's number."""
    context: Any = spark.sparkContext
    tracker = context.statusTracker()
    [stage] = tracker.getJobInfo(max(tracker.getJobIdsForGroup(JOB_GROUP))).stageIds
    tasks = context._jsc.sc().statusStore().taskList(stage, 0, 2**31 - 1)  # noqa: SLF001
    ran = map(tasks.apply, range(tasks.size()))
    return {task.index(): str(task.executorId()) for task in ran if task.status() == "SUCCESS"}


@contextmanager
def _job_group(spark: SparkSession) -> Iterator[None]:
    """While entered, jobs are ours and not a trial's."""
    context = spark.sparkContext
    before = {key: context.getLocalProperty(key) for key in _OURS}
    context.setJobGroup(JOB_GROUP, JOB_GROUP)
    try:
        yield
    finally:
        for key, value in before.items():
            context.setLocalProperty(key, value)  # type: ignore[arg-type]  # None takes it away
