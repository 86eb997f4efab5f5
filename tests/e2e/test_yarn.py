"""Runs on a real YARN with data on HDFS, from a checkout that no process of the cluster can see.

The command that submits has a file system of its own mounted where its checkout is: to the ResourceManager,
the NodeManagers and their containers, that directory is empty. Their Python has pyspark and no other package.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.minicluster.cluster import Cluster
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.lifecycle import running
from harness.model.run import Ending, RecordedRun, Status
from harness.records.directories import results_files
from harness.records.reader import load
from tests.jvm import COLD_JVM
from tests.unit.builders import known

from .conftest import Completed, Spark, completed
from .yarn import YarnCluster, node_name

ROWS = 2_000
# A NodeManager does not hand JAVA_TOOL_OPTIONS on to its containers.
CONTAINERS = ("spark.executor", "spark.driver", "spark.yarn.am")
CLIENT = (
    *("--master", "yarn", "--conf", "spark.ui.enabled=false"),
    *("--conf", "spark.sql.shuffle.partitions=4", "--conf", "spark.executor.instances=1"),
    *(word for jvm in CONTAINERS for word in ("--conf", f"{jvm}.extraJavaOptions={COLD_JVM}")),
)
ON_NODE = (*CLIENT, "--deploy-mode", "cluster")
LITTLE = (
    "--workloads",
    "group-by,calc-pi-dataframe",
    "--trials",
    "1",
    "--warmup",
    "0",
    "--proof",
    "trials",
)
MOUNTED = 'mount -t tmpfs tmpfs "$0" && cp -R "$1/." "$0" && shift && exec "$@"'

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount file systems")


@dataclass(frozen=True)
class Yarn:
    """A YARN and its HDFS, and a machine that submits to it."""

    spark: Spark
    files: Cluster
    cluster: Cluster
    environment: Mapping[str, str]
    checkout: Path
    mounted: Path

    @property
    def dataset(self) -> str:
        return f"{self.files.uri}/rows"

    def command(self, *command: object) -> list[str]:
        """Return a command that finds the checkout where no other process does."""
        submit = ["unshare", "--mount", "sh", "-c", MOUNTED, self.mounted, self.checkout]
        return [str(word) for word in (*submit, *command)]

    def submit(self, *arguments: object, cwd: Path) -> Completed:
        """Make one run by `clusterlift run` of the mounted checkout."""
        python = ("env", f"PYTHONPATH={self.mounted}", sys.executable, "-m", "harness")
        return self._done(self.command(*python, "run", "--runs", "1", *arguments), cwd, 0)

    def spark_submit(self, *arguments: object, cwd: Path, code: int = 0) -> Completed:
        program = self.spark.home / "bin/spark-submit"
        return self._done(self.command(program, *arguments), cwd, code)

    def _done(self, command: Sequence[str], cwd: Path, code: int) -> Completed:
        return completed(command, cwd, self.environment, code)

    def containers_log(self, stream: str) -> str:
        """Return what all containers printed until now."""
        logs = self.cluster.directory.glob(f"log/*/*/{stream}")
        return "".join(log.read_text(errors="replace") for log in logs)


@pytest.fixture(scope="module")
def yarn(spark: Spark, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    mounted = tmp_path_factory.mktemp("mounted")
    environment = spark.environment(SPARK_HOME=str(spark.home))
    with pytest.MonkeyPatch.context() as patch:
        # The nodes' Python is the plain one, too.
        for name in ("SPARK_HOME", "PATH", "JAVA_TOOL_OPTIONS"):
            patch.setenv(name, environment[name])
        patch.delenv("PYTHONPATH", raising=False)
        with (
            running(HdfsCluster(), 1) as files,
            running(service := YarnCluster(files), 1) as cluster,
        ):
            clients = {
                **environment,
                **service.client_environment(cluster),
                "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache")),
            }
            del clients["PYSPARK_PYTHON"]
            made = Yarn(spark, files, cluster, clients, checkout, mounted)
            generate = (*CLIENT, mounted / "datagen/generate.py", made.dataset, "--rows", ROWS)
            made.spark_submit(*generate, cwd=mounted.parent)
            yield made


def recorded(directory: Path) -> RecordedRun:
    """Return the only run of the default configuration."""
    [file] = results_files(directory / "results/default")
    return load(file)


def test_client_mode(yarn: Yarn, tmp_path: Path) -> None:
    yarn.submit(*CLIENT, "--", "--dataset", yarn.dataset, *LITTLE, cwd=tmp_path)
    assert not list(yarn.mounted.iterdir())
    run = recorded(tmp_path)
    facts: Any = run.run.environment
    assert run.ending is Ending.COMPLETED
    assert [trial.status for trial in run.trials] == [Status.OK] * 2
    assert facts["master"] == "yarn"
    assert facts["spark_conf"]["spark.submit.deployMode"] == "client"
    assert facts["application"].startswith("application_")
    assert facts["executors"] == [node_name()]
    assert known(run.run.dataset)["uri"] == yarn.dataset
    for trial in run.trials:
        assert trial.tasks is not None
        [node] = known(trial.interference)
        # What the containers used is not what others used.
        assert known(node.others_s) < known(node.busy_s)


@pytest.mark.parametrize("script", ["jobs/benchmark.py", "datagen/generate.py"])
def test_a_script_on_a_node_refuses_in_one_line(script: str, yarn: Yarn, tmp_path: Path) -> None:
    only = (*ON_NODE, "--conf", "spark.yarn.maxAppAttempts=1", yarn.mounted / script)
    yarn.spark_submit(*only, "hdfs:/x", cwd=tmp_path, code=1)
    program = Path(script).name
    log = yarn.containers_log("stdout") + yarn.containers_log("stderr")
    assert log.count(f"{program}: error: submit without --deploy-mode cluster") == 1
