"""Looking at the interfaces: the driver's, and each executor's by a task that ran on it and nowhere else."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.session import executor_hosts
from harness.record.network import node_identity
from jobs import network_interfaces
from jobs.network_interfaces import JOB_GROUP, look


def test_in_local_mode_the_drivers_node_is_all_there_is(spark: SparkSession) -> None:
    found = look(spark)
    assert list(found.nodes) == [node_identity()]
    assert found.executors == {}


class TestExecutors:
    """The session's own executor stands for those of a cluster."""

    def seen(self, spark: SparkSession, hosts: dict[str, str]) -> dict[str, str]:
        answers = network_interfaces._seen_by_executors(spark, hosts)
        return {executor: identity for executor, (identity, _) in answers}

    def test_one_that_answers_tells_its_node(self, spark: SparkSession) -> None:
        assert self.seen(spark, executor_hosts(spark)) == {"driver": node_identity()}

    def test_one_that_has_gone_is_not_taken_for_the_one_that_answers_for_it(
        self, spark: SparkSession
    ) -> None:
        assert self.seen(spark, {"17": "gone.example"}) == {}

    def test_one_that_has_no_such_files_is_not_known(
        self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(network_interfaces, "_see", lambda _: iter([None]))
        assert self.seen(spark, executor_hosts(spark)) == {}

    def test_where_spark_cannot_be_asked_none_is_known(
        self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise Py4JError("Method makeRDD does not exist")

        monkeypatch.setattr(network_interfaces, "_one_partition_each", refuse)
        assert self.seen(spark, executor_hosts(spark)) == {}

    def test_the_job_is_told_from_a_trials(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        context.setJobGroup("pi measured 1", "pi measured 1")
        self.seen(spark, executor_hosts(spark))
        assert context.getLocalProperty("spark.jobGroup.id") == "pi measured 1"
        assert context.getLocalProperty("spark.job.description") == "pi measured 1"
        assert list(context.statusTracker().getJobIdsForGroup("pi measured 1")) == []
        assert context.statusTracker().getJobIdsForGroup(JOB_GROUP)
