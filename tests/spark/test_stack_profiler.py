"""The stacks of a real job, asked of the virtual machine that runs it."""

import time
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from harness.analysis.explain.frames import PYTHON_RUNS, PYTHON_WAIT, classes_of
from harness.node.stacks import WORKER_RUNS, WORKER_WAITS
from jobs.spark_event_log import EventLog
from jobs.stack_profiler import StackProfiler
from tests.unit.builders import known


def _sleeping_and_busy(rows: Iterable[int]) -> Iterator[int]:
    time.sleep(1.2)
    end_s = time.process_time() + 1.2
    while time.process_time() < end_s:
        pass
    yield from rows


def test_tasks_are_seen_where_they_are_and_have_their_times(spark: SparkSession) -> None:
    with EventLog(spark) as log:
        profiler = StackProfiler(spark)
        log.begin()
        spark.sparkContext.parallelize(range(2), 2).mapPartitions(_sleeping_and_busy).count()
        log.end()
        profiler.stop()
        read = log.read()
    assert read is not None
    profile = known(profiler.profile(read.spans))
    assert profile.silent == {}
    assert [(group.tasks, len(group.spans)) for group in profile.groups] == [(1, 1)] * 2
    assert all(group.samples and group.lasted_ms[0] > 2_000 for group in profile.groups)
    seen_at = [node for group in profile.groups for node in group.nodes]
    classes = classes_of(profile)
    stacks = profile.stacks()
    assert {PYTHON_RUNS, PYTHON_WAIT} <= {classes[node] for node in seen_at}
    assert {WORKER_RUNS, WORKER_WAITS} <= {stacks[node][-1] for node in seen_at}
