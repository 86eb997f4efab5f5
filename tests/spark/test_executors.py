"""A function runs on each executor, in a task that runs there and nowhere else; so nodes are described."""

import os
import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import executor_hosts, is_local
from harness.node.namespaces import node_identity
from harness.node.traffic import interface_traffic
from jobs import executors
from jobs.executors import (
    JOB_GROUP,
    NO_TASK,
    ExecutorAnswers,
    NodeAnswers,
    describe_nodes,
    nodes_snapshot,
    run_on_executors,
)
from tests.unit.builders import known


def three() -> int:
    return 3


def test_the_result_of_an_executor_is_known_by_its_id(spark: SparkSession) -> None:
    # In local mode, the only executor has the driver's id.
    assert run_on_executors(spark, executor_hosts(spark), three).found == {"driver": 3}


def test_the_result_of_another_executor_does_not_count_for_one_that_is_gone(
    spark: SparkSession,
) -> None:
    answers = run_on_executors(spark, {"17": "gone.example"}, three)
    assert answers == ExecutorAnswers({}, {"17": NO_TASK})


def test_a_spark_without_such_partitions_gives_no_results_and_says_why(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Py4JError("Method makeRDD does not exist")

    monkeypatch.setattr(executors, "one_partition_per_executor", refuse)
    answers = run_on_executors(spark, executor_hosts(spark), three)
    assert answers == ExecutorAnswers({}, {"driver": "Method makeRDD does not exist"})


def test_an_executor_whose_task_fails_is_silent_for_the_reason_of_the_task(
    spark: SparkSession,
) -> None:
    def refuse() -> int:
        raise PermissionError("/proc/stat: Permission denied")

    answers = run_on_executors(spark, executor_hosts(spark), refuse)
    assert answers.found == {}
    assert answers.silent == {"driver": "PermissionError: /proc/stat: Permission denied"}


def test_a_node_without_linux_is_silent_and_not_absent(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> str:
        raise FileNotFoundError(2, "No such file or directory", "/proc/sys/kernel/random/boot_id")

    monkeypatch.setattr(executors, "node_identity", refuse)
    snapshot = nodes_snapshot(spark, with_samples=False)
    assert snapshot.nodes == {}
    [(host, reason)] = snapshot.silent.items()
    assert host == platform.node()
    assert "boot_id" in reason


def test_the_job_does_not_belong_to_a_trial(spark: SparkSession) -> None:
    context = spark.sparkContext
    context.setJobGroup("pi measured 1", "pi measured 1")
    run_on_executors(spark, executor_hosts(spark), three)
    assert context.getLocalProperty("spark.jobGroup.id") == "pi measured 1"
    assert context.getLocalProperty("spark.job.description") == "pi measured 1"
    assert list(context.statusTracker().getJobIdsForGroup("pi measured 1")) == []
    assert context.statusTracker().getJobIdsForGroup(JOB_GROUP)


def test_in_local_mode_only_the_drivers_node_is_read(spark: SparkSession) -> None:
    snapshot = nodes_snapshot(spark, with_samples=False)
    assert list(snapshot.nodes) == [node_identity()]
    assert snapshot.executors == {}


def test_the_snapshot_after_a_trial_has_what_was_sampled_since_the_one_before(
    spark: SparkSession,
) -> None:
    before = nodes_snapshot(spark, with_samples=False)
    after = nodes_snapshot(spark, with_samples=True)
    [node] = after.nodes.values()
    times_s = [known(sample[0]) / 1e9 for sample in node.samples]
    assert before.asked_s <= times_s[0] <= before.answered_s
    assert after.asked_s <= times_s[-1] <= after.answered_s
    assert [each.samples for each in before.nodes.values()] == [[]]


def test_machines_are_described_and_links_for_the_interfaces_whose_bytes_are_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    nodes = describe_nodes(spark, str(tmp_path))
    [(host, links)] = nodes.links.items()
    assert host == platform.node()
    assert nodes.names == {}
    assert nodes.machines[host]["kernel"] == f"{platform.system()} {platform.release()}"
    assert nodes.machines[host]["cpus"] == str(os.cpu_count())
    assert nodes.machines[host]["local_dirs"]
    assert nodes.machines[host]["data_dir"]
    assert list(links) == list(interface_traffic())
    for name, link in links.items():
        assert (link.host, link.device) == (host, name)
        assert link.mtu_bytes
        assert link.counters
        assert link.sysctls["net.ipv4.tcp_congestion_control"]


def with_master(master: str) -> Any:
    return SimpleNamespace(sparkContext=SimpleNamespace(master=master))


def test_a_node_has_its_own_name_beside_the_address_that_the_cluster_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts = {"172.18.0.2": "n1", "n2": "n2", "172.18.0.4": f"\x1b[2J{80 * 'n'}", "172.18.0.5": ""}
    answers: dict[str, Any] = {host: (host, (name, "", {}, {})) for host, name in hosts.items()}
    of_executors: dict[str, Any] = {f"executor of {host}": (host, host) for host in hosts}
    of_executors["without an answer"] = ("172.18.0.9", None)
    of_executors["at another address"] = ("172.18.1.2", "172.18.0.2")
    found = NodeAnswers(answers, of_executors, {"172.18.0.9": NO_TASK})
    monkeypatch.setattr(executors, "run_on_nodes", lambda *_: found)
    nodes = describe_nodes(with_master("spark://localhost:7077"))
    assert nodes.names == {
        "172.18.0.2": "n1",
        "172.18.1.2": "n1",
        "172.18.0.4": rf"\x1b[2J{57 * 'n'}",
    }
    assert nodes.silent == {"172.18.0.9": NO_TASK}


def test_two_nodes_may_have_one_name_and_the_same_facts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as containers of one machine that have its name."""
    facts: Any = ("", "", {"eth0": ""}, {})
    answers = {f"boot net:[{number}]": ("node-1", facts) for number in (1, 2)}
    monkeypatch.setattr(executors, "run_on_nodes", lambda *_: NodeAnswers(answers, {}, {}))
    nodes = describe_nodes(with_master("spark://localhost:7077"))
    assert nodes.links == {"node-1": {}}
    assert nodes.silent["node-1"].startswith("eth0: ")


@pytest.mark.parametrize("master", ["local", "local[2]", "local[*]", "local[2,4]"])
def test_in_local_mode_the_driver_is_the_executor(master: str) -> None:
    assert is_local(with_master(master))
    assert not is_local(with_master(master.replace("local", "local-cluster")))
    assert not is_local(with_master("spark://localhost:7077"))
