"""The stacks of a real job, asked of the virtual machine that runs it."""

import time
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from jobs.stack_profiler import StackProfiler


def _sleeping(rows: Iterable[int]) -> Iterator[int]:
    time.sleep(2)
    yield from rows


def test_tasks_are_seen_where_they_are(spark: SparkSession) -> None:
    profiler = StackProfiler.start(spark)
    spark.sparkContext.parallelize(range(2), 2).mapPartitions(_sleeping).count()
    seen = profiler.stop()
    assert seen is not None
    profile = seen.profile([])
    assert profile.silent == {}
    assert sum(group.tasks for group in profile.groups) == 2
    waiting = {node for group in profile.groups for node in group.nodes}
    assert any(
        "org.apache.spark.api.python." in frame
        for node in waiting
        for frame in profile.stacks()[node]
    )
