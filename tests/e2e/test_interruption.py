"""Ctrl-C ends a run under spark-submit, and its trials are kept; tests/kill has other signals and moments."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from harness.model.run import Ending, Status
from tests.waiting import eventually

from .benchmarks import recorded
from .conftest import Spark

ENDLESS = ("--trials", 10_000, "--warmup", 0, "--proof", "trials", "--pi-samples", 20_000)
WORKLOADS = ("--workloads", "calc-pi-dataframe,calc-pi-python-udf")
TIMEOUT_S = 180


@pytest.mark.smoke
def test_ctrl_c_ends_the_run_and_keeps_the_trials(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    def has_trials() -> bool:
        files = (tmp_path / "results").glob("*/*.jsonl")
        return any(len(file.read_text().splitlines()) > 4 for file in files)

    with (
        (tmp_path / "log").open("w") as log,
        subprocess.Popen(
            spark.command(checkout / "jobs/benchmark.py", *ENDLESS, *WORKLOADS),
            cwd=tmp_path,
            env=spark.environment(XDG_CACHE_HOME="/dev/null/cache"),  # no dataset can be generated
            stdout=log,
            stderr=log,
            start_new_session=True,
        ) as process,
    ):
        try:
            eventually(has_trials, "trials were recorded", TIMEOUT_S)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            assert process.wait(TIMEOUT_S) == 130
        finally:
            process.kill()
    run = recorded(tmp_path / "results")
    assert run.ending in {Ending.INTERRUPTED, Ending.SPARK_LOST}
    assert run.run.dataset is None
    assert sum(trial.status is Status.OK for trial in run.trials) >= 4
    assert "Traceback" not in (tmp_path / "log").read_text()
