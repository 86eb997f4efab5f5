"""Run functions on all nodes, in jobs that do not count as a trial's: describe machines, count bytes.

The driver's node runs them itself, the node of each executor in a task on it.
"""

import inspect
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.serializers import UTF8Deserializer
from pyspark.sql import SparkSession

from datagen.spark import executor_hosts, is_local, java_packages, scala_context
from harness.child_process import finished
from harness.model.errors import ToolError
from harness.model.interface import HostLink
from harness.node import sampler
from harness.node.counters import read_node
from harness.node.devices import DIRECTORIES
from harness.node.interface import link_command, parse_link
from harness.node.machine import MachineFacts, machine_command, read_machine
from harness.node.namespaces import boot_of, node_identity, process_namespace
from harness.node.node_links import NodeLinks
from harness.node.processes import Application
from harness.node.snapshot import NodeReading, NodesSnapshot
from harness.node.traffic import interface_traffic
from harness.words import visible

JOB_GROUP = "clusterlift: between trials"
LINK_TIMEOUT_S = 30
LOCAL_DIRS, DATA_DIR = DIRECTORIES["local_dirs"], DIRECTORIES["data_dir"]
_STARTED = frozenset({"RUNNING", "SUCCESS"})
_JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description")

T = TypeVar("T")


def nodes_snapshot(spark: SparkSession, *, with_samples: bool) -> NodesSnapshot:
    """Read the counters of all nodes, in one job. No trial may run meanwhile.

    The snapshot before a trial starts new samples on every node, the one after it has these samples.
    """
    application = Application(
        id=str(spark.sparkContext.applicationId),
        driver=os.getpid(),
        driver_namespace=process_namespace(),
    )
    program = inspect.getsource(sampler)
    read = partial(read_node, application, program, with_samples=with_samples)
    asked_s = time.monotonic()
    answers, executors = run_on_nodes(spark, read)
    answered_s = time.monotonic()
    nodes = {id_: NodeReading(host, **reading) for id_, (host, reading) in answers.items()}
    boot = boot_of(application.driver_namespace)
    return NodesSnapshot(nodes, executors, asked_s, answered_s, boot)


@dataclass(frozen=True)
class NodesDescription:
    """The interfaces that lead to other machines, and the machine's facts, of every node that answered.

    They are by the host that the cluster knows; `names` has what they call themselves, where that differs.
    """

    links: NodeLinks
    machines: Mapping[str, MachineFacts]
    names: Mapping[str, str]


def describe_nodes(spark: SparkSession, data_dir: str | None = None) -> NodesDescription:
    """Ask every node for its links and the facts of its machine, in one job.

    `data_dir` is where the dataset is if that is on the nodes' own file systems.
    """
    directories = {LOCAL_DIRS: _own_local_dirs(spark), DATA_DIR: data_dir}
    known = {name: value for name, value in directories.items() if value}
    answers, executors = run_on_nodes(spark, partial(_describe_node, known))
    links: dict[str, dict[str, HostLink]] = {}
    machines = {}
    for host, (_, machine, texts) in sorted(answers.values(), key=lambda answer: answer[0]):
        machines[host] = read_machine(machine)
        links[host] = {}
        for device, text in texts.items():
            with suppress(ToolError):  # the interface has disappeared meanwhile
                links[host][device] = parse_link(host, device, text)
    names = {
        host: visible(name)[:64]  # as long as Linux allows
        for host, node in executors.values()
        if node in answers and (name := answers[node][1][0]) not in {"", host}
    }
    return NodesDescription(links, machines, names)


def _own_local_dirs(spark: SparkSession) -> str | None:
    """Return the local directories of the driver if that is the executor. Python workers know theirs."""
    if not is_local(spark):
        return None
    configured = spark.sparkContext.getConf().get("spark.local.dir")
    default = configured or str(java_packages(spark).System.getProperty("java.io.tmpdir"))
    return os.environ.get(LOCAL_DIRS, default)


def _describe_node(directories: Mapping[str, str]) -> tuple[str, str, dict[str, str]]:
    """Return this node's name, and what it reports about its machine and each of its interfaces, as text."""
    run = partial(finished, environment={**os.environ, **directories}, timeout_s=LINK_TIMEOUT_S)
    links = {device: run(link_command(device)).stdout for device in interface_traffic()}
    return platform.node(), run(machine_command(sys.executable)).stdout, links


def run_on_nodes(
    spark: SparkSession, function: Callable[[], T]
) -> tuple[dict[str, tuple[str, T]], dict[str, tuple[str, str | None]]]:
    """Run a function on the driver's node and on each executor's node.

    Returns the host and the result of each node that answers, by the node's identity; and each
    executor's host and the identity of its node, None if the executor did not answer.
    """
    hosts = {} if is_local(spark) else executor_hosts(spark)
    results = run_on_executors(spark, hosts, partial(_identified, function))
    answers = {executor: answer for executor, answer in results.items() if answer is not None}
    nodes = {identity: (hosts[executor], value) for executor, (identity, value) in answers.items()}
    if own := _identified(function):
        identity, value = own
        # A node that also has an executor keeps the name that the cluster gives it.
        nodes.setdefault(identity, (platform.node(), value))
    identities = {executor: identity for executor, (identity, _) in answers.items()}
    return nodes, {executor: (host, identities.get(executor)) for executor, host in hosts.items()}


def _identified(function: Callable[[], T]) -> tuple[str, T] | None:
    """Return the identity of this node and the result; None on a node without Linux or a shell."""
    try:
        return node_identity(), function()
    except (OSError, ValueError, IndexError, subprocess.SubprocessError):
        return None


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
    jvm = java_packages(spark)
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    partitions = [
        jvm.scala.Tuple2(executor, to_seq([f"executor_{host}_{executor}"]))
        for executor, host in hosts.items()
    ]
    tag = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    scala_rdd = scala_context(spark).makeRDD(to_seq(partitions), tag)
    java_rdd = jvm.org.apache.spark.api.java.JavaRDD(scala_rdd, tag)
    return RDD(java_rdd, spark.sparkContext, UTF8Deserializer())  # type: ignore[no-untyped-call]


def partition_executors(spark: SparkSession, job_group: str) -> dict[int, str]:
    """Return the executor that runs, or ran, each partition of the last job of a group."""
    tracker: Any = spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup(job_group)
    if not jobs:
        return {}
    [stage] = tracker.getJobInfo(max(jobs)).stageIds
    listed = scala_context(spark).statusStore().taskList(stage, 0, 2**31 - 1)
    tasks = map(listed.apply, range(listed.size()))
    return {task.index(): str(task.executorId()) for task in tasks if task.status() in _STARTED}


def last_own_stage(spark: SparkSession) -> int:
    """Return the number of the last stage that ran outside of trials; -1 if none did."""
    tracker: Any = spark.sparkContext.statusTracker()
    jobs = tracker.getJobIdsForGroup(JOB_GROUP)
    return max(tracker.getJobInfo(max(jobs)).stageIds) if jobs else -1


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
