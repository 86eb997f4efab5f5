"""Event logs of real trials attribute the time to the part that is known to have taken it."""

import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from datagen.recipe import Recipe, totals
from harness.model.task_metrics import TaskMetrics, TaskTime
from jobs.spark_event_log import EventLog
from jobs.spark_trial import SparkTrialRunner
from jobs.workload import Context
from jobs.workloads.calc_pi_dataframe import CalcPiDataframe
from jobs.workloads.calc_pi_python_udf import CalcPiPythonUdf
from tests.unit.builders import known, ok

from .conftest import Write

SLEEP_S = 0.5
PARTITIONS = 4


def measure(log: EventLog, action: Callable[[], object]) -> TaskMetrics:
    """Return the metrics of an action."""
    log.begin()
    action()
    log.end()
    read = known(log.read())
    assert read.metrics.incomplete is None
    return read.metrics


def force(frame: DataFrame) -> None:
    frame.write.format("noop").mode("overwrite").save()


def sleeping(spark: SparkSession) -> None:
    """Run Python workers that sleep once per partition."""

    def sleep(batches: Iterable[Any]) -> Iterator[Any]:
        time.sleep(SLEEP_S)
        yield from batches

    force(spark.range(0, PARTITIONS, 1, PARTITIONS).mapInArrow(sleep, "id long"))


def spinning(spark: SparkSession, rows: int = 300_000) -> None:
    """Run a loop in the JVM that neither reads nor writes nor shuffles."""
    digest = F.sha2(F.sha2(F.col("id").cast("string"), 512), 512)
    force(spark.range(0, rows, 1, PARTITIONS).where(digest != ""))


def shuffling(spark: SparkSession) -> None:
    """Shuffle wide random rows."""
    wide = spark.range(0, 100_000, 1, PARTITIONS).select(F.sha2(F.col("id").cast("string"), 512))
    force(wide.repartition(PARTITIONS))


def busiest(time: TaskTime) -> str:
    """Return the part with the most time, except for unattributed time."""
    parts = {k: v for k, v in vars(time).items() if k != "unattributed_s" and v is not None}
    return max(parts, key=parts.__getitem__)


def joining(spark: SparkSession, hint: str) -> DataFrame:
    rows = spark.range(0, 10_000, 1, PARTITIONS).withColumn("key", F.col("id") % 10)
    return rows.join(spark.range(10).withColumnRenamed("id", "key").hint(hint), "key")


class TestPlans:
    def test_a_trial_has_the_plan_that_adaptive_execution_ended_with(
        self, spark: SparkSession, log: EventLog
    ) -> None:
        plans = []
        for hint in ("merge", "merge", "broadcast"):
            spark.sparkContext.setJobGroup("q1", "q1")
            log.begin()
            force(joining(spark, hint))
            log.end()
            plans.append(known(log.read()).plans["q1"])
        merged, again, hashed = plans
        assert merged.digest == again.digest != hashed.digest
        assert "SortMergeJoin" in {each.name for each in merged.operators}
        [join] = [each for each in hashed.operators if "Join" in each.name]
        assert (join.name, join.details) == ("BroadcastHashJoin", "Inner, BuildRight")
        assert not {"AdaptiveSparkPlan", "ShuffleQueryStage"} & {
            each.name for each in merged.operators
        }


