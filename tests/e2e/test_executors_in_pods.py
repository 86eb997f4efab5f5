"""Spark's own backend for Kubernetes, on a stand-in for the API whose pods are processes in namespaces."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.model.link import Link
from harness.model.run import Ending, RecordedRun, Status
from tests.jvm import COLD_SPARK
from tests.probes.networks import network, run
from tests.unit.builders import known
from tests.waiting import eventually

from .benchmarks import recorded
from .conftest import ROOT, Spark, completed, own_lines

PORT = 8001
LATE_S = 8
SUBNETS = ("10.244.1", "10.244.2")
NEEDED = ("ip", "unshare", "java")
TEMPLATE = """\
apiVersion: v1
kind: Pod
spec:
  containers:
    - name: executor
      env:
        - name: CLUSTERLIFT_NODE_NAME
          valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
        - name: CLUSTERLIFT_NODE_ZONE
          value: zone-a
"""
SECRETS = {
    "spark.kubernetes.authenticate.oauthToken": "hunter2token",
    "spark.executorEnv.AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/hunter2role",
    "spark.executorEnv.AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/hunter2file",
    "spark.hadoop.fs.s3a.secret.key": "hunter2key",
}

QUOTA = 'pods "x" is forbidden: exceeded quota: small, requested: pods=1, used: pods=0'
IMPATIENT = """
from datagen import executor_pods
executor_pods.SAID_AFTER_S = 0
executor_pods.GIVEN_UP_AFTER_S = 2
from harness.base.command_line import run_main
from jobs import benchmarking
run_main("benchmark.py", benchmarking.main)
"""

MISSING = [program for program in NEEDED if shutil.which(program) is None]
pytestmark = [
    pytest.mark.smoke,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can make namespaces"),
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]


@dataclass
class Kubernetes:
    """A head with the API and the driver, and the directory of the pods' logs."""

    spark: Spark
    head: str
    address: str
    nodes: list[str]
    pods: Path

    def command(self, *options: str, script: Path = ROOT / "jobs/benchmark.py") -> list[str]:
        """Return the command of a small benchmark, which runs on the head."""
        template = self.pods / "template.yaml"
        template.write_text(TEMPLATE)
        properties = {
            "spark.driver.host": self.address,
            "spark.executor.memory": "512m",
            # Else Spark itself waits, for half a minute.
            "spark.scheduler.minRegisteredResourcesRatio": "0",
            "spark.executor.extraJavaOptions": COLD_SPARK,
            "spark.kubernetes.container.image": "registry.example.org/team/spark:test",
            "spark.kubernetes.executor.podTemplateFile": str(template),
            "spark.kubernetes.executor.podTemplateContainerName": "executor",
            "spark.kubernetes.executor.request.cores": "100m",
            **SECRETS,
        }
        conf = [f"--conf={name}={value}" for name, value in properties.items()]
        work = (
            "--workloads=calc-pi-dataframe",
            "--trials=5",
            "--warmup=1",
            "--pi-samples=10000000",
        )
        master = f"k8s://http://{self.address}:{PORT}"
        submit = self.spark.command(script, *work, master=master)
        at = submit.index(str(script))
        command = [*submit[:at], *conf, *options, *submit[at:]]
        return ["ip", "netns", "exec", self.head, *command]

    def environment(self) -> dict[str, str]:
        return self.spark.environment(SPARK_LOCAL_IP=self.address)

    def refuse_pods(self) -> None:
        """Let no pod be made any more."""
        (self.pods / "refusal").write_text(QUOTA)

    def allow_pods(self) -> None:
        """Let pods be made again."""
        (self.pods / "refusal").unlink(missing_ok=True)

    def kill(self, executor: int) -> None:
        """Kill the process of the last pod of an executor, as the kernel does where memory is short."""
        files = self.pods.glob(f"*-exec-{executor}.pid")
        file = max(files, key=lambda path: path.stat().st_mtime)
        os.kill(int(file.read_text()), signal.SIGKILL)


