"""A function runs on each executor, in a task that runs there and nowhere else."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from datagen.spark import executor_hosts
from jobs import executors
from jobs.executors import JOB_GROUP, run_on_executors


def three() -> int:
    return 3


def test_the_result_of_an_executor_is_known_by_its_id(spark: SparkSession) -> None:
    # In local mode, the only executor has the driver's id.
    assert run_on_executors(spark, executor_hosts(spark), three) == {"driver": 3}


def test_the_result_of_another_executor_does_not_count_for_one_that_is_gone(
    spark: SparkSession,
) -> None:
    assert run_on_executors(spark, {"17": "gone.example"}, three) == {}


def test_without_executors_there_are_no_results(spark: SparkSession) -> None:
    assert run_on_executors(spark, {}, three) == {}


def test_a_spark_without_such_partitions_gives_no_results(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Py4JError("Method makeRDD does not exist")

    monkeypatch.setattr(executors, "one_partition_per_executor", refuse)
    assert run_on_executors(spark, executor_hosts(spark), three) == {}


def test_the_job_does_not_belong_to_a_trial(spark: SparkSession) -> None:
    context = spark.sparkContext
    context.setJobGroup("pi measured 1", "pi measured 1")
    run_on_executors(spark, executor_hosts(spark), three)
    assert context.getLocalProperty("spark.jobGroup.id") == "pi measured 1"
    assert context.getLocalProperty("spark.job.description") == "pi measured 1"
    assert list(context.statusTracker().getJobIdsForGroup("pi measured 1")) == []
    assert context.statusTracker().getJobIdsForGroup(JOB_GROUP)