class TestKnownParts:
    """Each test warms up, because the first task waits for class loading and for workers to start."""

    def test_a_sleeping_python_worker(self, spark: SparkSession, log: EventLog) -> None:
        sleeping(spark)
        metrics = measure(log, lambda: sleeping(spark))
        slept_s = known(metrics.time.python_worker_s)
        assert slept_s >= 0.9 * PARTITIONS * SLEEP_S
        assert busiest(metrics.time) == "python_worker_s"

    def test_a_sleeping_function_over_an_rdd_has_no_metric(
        self, spark: SparkSession, log: EventLog
    ) -> None:
        def sleep(rows: Iterable[int]) -> Iterator[int]:
            time.sleep(SLEEP_S)
            return iter(rows)

        rdd = spark.sparkContext.range(0, PARTITIONS, numSlices=PARTITIONS).mapPartitions(sleep)
        metrics = measure(log, rdd.count)
        assert metrics.time.python_worker_s is None
        assert metrics.time.unattributed_s >= 0.9 * PARTITIONS * SLEEP_S

    def test_a_busy_loop_in_the_jvm(self, spark: SparkSession, log: EventLog) -> None:
        spinning(spark, rows=1_000)
        metrics = measure(log, lambda: spinning(spark))
        slept = measure(log, lambda: sleeping(spark))
        assert busiest(metrics.time) == "cpu_s"
        assert metrics.time.python_worker_s == 0
        assert metrics.time.cpu_s > 3 * slept.time.cpu_s

    def test_a_shuffle(self, spark: SparkSession, log: EventLog) -> None:
        shuffling(spark)
        before = stages(spark)
        metrics = measure(log, lambda: shuffling(spark))
        new = [stage for id_, stage in stages(spark).items() if id_ not in before]
        without_shuffle = measure(log, lambda: spinning(spark, rows=1_000))
        assert metrics.shuffle_written_bytes > 128 * 100_000 / 2
        assert metrics.shuffle_local_bytes == metrics.shuffle_written_bytes
        assert metrics.shuffle_remote_bytes == 0
        # The write time in Spark's status store includes the time on the CPU.
        write_s = sum(stage.shuffleWriteTime() for stage in new) / 1e9
        assert 0 < metrics.time.shuffle_write_s <= write_s
        assert without_shuffle.time.shuffle_write_s == 0


class TestAgainstSpark:
    def test_all_bytes_that_are_read_of_parquet_are_counted(
        self, spark: SparkSession, log: EventLog, write: Write
    ) -> None:
        dataset = write(Recipe(20_000))
        metrics = measure(log, lambda: force(dataset.frame(spark)))
        assert metrics.input_bytes == pytest.approx(dataset.manifest.bytes, rel=0.1)

    def test_sums_equal_those_of_sparks_status_store(
        self, spark: SparkSession, log: EventLog, tmp_path: Path
    ) -> None:
        """Spark's status store adds up the same events with other code."""
        rows = spark.range(0, 50_000, 1, 3).select(
            "id", F.md5(F.col("id").cast("string")).alias("v")
        )
        rows.write.parquet(str(tmp_path / "rows"))
        before = stages(spark)

        def action() -> None:
            read = spark.read.schema("id long, v string").parquet(str(tmp_path / "rows"))
            counts = read.groupBy(F.substring("v", 1, 2).alias("k")).count()
            joined = read.join(F.broadcast(counts), F.substring("v", 1, 2) == F.col("k"))
            joined.repartition(5, "v").write.parquet(str(tmp_path / "out"))

        metrics = measure(log, action)
        new = [stage for id_, stage in stages(spark).items() if id_ not in before]
        ran = [stage for stage in new if stage.numCompleteTasks()]
        assert len(ran) >= 3
        for sum_in_log, method in (
            (metrics.tasks, "numCompleteTasks"),
            (metrics.input_bytes, "inputBytes"),
            (metrics.output_bytes, "outputBytes"),
            (metrics.shuffle_written_bytes, "shuffleWriteBytes"),
            (metrics.shuffle_local_bytes + metrics.shuffle_remote_bytes, "shuffleReadBytes"),
        ):
            sum_in_store = sum(getattr(stage, method)() for stage in ran)
            assert (method, sum_in_log) == (method, sum_in_store)
            assert sum_in_store > 0
        run_s = sum(stage.executorRunTime() for stage in ran) / 1e3
        time = metrics.time
        assert time.python_worker_s == 0
        attributed_s = time.cpu_s + time.fetch_wait_s + time.shuffle_write_s + time.unattributed_s
        # A task's run time is limited to the time that passed on the driver, in whole milliseconds.
        assert attributed_s == pytest.approx(run_s, abs=0.002 * metrics.tasks)
        cpu_s = sum(stage.executorCpuTime() for stage in ran) / 1e9
        assert 0.5 * cpu_s <= time.cpu_s <= cpu_s

    def test_slots_are_the_cores_of_the_session(self, spark: SparkSession, log: EventLog) -> None:
        assert measure(log, lambda: spark.range(10).collect()).slots == 2


