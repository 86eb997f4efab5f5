"""What goes wrong in the lab is survived, and told: a lost worker, a lost DataNode, a lost experiment."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab, find_lab, running_lab
from harness.lab.engine import docker
from harness.model import Ending, RecordedRun, Status
from harness.record.store import load

ROOT = Path(__file__).parents[2]
SMALL = ROOT / "docker/experiments/small.toml"
CLUSTERLIFT = [sys.executable, "-m", "harness"]
DATASET = "/failures/rows"


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where the lab of this module puts its results."""
    place = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("RESULTS", str(place))
        yield place


@pytest.fixture(scope="module")
def small_lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    """Three workers and HDFS, as the small experiment wants them."""
    for before in ("engine", "results"):
        request.getfixturevalue(before)
    try:
        assert main(["lab", "up", "--nodes", "3"]) == 0
        yield running_lab()
    finally:
        if find_lab() is not None:
            main(["lab", "down"])


def eventually(holds: Callable[[], object], seconds: float = 600) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def runs(results: Path) -> list[RecordedRun]:
    return [load(file) for file in sorted(results.glob("*/*.jsonl"))]


@pytest.mark.usefixtures("small_lab")
def test_an_experiment_that_is_cut_off_goes_on(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = [*CLUSTERLIFT, "lab", "experiment", str(SMALL)]
    place = results / "small"
    process = subprocess.Popen(experiment, cwd=ROOT, start_new_session=True)
    eventually(lambda: len(runs(place)) == 2)
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(timeout=120) == 130
    kept = [one.run.id for one in runs(place) if one.ending is Ending.COMPLETED]
    assert kept

    assert main(["lab", "experiment", str(SMALL)]) == 0
    printed = capsys.readouterr()
    assert f"{len(kept)} of 3 runs are done already" in printed.err
    done = [one.run for one in runs(place) if one.ending is Ending.COMPLETED]
    assert {run.id for run in done} > set(kept)
    assert sorted(run.configuration for run in done) == ["fast-2x", "fast-coded", "slow-coded"]
    layouts = {run.configuration: (run.dataset or {})["layout"]["observed"] for run in done}
    assert layouts == {
        "slow-coded": "xor:2+1:1m",
        "fast-coded": "xor:2+1:1m",
        "fast-2x": "replicated:2",
    }
    assert "emulated: 3 nodes on one host, links shaped by tc" in printed.out
    table = (place / "comparison.md").read_text()
    assert "emulated: 3 nodes on one host, links shaped by tc" in table
    assert "sha-512" in table


def test_a_worker_that_is_killed_marks_the_trial_and_the_run_goes_on(
    small_lab: Lab, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generate = [DATASET, "--rows", "200000", "--layout", "replicated:3", "--partitions", "12"]
    assert main(["lab", "generate", *generate]) == 0
    what = ["--dataset", DATASET, "--configuration", "killed", "--workloads", "group-by"]
    process = subprocess.Popen(
        [*CLUSTERLIFT, "lab", "benchmark", *what, "--trials", "3", "--warmup", "1"], cwd=ROOT
    )
    place = results / "killed"
    eventually(lambda: any(run.trials for run in runs(results)))
    docker("kill", small_lab.node("worker-2").container)
    assert process.wait(timeout=240) == 0
    [file] = place.glob("*.jsonl")
    run = load(file)
    assert run.ending is Ending.COMPLETED
    assert {trial.status for trial in run.trials} == {Status.OK}
    assert [trial.note for trial in run.trials].count("executors lost: worker-2") == 1
    capsys.readouterr()
    assert main(["compare", str(place), str(place)]) == 0
    if any(trial.note for trial in run.trials if trial.phase == "measured"):
        assert "executors lost: worker-2" in capsys.readouterr().out

    # Its DataNode is gone with it: the next run is refused until the copies are back.
    eventually(lambda: main(["lab", "benchmark", *what, "--trials", "1"]) == 2)
    assert main(["lab", "up", "--nodes", "3"]) == 0
    assert [node.state for node in running_lab().nodes] == ["running"] * 4
    eventually(lambda: main(["lab", "benchmark", *what, "--trials", "1", "--warmup", "0"]) == 0)