@pytest.fixture(scope="module")
def kubernetes(spark: Spark, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubernetes]:
    pods = tmp_path_factory.mktemp("pods")
    with network() as made:
        switch = made.switch()
        head, *nodes = [made.host(name, switch, Link(None, 1500)) for name in ("h", "k1", "k2")]
        for node, subnet in zip(nodes, SUBNETS, strict=True):
            run("ip", "-n", node, "link", "add", "cni0", "type", "bridge")
            run("ip", "-n", node, "address", "add", f"{subnet}.1/24", "dev", "cni0")
            run("ip", "-n", node, "link", "set", "cni0", "up")
            run("ip", "netns", "exec", node, "sysctl", "-w", "net.ipv4.ip_forward=1")
            for other in {head, *nodes} - {node}:
                gateway = made.addresses[node]
                run("ip", "-n", other, "route", "add", f"{subnet}.0/24", "via", gateway)
        where = [f"{node}={subnet}" for node, subnet in zip(nodes, SUBNETS, strict=True)]
        address = made.addresses[head]
        program = [sys.executable, "-m", "tests.e2e.kubernetes_api"]
        command = [*program, str(pods), str(spark.home), address]
        with (pods / "api.log").open("wb") as log:
            api = subprocess.Popen(
                ["ip", "netns", "exec", head, *command, str(PORT), str(LATE_S), *where],
                cwd=ROOT,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            yield Kubernetes(spark, head, address, nodes, pods)
        finally:
            for file in pods.glob("*.pid"):
                with suppress(ProcessLookupError):
                    os.kill(int(file.read_text()), signal.SIGKILL)
            api.kill()
            api.wait()


def a_run_that_loses(
    executor: int,
    kubernetes: Kubernetes,
    directory: Path,
    command: Sequence[str],
    code: int,
    before: Callable[[], object] = lambda: None,
) -> tuple[RecordedRun, str]:
    """Make a run, kill this executor after the first trial, and return what is recorded and printed.

    The run is to end with this code. `before` is called before the executor is killed.
    """
    printed = directory / "printed"
    with printed.open("wb") as out:
        process = subprocess.Popen(
            command,
            cwd=directory,
            env=kubernetes.environment(),
            stdout=out,
            stderr=subprocess.STDOUT,
        )
        try:
            eventually(
                lambda: " warm-up 1 " in printed.read_text() or process.poll() is not None,
                "the first trial ended",
                300,
            )
            before()
            kubernetes.kill(executor)
            ended = process.wait(timeout=300)
        finally:
            process.kill()
    assert ended == code, printed.read_text()
    return recorded(directory / "results"), printed.read_text()


def test_a_run_waits_for_late_executors_and_counts_no_trial_that_lost_one(
    kubernetes: Kubernetes, tmp_path: Path
) -> None:
    command = kubernetes.command("--conf", "spark.executor.instances=2")
    found, printed = a_run_that_loses(2, kubernetes, tmp_path, command, 0)
    assert found.ending is Ending.COMPLETED
    assert [trial.status for trial in found.trials] == [Status.OK] * 6
    assert "of 2 have come" in printed

    environment = found.run.environment
    assert environment["executors_asked"] == 2
    pods = [environment["pods"][host] for host in environment["executors"]]
    assert {pod["node"] for pod in pods} == set(kubernetes.nodes)
    assert {pod["network"] for pod in pods} == {"pods"}
    assert {pod["zone"] for pod in pods} == {"zone-a"}
    assert environment["spark_conf"]["spark.kubernetes.container.image"].startswith("spark:test (")

    # Else pods with the network of one node would look for files of each other's.
    assert environment["spark_conf"]["spark.shuffle.readHostLocalDisk"] == "false"

    first = known(found.trials[0].executors)
    assert (first.number, first.change) == (2, None)
    lost = [trial for trial in found.trials if trial.executors and trial.executors.lost]
    assert len(lost) == 1
    assert list(known(lost[0].executors).lost) == ["2"]
    assert not lost[0].counts
    for said in (lost[0].disturbed, printed):
        assert "ended: The executor with id 2 exited with exit code 137" in known(said)

    [file] = (tmp_path / "results").glob("*/*.jsonl")
    assert "hunter2" not in file.read_text()


def test_a_run_ends_with_the_reason_if_its_last_executor_is_lost_and_none_may_come(
    kubernetes: Kubernetes, tmp_path: Path
) -> None:
    script = tmp_path / "impatient.py"
    script.write_text(f"import sys\nsys.path[0] = {str(ROOT)!r}\n{IMPATIENT}")
    command = kubernetes.command("--conf", "spark.executor.instances=1", script=script)
    try:
        found, printed = a_run_that_loses(
            1, kubernetes, tmp_path, command, 1, kubernetes.refuse_pods
        )
    finally:
        kubernetes.allow_pods()
    assert f"no executor is left, and none can run: {QUOTA}" in printed
    assert found.ending is Ending.SPARK_LOST
    assert found.trials[0].status is Status.OK
    assert found.trials[-1].status is Status.FAILED


def test_dynamic_allocation_without_a_number_is_refused(
    kubernetes: Kubernetes, tmp_path: Path
) -> None:
    options = ("--conf", "spark.dynamicAllocation.enabled=true")
    done = completed(kubernetes.command(*options), tmp_path, kubernetes.environment(), code=2)
    [line] = own_lines(done)
    assert line.startswith("benchmark.py: error: spark.dynamicAllocation.enabled: ")
    assert "--num-executors N" in line
