"""Asking executors: each by a task that ran on it and nowhere else."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark.session import executor_hosts
from jobs import executors
from jobs.executors import JOB_GROUP, run_on_executors


def three() -> int:
    return 3


class TestExecutors:
    """The session's own executor stands for those of a cluster."""

    def test_one_that_answers_is_known_by_its_id(self, spark: SparkSession) -> None:
        assert run_on_executors(spark, executor_hosts(spark), three) == {"driver": 3}

    def test_one_that_has_gone_is_not_taken_for_the_one_that_answers_for_it(
        self, spark: SparkSession
    ) -> None:
        assert run_on_executors(spark, {"17": "gone.example"}, three) == {}

    def test_without_any_nothing_is_asked(self, spark: SparkSession) -> None:
        assert run_on_executors(spark, {}, three) == {}

    def test_where_spark_cannot_be_asked_none_answers(
        self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object) -> None:
            raise Py4JError("Method makeRDD does not exist")

        monkeypatch.setattr(executors, "one_partition_each", refuse)
        assert run_on_executors(spark, executor_hosts(spark), three) == {}

    def test_the_job_is_told_from_a_trials(self, spark: SparkSession) -> None:
        context = spark.sparkContext
        context.setJobGroup("pi measured 1", "pi measured 1")
        run_on_executors(spark, executor_hosts(spark), three)
        assert context.getLocalProperty("spark.jobGroup.id") == "pi measured 1"
        assert context.getLocalProperty("spark.job.description") == "pi measured 1"
        assert list(context.statusTracker().getJobIdsForGroup("pi measured 1")) == []
        assert context.statusTracker().getJobIdsForGroup(JOB_GROUP)
