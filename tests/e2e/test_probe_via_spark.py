"""`clusterlift probe --via spark` on a real cluster, whose hosts only Spark reaches, with a real iperf3."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.waiting import eventually

from .conftest import TIMEOUT_S, Cluster, Completed, Spark

CLUSTERLIFT = Path(sys.executable).parent / "clusterlift"
SCRIPT = "jobs/probe_agents.py"


def command(probe: str, *arguments: str, options: str) -> list[str]:
    """Return the command line; its virtual environment is not activated, so PATH has no spark-submit."""
    via = ["--via", "spark", "--spark-options", options]
    return [str(CLUSTERLIFT), "probe", probe, *via, *arguments]


def probe(spark: Spark, probe: str, *arguments: str, options: str, cwd: Path) -> Completed:
    return subprocess.run(
        command(probe, *arguments, options=options),
        cwd=cwd,
        env=spark.environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def options_for(cluster: Cluster, *options: str) -> str:
    return shlex.join(["--master", cluster.url, "--conf", "spark.ui.enabled=false", *options])


def running(script: str) -> list[str]:
    """Return the command lines of this machine's processes that contain `script`."""
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in processes.stdout.splitlines() if script in line]


needs_iperf3 = pytest.mark.skipif(
    any(shutil.which(program) is None for program in ("ip", "iperf3")),
    reason="ip and iperf3 are not installed",
)


@needs_iperf3
@pytest.mark.smoke
def test_every_executors_host_is_measured_and_no_process_is_left(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    options = options_for(cluster, "--conf", "spark.clusterlift.relayPort=34567")
    done = probe(spark, "mesh", "--seconds", "1", options=options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"127\.0\.0\.2 +\d", done.stdout), done.stdout
    assert re.search(r"127\.0\.0\.3 +\d", done.stdout), done.stdout
    eventually(lambda: not running(SCRIPT), "the Spark application is still running")


@needs_iperf3
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_is_left_if_we_are_interrupted_or_killed(
    spark: Spark, cluster: Cluster, tmp_path: Path, number: signal.Signals
) -> None:
    with subprocess.Popen(
        command("mesh", "--seconds", "600", options=options_for(cluster)),
        cwd=tmp_path,
        env=spark.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as ours:
        try:
            eventually(lambda: running("iperf3 -c 127.0.0."), "no transfer", TIMEOUT_S)
            ours.send_signal(number)
            assert ours.wait(TIMEOUT_S) == (130 if number is signal.SIGINT else -number)
        finally:
            ours.kill()
    eventually(lambda: not running("iperf3 -c 127.0.0."), "iperf3 is still running")
    eventually(lambda: not running(SCRIPT), "the Spark application is still running")


def test_a_host_without_an_executor_is_named(
    spark: Spark, cluster: Cluster, tmp_path: Path
) -> None:
    options = options_for(cluster)
    done = probe(spark, "link", "--hosts", "node7", options=options, cwd=tmp_path)
    assert done.returncode == 2
    assert "--via spark: node7 has no executor; these hosts do: 127.0.0.2, 127.0.0.3" in done.stderr
    assert "Traceback" not in done.stderr


def test_sparks_own_error_is_shown(spark: Spark, tmp_path: Path) -> None:
    done = probe(spark, "link", options="--master nonsense", cwd=tmp_path)
    assert done.returncode == 1
    assert "Master must either be" in done.stderr
    assert "the Spark application ended before an executor answered" in done.stderr
    assert "Traceback" not in done.stderr
