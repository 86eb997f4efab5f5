"""Where the time went, as recorded by a real run on a cluster."""

import shutil
from pathlib import Path

import pytest

from harness.model.run import RecordedRun, Status
from harness.model.task_metrics import TaskMetrics

from .benchmarks import recorded
from .conftest import Cluster, Spark

COMMON = """
import time
from pyspark.sql import functions as F
from jobs.workload import Bottleneck, Workload, expect

TASKS = 6
SLEEP_S = 0.4

def nap(row):
    time.sleep(SLEEP_S)
    return row

class KnownPart:
    bottleneck = Bottleneck.CPU
    reads_data = False
    def observe(self, context):
        return {"rows": F.count("*")}
"""
SLEEPING = """
class Sleeping(KnownPart, Workload):
    name = "sleeping"
    def frame(self, context):
        rows = context.spark.range(0, TASKS, 1, TASKS)
        return rows.select(F.udf(nap, "long", useArrow=False)("id"))
    def check(self, answer, context):
        expect("rows", answer["rows"], TASKS)
"""
SPINNING = """
class Spinning(KnownPart, Workload):
    name = "spinning"
    def frame(self, context):
        rows = context.spark.range(0, 600_000, 1, TASKS)
        return rows.where(F.sha2(F.sha2(F.col("id").cast("string"), 512), 512) != "")
    def check(self, answer, context):
        expect("rows", answer["rows"], 600_000)
"""
SHUFFLING = """
class Shuffling(KnownPart, Workload):
    name = "shuffling"
    def frame(self, context):
        rows = context.spark.range(0, 100_000, 1, 32)
        return rows.select(F.sha2(F.col("id").cast("string"), 512)).repartition(TASKS)
    def check(self, answer, context):
        expect("rows", answer["rows"], 100_000)
"""
SLEPT_S = 6 * 0.4


@pytest.fixture(scope="module")
def known_parts(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout with workloads that spend their time in known parts."""
    copy = tmp_path_factory.mktemp("known") / "clusterlift"
    shutil.copytree(checkout, copy)
    for name, text in (("sleeping", SLEEPING), ("spinning", SPINNING), ("shuffling", SHUFFLING)):
        (copy / f"jobs/workloads/{name}.py").write_text(COMMON + text)
    return copy


@pytest.fixture(scope="module")
def run(
    spark: Spark, cluster: Cluster, known_parts: Path, tmp_path_factory: pytest.TempPathFactory
) -> RecordedRun:
    """A run on a cluster that fetches one block at a time, so that tasks wait for each block.

    It leaves no temporary file.
    """
    directory = tmp_path_factory.mktemp("run")
    temporary, conf_dir = directory / "tmp of %7e", directory / "conf"
    temporary.mkdir()
    conf_dir.mkdir()
    (conf_dir / "spark-defaults.conf").write_text("spark.reducer.maxSizeInFlight 1k\n")
    spark.submit(
        *(known_parts / "jobs/benchmark.py", "--workloads", "sleeping,spinning,shuffling"),
        *("--trials", 1, "--warmup", 1, "--pi-samples", 20_000),
        cwd=directory,
        master=cluster.url,
        env={"TMPDIR": str(temporary), "SPARK_CONF_DIR": str(conf_dir)},
    )
    assert not list(temporary.glob("clusterlift-*"))
    run = recorded(directory / "results")
    assert all(trial.status is Status.OK for trial in run.trials)
    return run


def metrics(run: RecordedRun) -> dict[str, TaskMetrics]:
    """Return the task metrics of the last trial of each workload."""
    found = {trial.workload: trial.tasks for trial in run.trials}
    assert None not in found.values()
    return {workload: tasks for workload, tasks in found.items() if tasks}


class TestOnACluster:
    def test_the_time_is_attributed_to_the_part_that_took_it(self, run: RecordedRun) -> None:
        found = metrics(run)
        sleeping, spinning, shuffling = (found[name] for name in run.run.workloads)
        slept_s = sleeping.time.python_worker_s
        assert slept_s is not None
        assert slept_s >= 0.9 * SLEPT_S
        assert spinning.time.cpu_s > 3 * sleeping.time.cpu_s
        assert (spinning.time.python_worker_s, shuffling.time.python_worker_s) == (0, 0)
        assert shuffling.time.fetch_wait_s > 0
        assert shuffling.shuffle_remote_bytes > 128 * 100_000 / 8
        for metrics_without_shuffle in (sleeping, spinning):
            assert metrics_without_shuffle.time.fetch_wait_s == 0
            assert metrics_without_shuffle.shuffle_remote_bytes == 0

    def test_all_shuffled_bytes_are_read_locally_or_remotely(self, run: RecordedRun) -> None:
        shuffling = metrics(run)["shuffling"]
        read = shuffling.shuffle_local_bytes + shuffling.shuffle_remote_bytes
        assert read == shuffling.shuffle_written_bytes

    def test_the_slots_are_the_cores_of_the_executors(self, run: RecordedRun) -> None:
        assert {tasks.slots for tasks in metrics(run).values()} == {2}
        assert all(tasks.incomplete is None for tasks in metrics(run).values())

    def test_a_network_that_the_workers_share_counts_once(self, run: RecordedRun) -> None:
        for trial in run.trials:
            assert trial.wire is not None
            assert len(trial.wire.nodes) == 1
            assert trial.wire.unread == ()
