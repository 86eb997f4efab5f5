"""However a run ends, its recorded trials are kept."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.model.run import Ending, RecordedRun, Status
from harness.records.reader import load
from tests.waiting import eventually

from .conftest import Spark

ENDLESS = ("--trials", 10_000, "--warmup", 0, "--workloads", "calc-pi-dataframe,sha-512")
TIMEOUT_S = 180


class Process(NamedTuple):
    """A process as /proc describes it."""

    pid: int
    name: str
    state: str
    parent: int
    group: int


def processes() -> Iterator[Process]:
    """Yield all processes of this machine."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = stat.read_text().split(" (", 1)
            name, rest = rest.rsplit(") ", 1)
            state, parent, group = rest.split()[:3]
            yield Process(int(pid), name, state, int(parent), int(group))


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
        [child] = [
            process.pid
            for process in processes()
            if process.parent == self.process.pid and "python" in process.name
        ]
        return child

    def has_ended(self) -> bool:
        """Return whether every process of the group has ended; a zombie has."""
        self.process.poll()
        return not any(
            process.group == self.process.pid and process.state != "Z" for process in processes()
        )

    def await_end(self) -> RecordedRun:
        """Wait until every process has ended, and return what was recorded."""
        eventually(self.has_ended, "every process ended", TIMEOUT_S)
        file = self.file()
        assert file is not None
        return load(file)


@pytest.fixture
def running(spark: Spark, checkout: Path, dataset: Path, tmp_path: Path) -> Iterator[Benchmark]:
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            spark.command(checkout / "jobs/benchmark.py", "--dataset", dataset, *ENDLESS),
            cwd=tmp_path,
            env=spark.environment(),
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
    assert sum(trial.status is Status.OK for trial in run.trials) >= 4
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_sigterm_to_the_driver_ends_the_run_and_keeps_the_trials(running: Benchmark) -> None:
    os.kill(running.python(), signal.SIGTERM)
    run = running.await_end()
    assert run.ending is Ending.INTERRUPTED
    assert len(run.trials) >= 4


def test_sigterm_to_spark_submit_ends_the_run_and_keeps_the_trials(
    running: Benchmark, tmp_path: Path
) -> None:
    running.process.terminate()
    run = running.await_end()
    assert run.ending in {Ending.INTERRUPTED, Ending.SPARK_LOST}
    assert len(run.trials) >= 4
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_kill_9_leaves_a_file_that_loads(running: Benchmark) -> None:
    os.killpg(running.process.pid, signal.SIGKILL)
    run = running.await_end()
    assert run.ending is None
    assert len(run.trials) >= 4
