"""The stacks of a real job, asked of the virtual machine that runs it."""

import time
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from jobs.spark_event_log import EventLog
from jobs.stack_profiler import StackProfiler


def _sleeping(rows: Iterable[int]) -> Iterator[int]:
    time.sleep(2)
    yield from rows


def test_tasks_are_seen_where_they_are_and_have_their_times(spark: SparkSession) -> None:
    with EventLog(spark) as log:
        profiler = StackProfiler.start(spark)
        log.begin()
        spark.sparkContext.parallelize(range(2), 2).mapPartitions(_sleeping).count()
        log.end()
        seen, read = profiler.stop(), log.read()
    assert seen is not None
    assert read is not None
    profile = seen.profile(read.spans)
    assert profile.silent == {}
    assert [(group.tasks, len(group.spans)) for group in profile.groups] == [(1, 1)] * 2
    assert all(group.samples and group.lasted_ms[0] > 2_000 for group in profile.groups)
    waiting = {node for group in profile.groups for node in group.nodes}
    assert any(
        "org.apache.spark.api.python." in frame
        for node in waiting
        for frame in profile.stacks()[node]
    )
