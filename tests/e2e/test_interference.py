"""Under the real spark-submit: what disturbs a run is marked, and the samplers end with it."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.model.run import Trial
from harness.records.reader import load
from tests.disturbers import HOG, control_group, limit_processors, stranger
from tests.waiting import eventually

from .conftest import Cluster, Spark

LONG = ("--workloads", "calc-pi-dataframe", "--pi-samples", 20_000_000)
ENDLESS = (*LONG, "--trials", 10_000, "--warmup", 0, "--proof", "trials")
USUAL = 6
"""Trials, after which it is known what is usual."""
TIMEOUT_S = 180


def trials(results: Path) -> tuple[Trial, ...]:
    return tuple(trial for file in results.glob("*/*.jsonl") for trial in load(file).trials)


def samplers() -> list[str]:
    """The addresses of all samplers of this machine, by the kernel's list of sockets."""
    lines = Path("/proc/net/unix").read_text().splitlines()
    return [line.partition("@")[2] for line in lines if "@clusterlift " in line]


@contextmanager
def running(command: list[str], spark: Spark, directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        command,
        cwd=directory,
        env=spark.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def disturbed_by(results: Path, reason: str) -> Callable[[], bool]:
    return lambda: any(reason in (trial.disturbed or "") for trial in trials(results))


def test_a_hog_in_another_control_group_disturbs_trials(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    command = spark.command(checkout / "jobs/benchmark.py", *ENDLESS, "--results", results)
    with control_group() as group, running(command, spark, tmp_path):
        eventually(lambda: len(trials(results)) >= USUAL, "trials", TIMEOUT_S)
        with stranger(group, HOG), stranger(group, HOG), stranger(group, HOG):
            found = disturbed_by(results, "other processes took processor time")
            eventually(found, "a disturbed trial", TIMEOUT_S)


def test_a_quota_lowered_in_mid_run_disturbs_trials(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    benchmark = spark.command(checkout / "jobs/benchmark.py", *ENDLESS, "--results", results)
    with control_group() as group:
        within = ["sh", "-c", 'echo $$ > "$0"; exec "$@"', str(group / "cgroup.procs")]
        with running([*within, *benchmark], spark, tmp_path):
            eventually(lambda: len(trials(results)) >= USUAL, "trials", TIMEOUT_S)
            limit_processors(group, 0.5)
            found = disturbed_by(results, "its CPU limit was lowered (to 0.5 processors")
            eventually(found, "a disturbed trial", TIMEOUT_S)
        # The sampler is in the group, too, and ends soon.


def test_no_sampler_survives_the_sigkill_of_everything(
    spark: Spark, checkout: Path, tmp_path: Path
) -> None:
    before = samplers()
    results = tmp_path / "results"
    command = spark.command(checkout / "jobs/benchmark.py", *ENDLESS, "--results", results)
    with running(command, spark, tmp_path):
        eventually(lambda: trials(results), "a trial", TIMEOUT_S)
        started = set(samplers()) - set(before)  # and those of what else runs on this machine
        assert started
    eventually(lambda: not started & set(samplers()), "the sampler ended", TIMEOUT_S)


@pytest.mark.slow
def test_executors_count_as_well(
    spark: Spark, checkout: Path, tmp_path: Path, cluster: Cluster
) -> None:
    """Executors have no checkout; their Python workers come and go between the trials."""
    before = samplers()
    results = tmp_path / "results"
    arguments = (*LONG, "--trials", 4, "--warmup", 0, "--results", results)
    script = checkout / "jobs/benchmark.py"
    spark.submit(script, *arguments, cwd=tmp_path, master=cluster.url)
    found = [node for trial in trials(results) for node in trial.interference or ()]
    assert {node.host for node in found} <= {"127.0.0.2", "127.0.0.3"}
    assert all(node.loops for node in found)
    assert all(node.others_s is not None for node in found)
    eventually(lambda: not set(samplers()) - set(before), "the samplers ended")