def stages(spark: SparkSession) -> dict[int, Any]:
    """Return Spark's summary of every stage that it remembers."""
    context: Any = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty(60_000)
    store = context._jsc.sc().statusStore()
    nothing: list[str] = []
    no_quantiles = context._gateway.new_array(context._jvm.double, 0)
    listed = store.stageList(nothing, False, False, no_quantiles, nothing)  # noqa: FBT003  Java's
    return {stage.stageId(): stage for stage in map(listed.apply, range(listed.size()))}


class TestStages:
    def test_are_known_by_what_they_did_and_when(self, spark: SparkSession, log: EventLog) -> None:
        started_s = time.time()
        measure(log, lambda: shuffling(spark))
        whole_s = time.time() - started_s
        writing, reading = known(log.read()).stages
        assert (writing.work, reading.work) == ("writes shuffle", "reads shuffle")
        assert 0 <= writing.start_s < writing.end_s <= reading.start_s < reading.end_s <= whole_s

    def test_those_that_read_files_read_data(
        self, spark: SparkSession, log: EventLog, tmp_path: Path
    ) -> None:
        spark.range(0, 1000, 1, 2).write.parquet(str(tmp_path / "rows"))
        rows = spark.read.schema("id long").parquet(str(tmp_path / "rows"))
        measure(log, lambda: force(rows))
        measure(log, lambda: rows.write.parquet(str(tmp_path / "copy")))
        assert [stage.work for stage in known(log.read()).stages] == ["reads data, writes data"]


class TestWhichTasks:
    def test_only_tasks_between_begin_and_end_count(
        self, spark: SparkSession, log: EventLog
    ) -> None:
        spark.sparkContext.range(0, 8, numSlices=7).count()
        metrics = measure(log, spark.sparkContext.range(0, 8, numSlices=3).count)
        spark.sparkContext.range(0, 8, numSlices=5).count()
        assert metrics.tasks == 3
        assert known(log.read()).metrics == metrics

    def test_tasks_of_a_broadcast_which_another_thread_starts_count(
        self, spark: SparkSession, log: EventLog
    ) -> None:
        small = spark.range(0, 10, 1, 3)
        metrics = measure(
            log, lambda: force(spark.range(0, 10, 1, 2).join(F.broadcast(small), "id"))
        )
        assert metrics.tasks == 2 + 3

    def test_failed_tasks_count(self, spark: SparkSession, log: EventLog) -> None:
        def fail() -> None:
            with pytest.raises(PySparkException):
                spark.sparkContext.range(0, 4, numSlices=1).map(lambda n: 1 // n).count()

        assert measure(log, fail).failed_tasks == 1

    def test_a_trial_without_an_end_does_not_affect_the_next(
        self, spark: SparkSession, log: EventLog
    ) -> None:
        log.begin()
        spark.sparkContext.range(0, 8, numSlices=7).count()
        assert measure(log, spark.sparkContext.range(0, 8, numSlices=3).count).tasks == 3

    def test_jobs_outside_the_trial_do_not_count(self, spark: SparkSession, log: EventLog) -> None:
        """Neither those that read the network interfaces nor those that check the answer."""
        empty = spark.createDataFrame([], "value string")
        context = Context(spark, empty, totals(Recipe(0)), 2, pi_samples=1_000, parallelism=2)
        for workload, tasks in ((CalcPiDataframe(), 2 + 1), (CalcPiPythonUdf(), 2)):
            trial = SparkTrialRunner(workload, context, "noop", log).prepare(
                "group", 3, profiled=False, proving=True
            )
            trial.run()
            [observed] = trial.trials(ok(workload.name, 1))
            metrics, wire = observed.tasks, observed.wire
            timeline = known(observed.timeline)
            assert len(timeline.hosts) == 1
            assert metrics is not None
            assert (metrics.tasks, metrics.incomplete) == (tasks, None)
            assert wire is not None
            assert wire.unread == ()


class TestWithoutALog:
    def test_the_trial_continues_and_one_line_gives_the_reason(
        self,
        spark: SparkSession,
        log: EventLog,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        def no_such_class() -> None:
            raise TypeError("'JavaPackage' object is not callable")

        monkeypatch.setattr(log, "_attach", no_such_class)
        for _ in range(2):
            log.begin()
            log.end()
            assert log.read() is None
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        assert printed.startswith("where the time went is not recorded: 'JavaPackage' object")
