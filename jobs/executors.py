"""Run functions on all nodes, in jobs that do not count as a trial's: describe machines, count bytes.

The driver's node runs them itself, the node of each executor in a task on it. A node that does not answer is
a part of the answer, with the reason.
"""

from __future__ import annotations

import inspect
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, Generic, TypeVar

from py4j.protocol import Py4JError
from pyspark import RDD
from pyspark.serializers import UTF8Deserializer
from pyspark.sql import SparkSession

from datagen.spark import (
    SPARK_ERRORS,
    elements,
    executor_hosts,
    is_local,
    java_packages,
    root_cause,
    scala_context,
    wait_for_events,
)
from harness.base.child_process import finished
from harness.base.errors import ToolError
from harness.base.failure_reason import reason_of
from harness.base.items import without
from harness.base.words import visible
from harness.model.interface import HostLink
from harness.node import sampler
from harness.node.block_devices import DIRECTORIES
from harness.node.containers import reading_of_node
from harness.node.counters import read_node
from harness.node.interface import describing_command, parse_link
from harness.node.machine import MachineFacts, machine_command, read_machine
from harness.node.namespaces import boot_of, node_identity, process_namespace
from harness.node.node_links import NodeLinks
from harness.node.pod import pod_facts
from harness.node.processes import RunningApplication
from harness.node.snapshot import NodeReading, NodesSnapshot
from harness.node.traffic import interface_traffic

JOB_GROUP = "clusterlift: between trials"
LINK_TIMEOUT_S = 30
LOCAL_DIRS, DATA_DIR = DIRECTORIES["local_dirs"], DIRECTORIES["data_dir"]
NO_TASK = "it ran no task of ours: it was busy, or has ended"
_STARTED = frozenset({"RUNNING", "SUCCESS"})
_JOB_PROPERTIES = ("spark.jobGroup.id", "spark.job.description")

T = TypeVar("T")


@dataclass(frozen=True)
class ExecutorAnswers(Generic[T]):
    """The answer of each executor, by its id, and why each of the others did not answer."""

    found: Mapping[str, T] = field(default_factory=dict)
    silent: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class NodeAnswers(Generic[T]):
    """The answers of nodes.

    - `found`: host and answer by the node's identity.
    - `executors`: each executor's host and the identity of its node, None if it did not answer.
    - `silent`: why a node did not answer, by its host.
    """

    found: Mapping[str, tuple[str, T]]
    executors: Mapping[str, tuple[str, str | None]]
    silent: Mapping[str, str]


def nodes_snapshot(spark: SparkSession, *, with_samples: bool) -> NodesSnapshot:
    """Read the counters of all nodes, in one job. No trial may run meanwhile.

    The snapshot before a trial starts new samples on every node, the one after it has these samples.
    """
    application = RunningApplication(
        id=str(spark.sparkContext.applicationId),
        driver=os.getpid(),
        driver_namespace=process_namespace(),
    )
    program = inspect.getsource(sampler)
    read = partial(read_node, application, program, with_samples=with_samples)
    asked_s = time.monotonic()
    answers = run_on_nodes(spark, read, reading_of_node)
    answered_s = time.monotonic()
    nodes = {id_: NodeReading(host, **reading) for id_, (host, reading) in answers.found.items()}
    boot = boot_of(application.driver_namespace)
    return NodesSnapshot(nodes, answers.executors, asked_s, answered_s, boot, answers.silent)


@dataclass(frozen=True)
class NodesDescription:
    """The interfaces that lead to other machines, and the machine's facts, of every node that answered.

    They are by the host that the cluster knows. `names` has what they call themselves, where that differs.
    `silent` has why a host, or one of its interfaces, is not described. `pods` has what is known of the pods
    of Kubernetes.
    """

    links: NodeLinks
    machines: Mapping[str, MachineFacts]
    names: Mapping[str, str]
    silent: Mapping[str, str] = field(default_factory=dict)
    pods: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def describe_nodes(spark: SparkSession, data_dir: str | None = None) -> NodesDescription:
    """Ask every node for its links and the facts of its machine, in one job.

    `data_dir` is where the dataset is if that is on the nodes' own file systems.
    """
    directories = {LOCAL_DIRS: _own_local_dirs(spark), DATA_DIR: data_dir}
    known = {name: value for name, value in directories.items() if value}
    answers = run_on_nodes(spark, partial(_describe_node, known))
    links: dict[str, dict[str, HostLink]] = {}
    silent = dict(answers.silent)
    machines = {}
    pods: dict[str, Mapping[str, str]] = {}
    for host, (_, machine, texts, pod) in sorted(
        answers.found.values(), key=lambda answer: answer[0]
    ):
        if pod:
            pods[host] = pod
        machines[host] = read_machine(machine)
        links[host] = {}
        for device, text in texts.items():
            try:
                links[host][device] = parse_link(host, device, text)
            except ToolError as error:  # the interface may have disappeared meanwhile
                silent[host] = f"{device}: {reason_of(str(error))}"
    names = {}
    for host, node in answers.executors.values():
        if node is None:
            continue
        _, (name, _, _, pod) = answers.found[node]
        if pod:
            pods[host] = pod
        if name not in {"", host}:
            names[host] = visible(name)[:64]  # as long as Linux allows
    return NodesDescription(links, machines, names, silent, pods)


