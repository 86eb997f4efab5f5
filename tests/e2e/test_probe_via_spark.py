"""The probes on hosts that only Spark reaches: a real cluster, its executors, and iperf3 between them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import TIMEOUT_S, Cluster, Completed, Spark, eventually

SCRIPT = "jobs/probe_agents.py"


def probe(spark: Spark, probe: str, *arguments: str, options: str, cwd: Path) -> Completed:
    """`clusterlift probe`, with the plain pyspark's spark-submit on the PATH."""
    clusterlift = Path(sys.executable).parent / "clusterlift"
    environment = spark.environment()
    environment["PATH"] = f"{spark.home / 'bin'}:{environment['PATH']}"
    return subprocess.run(
        [clusterlift, "probe", probe, "--via", "spark", "--spark-options", options, *arguments],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def on(cluster: Cluster) -> str:
    return shlex.join(["--master", cluster.url, "--conf", "spark.ui.enabled=false"])


def running(script: str) -> list[str]:
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if script in line]


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3 here")
@pytest.mark.skipif(shutil.which("ip") is None, reason="no ip here")
def test_every_executors_host_is_measured_and_nothing_is_left(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    done = probe(spark, "mesh", "--seconds", "1", options=on(cluster), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"127\.0\.0\.2 +\d", done.stdout), done.stdout
    assert re.search(r"127\.0\.0\.3 +\d", done.stdout), done.stdout
    eventually(lambda: not running(SCRIPT), "without a Spark application that was left behind")


def test_a_host_without_an_executor_is_named(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    done = probe(spark, "link", "--hosts", "node7", options=on(cluster), cwd=tmp_path)
    assert done.returncode == 2
    assert "--via spark: node7 has no executor; these do: 127.0.0.2, 127.0.0.3" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_master_that_is_not_there_is_told(spark: Spark, tmp_path: Path) -> None:
    done = probe(spark, "link", options="--master nonsense", cwd=tmp_path)
    assert done.returncode == 1
    assert "Master must either be" in done.stderr  # as Spark says it
    assert "the Spark application ended before an executor answered" in done.stderr
    assert "Traceback" not in done.stderr
