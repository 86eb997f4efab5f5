"""Runs on a real YARN with data on HDFS, from a checkout that no process of the cluster can see.

The command that submits has a file system of its own mounted where its checkout is: to the ResourceManager,
the NodeManagers and their containers, that directory is empty. Their Python has pyspark and no other package.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.local_spark import packages_archive
from harness.minicluster.cluster import Cluster, find_all
from harness.minicluster.hadoop import answer_of
from harness.minicluster.hdfs import HdfsCluster
from harness.minicluster.hdfs import web_address as hdfs_address
from harness.minicluster.lifecycle import running
from harness.minicluster.yarn import YarnCluster, hdfs_properties
from harness.minicluster.yarn import web_address as yarn_address
from harness.model.run import Ending, RecordedRun, Status
from harness.records.directories import results_files
from harness.records.reader import load
from harness.runtime.cluster_mode import LEASE_S
from jobs.collect import GRACE_S
from jobs.outbox import CHECK_S
from tests.jvm import COLD_JVM
from tests.other_user import can_be_reached
from tests.waiting import eventually

from .conftest import ROOT, TIMEOUT_S, Completed, Spark, completed, own_lines

ROWS = 2_000
# A NodeManager does not hand JAVA_TOOL_OPTIONS on to its containers.
CONTAINERS = ("spark.executor", "spark.driver", "spark.yarn.am")
CLIENT = (
    *("--master", "yarn", "--conf", "spark.ui.enabled=false"),
    *("--conf", "spark.sql.shuffle.partitions=4"),
    *(word for jvm in CONTAINERS for word in ("--conf", f"{jvm}.extraJavaOptions={COLD_JVM}")),
)
ON_NODE = (*CLIENT, "--deploy-mode", "cluster")
LITTLE = ("--workloads", "group-by,calc-pi-dataframe", "--trials", "1", "--warmup", "0")
ENDLESS = ("--workloads", "sha-512", "--trials", "10000", "--warmup", "0")
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
        """Return a command that finds the checkout where nobody else does."""
        submit = ["unshare", "--mount", "sh", "-c", MOUNTED, self.mounted, self.checkout]
        return [str(word) for word in (*submit, *command)]

    def run_command(self, *arguments: object) -> list[str]:
        """Return `clusterlift run` of the mounted checkout."""
        python = ("env", f"PYTHONPATH={self.mounted}", sys.executable, "-m", "harness")
        return self.command(*python, "run", "--runs", "1", *arguments)

    def submit(self, *arguments: object, cwd: Path, code: int = 0) -> Completed:
        """Make one run, and expect this exit code."""
        return self._done(self.run_command(*arguments), cwd, code)

    def spark_submit(self, *arguments: object, cwd: Path, code: int = 0) -> Completed:
        program = self.spark.home / "bin/spark-submit"
        return self._done(self.command(program, *arguments), cwd, code)

    def _done(self, command: Sequence[str], cwd: Path, code: int) -> Completed:
        return completed(command, cwd, self.environment, code)

    def active_applications(self) -> int:
        answer = answer_of(f"{yarn_address(self.cluster)}/ws/v1/cluster/metrics")
        metrics = answer["clusterMetrics"]
        return int(metrics["appsRunning"]) + int(metrics["appsPending"])

    def left_behind(self) -> list[str]:
        """Return what is in the home directory on HDFS."""
        user = psutil.Process().username()
        answer = answer_of(f"{hdfs_address(self.files)}/webhdfs/v1/user/{user}?op=LISTSTATUS")
        entries = answer["FileStatuses"]["FileStatus"]
        return [entry["pathSuffix"] for entry in entries if entry["pathSuffix"] != ".sparkStaging"]

    def containers_log(self, stream: str) -> str:
        """Return what all containers printed until now."""
        logs = self.cluster.logs.glob(f"*-containers/*/*/{stream}")
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
            running(HdfsCluster(hdfs_properties()), 2) as files,
            running(service := YarnCluster(files), 2) as cluster,
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


def check_facts(run: RecordedRun, yarn: Yarn, mode: str) -> None:
    facts: Any = run.run.environment
    assert run.ending is Ending.COMPLETED
    assert [trial.status for trial in run.trials] == [Status.OK] * 2
    assert facts["master"] == "yarn"
    assert facts["spark_conf"]["spark.submit.deployMode"] == mode
    assert facts["application"].startswith("application_")
    host = hdfs_properties()["dfs.datanode.hostname"]
    assert facts["executors"] == [host] * 2
    assert run.run.dataset is not None
    assert run.run.dataset["uri"] == yarn.dataset
    for trial in run.trials:
        assert trial.tasks is not None
        assert trial.interference is not None
        [node] = trial.interference
        # What the containers used is not what others used.
        assert node.busy_s is not None
        assert node.others_s is not None
        assert node.others_s < node.busy_s


def test_client_mode(yarn: Yarn, tmp_path: Path) -> None:
    yarn.submit(*CLIENT, "--", "--dataset", yarn.dataset, *LITTLE, cwd=tmp_path)
    check_facts(recorded(tmp_path), yarn, "client")
    assert not list(yarn.mounted.iterdir())


@pytest.mark.smoke
def test_cluster_mode_brings_the_results_here_and_leaves_nothing_there(
    yarn: Yarn, tmp_path: Path
) -> None:
    arguments = (*ON_NODE, "--", "--dataset", yarn.dataset, *LITTLE)
    done = yarn.submit(*arguments, cwd=tmp_path)
    run = recorded(tmp_path)
    check_facts(run, yarn, "cluster")
    assert Path(run.source).is_relative_to(tmp_path)
    lines = done.stdout.splitlines()
    assert lines[-1] == f"results: results/default/{Path(run.source).name}"
    assert "[1/2] group-by" in done.stdout
    assert yarn.left_behind() == []
    again = yarn.submit(*arguments, cwd=tmp_path)
    assert again.stdout.startswith("default has 1 complete run with these arguments")


@pytest.mark.parametrize("mode", [CLIENT, ON_NODE], ids=["client", "cluster"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--trials", "no"), "benchmark.py: error: argument --trials: 'no' is not a whole number"),
        (("--dataset", "/no/such"), "benchmark.py: error: hdfs://"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    mode: tuple[str, ...],
    arguments: tuple[str, ...],
    message: str,
    yarn: Yarn,
    tmp_path: Path,
) -> None:
    done = yarn.submit(*mode, "--", *arguments, cwd=tmp_path, code=2)
    [line] = [line for line in own_lines(done) if "error" in line]
    assert line.startswith(message)
    assert not list(tmp_path.rglob("*.jsonl"))
    assert yarn.left_behind() == []


def test_a_failed_trial_is_exit_code_1_and_kept(yarn: Yarn, tmp_path: Path) -> None:
    """Here because the executors have no such Python."""
    pythons = ("spark.pyspark.python=/no/such", "spark.pyspark.driver.python=python3")
    confs = [word for python in pythons for word in ("--conf", python)]
    two = ("--workloads", "calc-pi-python-udf,calc-pi-dataframe", *LITTLE[2:])
    yarn.submit(*ON_NODE, *confs, "--", *two, cwd=tmp_path, code=1)
    run = recorded(tmp_path)
    assert run.ending is Ending.COMPLETED
    assert {trial.workload: trial.status for trial in run.trials} == {
        "calc-pi-python-udf": Status.FAILED,
        "calc-pi-dataframe": Status.OK,
    }


@pytest.mark.parametrize("script", ["jobs/benchmark.py", "datagen/generate.py"])
def test_without_its_packages_a_script_refuses_in_one_line(
    script: str, yarn: Yarn, tmp_path: Path
) -> None:
    only = (*ON_NODE, "--conf", "spark.yarn.maxAppAttempts=1", yarn.mounted / script)
    yarn.spark_submit(*only, "hdfs:/x", cwd=tmp_path, code=1)
    program = Path(script).name
    log = yarn.containers_log("stdout") + yarn.containers_log("stderr")
    lines = [line for line in log.splitlines() if line.startswith(f"{program}: error: this node")]
    assert len(lines) == 1
    assert "--deploy-mode client" in lines[0]


def test_generate_runs_on_a_node_with_its_packages(yarn: Yarn, tmp_path: Path) -> None:
    uri, archive = f"{yarn.files.uri}/on-a-node", tmp_path / "packages.zip"
    make = (sys.executable, "-m", "zipfile", "-c", archive, "datagen", "harness")
    subprocess.run(make, cwd=yarn.checkout, check=True)
    files = ("--py-files", archive)
    generate = (*ON_NODE, *files, yarn.mounted / "datagen/generate.py", uri, "--rows", ROWS)
    yarn.spark_submit(*generate, cwd=tmp_path)
    yarn.submit(*CLIENT, "--", "--dataset", uri, *LITTLE, cwd=tmp_path)


def test_the_benchmark_alone_does_not_lose_its_results_on_a_node(
    yarn: Yarn, tmp_path: Path
) -> None:
    script = ("--py-files", packages_archive(), yarn.mounted / "jobs/benchmark.py")
    yarn.spark_submit(*ON_NODE, *script, *LITTLE, cwd=tmp_path, code=1)
    log = yarn.containers_log("stdout")
    assert "--results results: with --deploy-mode cluster, this is on a node" in log


class Running:
    """A run on a node that would take days, in a session of its own, with at least one trial."""

    def __init__(self, yarn: Yarn, directory: Path) -> None:
        self.yarn, self._directory = yarn, directory
        self.process = subprocess.Popen(
            yarn.run_command(*ON_NODE, "--", "--dataset", yarn.dataset, *ENDLESS),
            cwd=directory,
            env=dict(yarn.environment),
            stdout=(directory / "log").open("wb"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        eventually(self.has_trials, "no trial arrived", TIMEOUT_S)

    def has_trials(self) -> bool:
        assert self.process.poll() is None, (self._directory / "log").read_text()
        files = list(self._directory.glob("results/*/*.jsonl"))
        return bool(files) and len(files[0].read_text().splitlines()) > 2

    def collectors(self) -> list[psutil.Process]:
        """Return the processes of this run that fetch results."""
        return [
            process
            for process in psutil.process_iter(["cmdline"])
            if str(self.yarn.mounted / "jobs/collect.py") in (process.info["cmdline"] or ())
        ]

    def await_end(self, seconds: float) -> RecordedRun:
        """Wait until YARN has no application any more; return what was recorded."""
        self.process.wait(timeout=TIMEOUT_S)
        eventually(lambda: not self.yarn.active_applications(), "it goes on", seconds)
        eventually(lambda: not self.collectors(), "the collector goes on", seconds)
        assert self.yarn.left_behind() == []
        return recorded(self._directory)


@pytest.fixture
def endless(yarn: Yarn, tmp_path: Path) -> Iterator[Running]:
    started = Running(yarn, tmp_path)
    yield started
    started.process.kill()
    started.process.wait()


def test_ctrl_c_ends_the_application_and_keeps_the_trials(endless: Running) -> None:
    os.killpg(endless.process.pid, signal.SIGINT)
    run = endless.await_end(GRACE_S)
    assert endless.process.returncode == 130
    assert run.ending is Ending.INTERRUPTED
    assert run.trials


def test_so_does_kill_9(endless: Running) -> None:
    endless.process.kill()
    run = endless.await_end(GRACE_S)
    assert run.ending is Ending.INTERRUPTED
    assert run.trials


def test_without_anything_that_submitted_it_the_driver_ends_within_its_lease(
    endless: Running,
) -> None:
    for process in endless.collectors():
        process.kill()
    endless.process.kill()
    run = endless.await_end(LEASE_S + CHECK_S + GRACE_S)
    assert run.ending is None
    assert run.trials


def test_a_container_that_is_lost_is_reported_with_yarn_s_reason(endless: Running) -> None:
    drivers = [
        process
        for process in psutil.process_iter(["cmdline"])
        if "org.apache.spark.deploy.yarn.ApplicationMaster" in (process.info["cmdline"] or ())
    ]
    for process in drivers:
        process.kill()
    run = endless.await_end(GRACE_S)
    assert endless.process.returncode == 1
    assert run.ending is None
    assert run.trials


def test_the_daemons_are_closed_to_other_users_and_end_with_the_command(tmp_path: Path) -> None:
    if shutil.which("java") is None:
        pytest.skip("needs Java")
    script = (
        "spark-submit --master yarn --conf spark.ui.enabled=false --conf spark.yarn.maxAppAttempts=1 "
        "--deploy-mode cluster $0/datagen/generate.py hdfs:/x & "
        "echo $HADOOP_CONF_DIR > $1/conf; touch $1/ready; wait"
    )
    command = subprocess.Popen(
        [
            *(sys.executable, "-m", "harness", "yarn", "run", "--nodemanagers", "1"),
            *("--datanodes", "1", "--", "sh", "-c", script, str(ROOT), str(tmp_path)),
        ],
        cwd=ROOT,
        start_new_session=True,
    )
    eventually((tmp_path / "ready").exists, "YARN did not start", TIMEOUT_S)
    directory = Path((tmp_path / "conf").read_text().strip()).parent
    [cluster] = [cluster for cluster in find_all("yarn") if cluster.directory == directory]
    inside = ("nsenter", f"--net=/proc/{cluster.daemons[0].pid}/ns/net")
    for port in cluster.ports:
        assert can_be_reached(port, *inside)
        assert not can_be_reached(port)  # by another user of the machine
    command.kill()
    command.wait()
    eventually(lambda: not directory.exists(), "its data is left")
    for process in psutil.process_iter():  # spark-submit is the script's own, and would try again
        with suppress(ProcessLookupError):
            if os.getsid(process.pid) == command.pid:
                process.kill()
                process.wait(timeout=60)
    assert not [
        process.info
        for process in psutil.process_iter(["pid", "cmdline"])
        if str(directory) in " ".join(process.info["cmdline"] or ())
    ]