def _own_local_dirs(spark: SparkSession) -> str | None:
    """Return the local directories of the driver if that is the executor. Python workers know theirs."""
    if not is_local(spark):
        return None
    configured = spark.sparkContext.getConf().get("spark.local.dir")
    default = configured or str(java_packages(spark).System.getProperty("java.io.tmpdir"))
    return os.environ.get(LOCAL_DIRS, default)


def _describe_node(
    directories: Mapping[str, str],
) -> tuple[str, str, dict[str, str], dict[str, str]]:
    """Return this node's name, what it reports about its machine and each of its interfaces, and its pod."""
    run = partial(finished, environment={**os.environ, **directories}, timeout_s=LINK_TIMEOUT_S)
    links = {device: run(describing_command(device)).stdout for device in interface_traffic()}
    machine = run(machine_command(python=sys.executable)).stdout
    return platform.node(), machine, links, pod_facts(os.environ, platform.node())


def run_on_nodes(
    spark: SparkSession,
    function: Callable[[], T],
    answer_of_node: Callable[[Sequence[T]], T] = itemgetter(-1),
) -> NodeAnswers[T]:
    """Run a function on the driver's node and on each executor's node.

    `answer_of_node` makes a node's answer from its executors' answers. By default the last one counts.
    """
    hosts = {} if is_local(spark) else executor_hosts(spark)
    answers = run_on_executors(spark, hosts, partial(_identified, function))
    host_of_node: dict[str, str] = {}
    values: dict[str, list[T]] = {}
    identities: dict[str, str | None] = dict.fromkeys(hosts)
    silent = {hosts[executor]: reason for executor, reason in answers.silent.items()}
    for executor, (identity, is_known, value) in answers.found.items():
        if is_known:
            values.setdefault(identity, []).append(value)
            host_of_node[identity] = hosts[executor]
            identities[executor] = identity
        else:
            silent[hosts[executor]] = reason_of(str(value))
    found: dict[str, tuple[str, T]] = {}
    for node, host in host_of_node.items():
        found[node] = (host, answer_of_node(values[node]))
    identity, is_known, value = _identified(function)
    if not is_known:
        silent.setdefault(platform.node(), reason_of(str(value)))
    elif identity not in found:  # a node that also has an executor keeps the cluster's name for it
        found[identity] = (platform.node(), value)
    of_executors = {executor: (host, identities[executor]) for executor, host in hosts.items()}
    answering = {host for host, _ in found.values()}
    return NodeAnswers(found, of_executors, without(silent, answering))


def _identified(function: Callable[[], T]) -> tuple[str, bool, Any]:
    """Return the identity of this node, True and the result.

    On a node without Linux or a shell, return an empty identity, False, and why there is no result.
    """
    try:
        return node_identity(), True, function()
    except (OSError, ValueError, IndexError, subprocess.SubprocessError) as error:
        return "", False, f"{type(error).__name__}: {error}"


def run_on_executors(
    spark: SparkSession, hosts: Mapping[str, str], function: Callable[[], T]
) -> ExecutorAnswers[T]:
    """Return the results of `function` on the executors in `hosts`, and why an executor has no result.

    One executor that fails ends the job of all. So the others are asked again without it. The results must be
    of Python's built-in types: an instance of our own classes would come back as an instance of another class
    with the same name.
    """
    silent: dict[str, str] = {}
    asked = dict(hosts)
    while asked:
        answers = _ask(spark, asked, function)
        silent.update(answers.silent)
        if answers.found or not answers.silent:
            return ExecutorAnswers(answers.found, silent)
        asked = without(asked, silent)
    return ExecutorAnswers({}, silent)


