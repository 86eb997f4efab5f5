"""All tests of this directory share one Spark session."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

import jobs
from datagen.dataset import Dataset
from datagen.manifest import Format
from datagen.recipe import Recipe
from datagen.spark import start_session
from datagen.writer import Request, write_dataset
from harness.minicluster.cluster import Cluster
from harness.minicluster.qfs_home import qfs_home
from harness.minicluster.s3a import s3a_class_path
from harness.model.layout import Layout
from harness.model.run import RecordedRun
from harness.records.reader import load
from harness.trials import loop
from jobs.measuring import benchmark
from jobs.options import parse
from jobs.spark_event_log import EventLog
from tests.jvm import COLD_SPARK

Write = Callable[..., Dataset]
RunOn = Callable[..., RecordedRun]
CLUSTER_ROWS = 20_000


@pytest.fixture(scope="session")
def spark(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SparkSession]:
    warehouse = tmp_path_factory.mktemp("warehouse")
    confs = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(warehouse),
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    if "QFS_HOME" in os.environ:
        confs |= qfs_home().spark_properties()
    # With another class path, a JVM cannot use what `make classes` wrote.
    with_daemons = any(item.get_closest_marker("daemons") for item in request.session.items)
    if with_daemons and shutil.which("ceph-osd"):
        paths = [confs.get("spark.driver.extraClassPath"), s3a_class_path()]
        confs["spark.driver.extraClassPath"] = ":".join(filter(None, paths))
    options = " ".join(f"--conf {key}={value}" for key, value in confs.items())
    # Each trial asks for a collection of garbage: here, a quarter of the work, which changes no result.
    os.environ["SPARK_SUBMIT_OPTS"] = f"{COLD_SPARK} -XX:+DisableExplicitGC"
    os.environ["PYSPARK_PYTHON"] = sys.executable  # the workers need pandas, too
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--master local[2] {options} pyspark-shell"
    session = start_session("clusterlift tests", jobs)
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def one_execution(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a trial of a moment execute its workload once: with this little data, it would be ten times."""
    monkeypatch.setattr(loop, "MIN_TRIAL_S", 0.001)


@pytest.fixture
def log(spark: SparkSession) -> Iterator[EventLog]:
    """The event log of the test's trials."""
    with EventLog(spark) as log:
        yield log
        log.end()


@pytest.fixture
def write(spark: SparkSession, tmp_path: Path) -> Write:
    """A function that writes a dataset into the test's own directory."""

    def write(
        recipe: Recipe,
        partitions: int = 2,
        format_: Format | None = None,
        name: str = "dataset",
        **options: Any,
    ) -> Dataset:
        uri = str(tmp_path / name)
        return write_dataset(spark, Request(uri, recipe, format_, partitions, **options))

    return write


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB, which has space for a dataset of 600 kB and not for another one."""
    directory = tmp_path / "small disk"
    directory.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(directory)]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("a file system of 1 MB can be mounted by root alone")
    yield directory
    subprocess.run(["umount", "-l", directory], check=True)


@pytest.fixture
def uri(cluster: Cluster) -> str:
    """A directory of the test's own on the cluster of its module, which does not exist yet."""
    return f"{cluster.uri}/bench/{uuid4()}"


@pytest.fixture
def write_layout(spark: SparkSession, uri: str) -> Write:
    """A function that writes a dataset in a layout to `uri`."""

    def write(
        layout: str | None, rows: int = CLUSTER_ROWS, files: int = 3, **options: Any
    ) -> Dataset:
        requested = None if layout is None else Layout.parse(layout)
        options = {"patience_s": 30, **options}
        request = Request(uri, Recipe(rows), None, files, layout=requested, **options)
        return write_dataset(spark, request)

    return write


@pytest.fixture
def run_on(spark: SparkSession, tmp_path: Path) -> RunOn:
    """A function that runs a round of workloads on a dataset, and returns what is recorded."""

    def run_on(
        dataset: Dataset, workloads: str, *options: str, code: int = 0, named: bool = True
    ) -> RecordedRun:
        results = tmp_path / "results"
        arguments = ["--dataset", dataset.uri, "--results", str(results), "--repartition", "3"]
        arguments += ["--workloads" if named else "--default-workloads", workloads]
        arguments += ["--trials", "1", "--warmup", "0", "--proof", "trials", *options]
        assert benchmark(spark, parse(arguments)) == code
        [file] = results.glob("default/*.jsonl")
        return load(file)

    return run_on
