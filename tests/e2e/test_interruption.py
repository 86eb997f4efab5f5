"""Whatever ends a run, what was measured stays."""

from __future__ import annotations

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

from .conftest import Spark, eventually

MANY = ("--trials", 10_000, "--warmup", 0, "--workloads", "calc-pi-dataframe,sha-512")


class Process(NamedTuple):
    """A line of /proc."""

    pid: int
    name: str
    state: str
    parent: int
    group: int


def processes() -> Iterator[Process]:
    """All processes of this machine."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid, rest = stat.read_text().split(" (", 1)
            name, rest = rest.rsplit(") ", 1)
            state, parent, group = rest.split()[:3]
            yield Process(int(pid), name, state, int(parent), int(group))


class Running:
    """A benchmark that would take for ever, in a process group of its own."""

    def __init__(self, process: subprocess.Popen[str], results: Path) -> None:
        self.process = process
        self._results = results

    def file(self) -> Path | None:
        return next(self._results.glob("*/*.jsonl"), None)

    def has_trials(self) -> bool:
        file = self.file()
        return file is not None and len(file.read_text().splitlines()) > 4

    def python(self) -> int:
        """The process id of the driver's Python."""
        [child] = [
            process.pid
            for process in processes()
            if process.parent == self.process.pid and "python" in process.name
        ]
        return child

    def is_gone(self) -> bool:
        """Whether no process of the group is left; a zombie is none."""
        self.process.poll()
        return not any(
            process.group == self.process.pid and process.state != "Z" for process in processes()
        )

    def recorded(self) -> RecordedRun:
        file = self.file()
        assert file is not None
        return load(file)


@pytest.fixture
def running(spark: Spark, checkout: Path, dataset: Path, tmp_path: Path) -> Iterator[Running]:
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(
            spark.command(checkout / "jobs/benchmark.py", "--dataset", dataset, *MANY),
            cwd=tmp_path,
            env=spark.environment(),
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    run = Running(process, tmp_path / "results")
    eventually(run.has_trials, "a trial was recorded")
    yield run
    if not run.is_gone():
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=60)


def test_ctrl_c_ends_the_run_and_keeps_the_trials(running: Running, tmp_path: Path) -> None:
    os.killpg(running.process.pid, signal.SIGINT)  # what a terminal does
    eventually(running.is_gone, "every process ended")
    assert running.process.wait(timeout=60) == 130
    run = running.recorded()
    assert run.ending in {Ending.INTERRUPTED, Ending.SPARK_LOST}
    assert sum(trial.status is Status.OK for trial in run.trials) >= 4
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_sigterm_to_the_driver_ends_the_run_and_keeps_the_trials(running: Running) -> None:
    os.kill(running.python(), signal.SIGTERM)
    eventually(running.is_gone, "every process ended")
    run = running.recorded()
    assert run.ending is Ending.INTERRUPTED
    assert len(run.trials) >= 4


def test_sigterm_to_spark_submit_ends_the_run_and_keeps_the_trials(running: Running) -> None:
    running.process.terminate()
    eventually(running.is_gone, "every process ended")
    run = running.recorded()
    assert run.ending in {Ending.INTERRUPTED, Ending.SPARK_LOST}
    assert len(run.trials) >= 4


def test_kill_9_leaves_a_file_that_loads(running: Running) -> None:
    os.killpg(running.process.pid, signal.SIGKILL)
    eventually(running.is_gone, "every process ended")
    run = running.recorded()
    assert run.ending is None
    assert len(run.trials) >= 4
