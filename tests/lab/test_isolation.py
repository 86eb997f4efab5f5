"""Who may do what in the lab, and what a program of MPI leaves behind; CI leaves these tests out."""

from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.lab.cluster import Lab
from harness.lab.engine import docker
from harness.model.run import Status

from .conftest import runs

STRANGER = """
cat >/tmp/stranger.py <<'END'
from pyspark.sql import SparkSession
print("RAN", SparkSession.builder.getOrCreate().range(9).count())
END
SPARK_CONF_DIR=/nowhere timeout 60 spark-submit --master spark://master:7077 \\
  --conf spark.driver.host=master /tmp/stranger.py >/tmp/stranger.log 2>&1 &
while kill -0 $! && ! grep -q "SaslMessage\\|RAN" /tmp/stranger.log; do sleep 0.5; done 2>/dev/null
kill $!
cat /tmp/stranger.log
"""
"""Asks the master once, and has no configuration of the lab's, as other users of this machine have none."""


def test_daemons_do_not_run_as_root(lab: Lab) -> None:
    for node in lab.nodes:
        owners = docker("exec", node.container, "ps", "-C", "java", "-o", "user=").split()
        assert owners == ["spark", "spark"]


def test_spark_runs_nothing_for_whoever_has_no_secret(lab: Lab) -> None:
    secrets = {node.execute("cat", "/secret/spark") for node in lab.running}
    assert len(secrets) == 1
    [secret] = secrets
    assert len(secret) == 64
    for node in lab.running:
        assert secret not in node.execute("ps", "-eww", "-o", "args")
    answer = lab.master.execute("sh", "-c", STRANGER)
    assert "Expected SaslMessage" in answer
    assert "RAN" not in answer


@pytest.mark.usefixtures("lab")
def test_a_program_of_mpi_runs_on_several_nodes_and_leaves_nothing(
    lab: Lab, tmp_path: Path
) -> None:
    size = ["--memory", "1mb", "--block", "16", "--nodes", "1,3"]
    often = ["--runs", "1", "--trials", "1", "--warmup", "0"]
    where = ["--lab", "--configuration", "1g", "--results", str(tmp_path)]
    assert main(["program", "hpcc", *where, *size, *often]) == 0
    [alone], [several] = runs(tmp_path / "1g-n1"), runs(tmp_path / "1g-n3")
    assert {trial.status for run in (alone, several) for trial in run.trials} == {Status.OK}
    assert several.run.parameters["hosts"] == [node.name for node in lab.workers[:3]]
    assert several.run.facts["emulated"]
    for node in lab.workers:
        assert "hpcc" not in docker("exec", node.container, "ps", "-e", "-o", "comm=").split()