def _ask(
    spark: SparkSession, hosts: Mapping[str, str], function: Callable[[], T]
) -> ExecutorAnswers[T]:
    """Ask these executors once, in one job. If it fails, those that made it fail are silent."""
    with outside_trials(spark):
        try:
            job = one_partition_per_executor(spark, hosts).mapPartitions(partial(_call, function))
        except (*SPARK_ERRORS, TypeError) as error:  # other internals of Spark
            return ExecutorAnswers({}, dict.fromkeys(hosts, root_cause(error)))
        try:
            results = job.collect()
        except SPARK_ERRORS as error:
            return ExecutorAnswers({}, _silent_executors(spark, hosts, error))
        ran_on = partition_executors(spark)
    # If an executor is gone, another one has run its partition.
    found = {}
    silent = {}
    for partition, executor in enumerate(hosts):
        if ran_on.get(partition) == executor:
            found[executor] = results[partition]
        else:
            silent[executor] = NO_TASK
    return ExecutorAnswers(found, silent)


def _silent_executors(
    spark: SparkSession, hosts: Mapping[str, str], error: Exception
) -> dict[str, str]:
    """Return which executors failed in the last job, and why. If Spark does not say which, return all."""
    cause = reason_of(root_cause(error))
    try:
        wait_for_events(spark)
        tasks = _tasks_of_last_job(spark)
    except (Py4JError, OSError):
        tasks = []  # Spark has ended
    failed = {}
    for task in tasks:
        executor = str(task.executorId())
        message = task.errorMessage()
        if task.status() == "FAILED" and executor in hosts:
            failed[executor] = reason_of(str(message.get())) if message.isDefined() else cause
    return failed or dict.fromkeys(hosts, cause)


def _call(function: Callable[[], T], _rows: Iterable[str]) -> Iterator[T]:
    yield function()


def one_partition_per_executor(spark: SparkSession, hosts: Mapping[str, str]) -> RDD[str]:
    """Return an RDD with one partition per executor, each with a preference for its executor.

    Spark has such partitions for the receivers of streams; pyspark offers no way to create them.
    """
    jvm = java_packages(spark)
    to_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    partitions = []
    for executor, host in hosts.items():
        preferred = to_seq([f"executor_{host}_{executor}"])
        partitions.append(jvm.scala.Tuple2(executor, preferred))
    tag = getattr(getattr(jvm.scala.reflect, "ClassTag$"), "MODULE$").AnyRef()
    scala_rdd = scala_context(spark).makeRDD(to_seq(partitions), tag)
    java_rdd = jvm.org.apache.spark.api.java.JavaRDD(scala_rdd, tag)
    return RDD(java_rdd, spark.sparkContext, UTF8Deserializer())  # type: ignore[no-untyped-call]


def partition_executors(spark: SparkSession) -> dict[int, str]:
    """Return the executor that ran each partition of the last job outside of trials."""
    tasks = _tasks_of_last_job(spark)
    return {task.index(): str(task.executorId()) for task in tasks if task.status() in _STARTED}


def _tasks_of_last_job(spark: SparkSession) -> list[Any]:
    """Return Spark's facts of every attempt at a task of the last job outside of trials.

    The job has one stage.
    """
    stages = _stages_of_last_job(spark)
    if not stages:
        return []
    [stage] = stages
    return elements(scala_context(spark).statusStore().taskList(stage, 0, 2**31 - 1))


def last_own_stage(spark: SparkSession) -> int:
    """Return the number of the last stage that ran outside of trials; -1 if none did."""
    return max(_stages_of_last_job(spark), default=-1)


def _stages_of_last_job(spark: SparkSession) -> list[int]:
    """Return the numbers of the stages of the last job outside of trials; empty if there was none."""
    # Python would fetch each number from the virtual machine by itself: a run has two jobs a trial.
    numbers = scala_context(spark).statusTracker().getJobIdsForGroup(JOB_GROUP)
    last = java_packages(spark).java.util.Arrays.stream(numbers).max()
    if not last.isPresent():
        return []
    tracker: Any = spark.sparkContext.statusTracker()
    return list(tracker.getJobInfo(last.getAsInt()).stageIds)


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
