"""However a run ends, its recorded trials are kept."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness.model.run import Ending, RecordedRun, Status
from harness.records.reader import load
from tests.waiting import eventually

from .conftest import Spark

ENDLESS = ("--trials", 10_000, "--warmup", 0, "--pi-samples", 20_000)
WORKLOADS = ("--workloads", "calc-pi-dataframe,calc-pi-python-udf")
TIMEOUT_S = 180


class Benchmark:
    """A benchmark that would run for hours, in a process group of its own."""

    def __init__(self, process: subprocess.Popen[str], results: Path) -> None:
        self.process = process
        self._results = results

    def file(self) -> Path | None:
        return next(self._results.glob("*/*.jsonl"), None)

    def has_trials(self) -> bool:
        file = self.file()
        return file is not None and len(file.read_text().splitlines()) > 4

    def python(self) -> int:
        """Return the process id of the driver's Python."""
        children = psutil.Process(self.process.pid).children()
        [child] = [child.pid for child in children if "python" in child.name()]
        return child

    def has_ended(self) -> bool:
        """Return whether every process of the group has ended; a zombie has."""
        self.process.poll()
        return not any(map(self._runs, psutil.process_iter()))

    def _runs(self, process: psutil.Process) -> bool:
        with contextlib.suppress(ProcessLookupError, psutil.NoSuchProcess):
            is_ours = os.getpgid(process.pid) == self.process.pid
            return is_ours and process.status() != psutil.STATUS_ZOMBIE
        return False

    def await_end(self) -> RecordedRun:
        """Wait until every process has ended, and return what was recorded."""
        eventually(self.has_ended, "every process ended", TIMEOUT_S)
        file = self.file()
        assert file is not None
        return load(file)


@pytest.fixture
def running(spark: Spark, checkout: Path, tmp_path: Path) -> Iterator[Benchmark]:
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            spark.command(checkout / "jobs/benchmark.py", *ENDLESS, *WORKLOADS),
            cwd=tmp_path,
            env=spark.environment(XDG_CACHE_HOME="/dev/null/cache"),  # no dataset can be generated
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    benchmark = Benchmark(process, tmp_path / "results")
    try:
        eventually(benchmark.has_trials, "trials were recorded", TIMEOUT_S)
        yield benchmark
    finally:
        if not benchmark.has_ended():
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=60)


@pytest.mark.smoke
def test_ctrl_c_ends_the_run_and_keeps_the_trials(running: Benchmark, tmp_path: Path) -> None:
    os.killpg(running.process.pid, signal.SIGINT)  # as a terminal does
    run = running.await_end()
    assert running.process.wait(timeout=60) == 130
    assert run.ending in {Ending.INTERRUPTED, Ending.SPARK_LOST}
    assert run.run.dataset is None
    assert sum(trial.status is Status.OK for trial in run.trials) >= 4
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_sigterm_to_the_driver_ends_the_run_and_keeps_the_trials(running: Benchmark) -> None:
    os.kill(running.python(), signal.SIGTERM)
    run = running.await_end()
    assert run.ending is Ending.INTERRUPTED
    assert len(run.trials) >= 4


def test_kill_9_leaves_a_file_that_loads(running: Benchmark) -> None:
    os.killpg(running.process.pid, signal.SIGKILL)
    run = running.await_end()
    assert run.ending is None
    assert len(run.trials) >= 4
