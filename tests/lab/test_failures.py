"""Failures in the lab: a lost worker, a lost DataNode, a killed experiment."""

from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.lab.cluster import Lab, running_lab
from harness.lab.engine import docker
from harness.model.run import Ending, RecordedRun
from tests.tracked import ROOT
from tests.unit.builders import known

from .conftest import PATIENCE_S, SHAPE, WORKERS, clusterlift, eventually, runs

SMALL = ROOT / "docker/experiments/small.toml"
EMULATED = (
    f"{WORKERS} nodes on one host, links shaped by tc; "
    "shared cores and disk, no CPU saved by jumbo frames"
)
BENCHMARK = ["lab", "benchmark", "--workloads", "group-by", "--warmup", "0", "--proof", "trials"]


def completed(results: Path) -> list[RecordedRun]:
    return [recorded for recorded in runs(results) if recorded.ending is Ending.COMPLETED]


def test_an_experiment_that_was_killed_can_be_resumed(
    lab: Lab, results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = results / "small"
    experiment = tmp_path / "small.toml"
    text = SMALL.read_text().replace("nodes = 3", f"nodes = {len(lab.workers)}")
    experiment.write_text(text.replace("cpus = 0.5", f"cpus = {lab.cpus:g}"))

    def is_in_second_run() -> bool:
        return bool(completed(directory)) and any(run.ending is None for run in runs(directory))

    with clusterlift("experiment", str(experiment)) as process:
        eventually(is_in_second_run, "the second run did not start")
        process.kill()
    eventually(
        lambda: "benchmark.py" not in lab.master.execute("ps", "-eo", "args"),
        "the benchmark did not end",
    )
    kept = [recorded.run.id for recorded in completed(directory)]

    assert main(["experiment", str(experiment)]) == 0
    printed = capsys.readouterr()
    assert f"{len(kept)} of 3 runs are done already" in printed.err
    done = [recorded.run for recorded in completed(directory)]
    assert {run.id for run in done} > set(kept)
    layouts = {
        run.configuration: (run.facts["layout"], (run.dataset or {})["layout"]["observed"])
        for run in done
    }
    assert len(done) == len(layouts)
    assert layouts == {
        "slow-coded": ("xor:2+1", "xor:2+1:1m"),
        "fast-coded": ("xor:2+1", "xor:2+1:1m"),
        "fast-2x": ("replicated:2", "replicated:2"),
    }
    table = (directory / "comparison.md").read_text()
    assert "sha-512" in table
    for shown in (table, printed.out):
        assert EMULATED in " ".join(shown.split())


@pytest.fixture(scope="module")
def killed(lab: Lab, dataset: str, results: Path) -> RecordedRun:
    """The run during which worker-2 was killed, together with its DataNode."""
    options = ["--dataset", dataset, "--configuration", "killed", "--trials", "4"]
    with clusterlift(*BENCHMARK, *options) as process:
        eventually(
            lambda: any(run.trials for run in runs(results / "killed")), "no trial was recorded"
        )
        docker("kill", lab.node("worker-2").container)
        assert process.wait(PATIENCE_S) in {0, 1}
    [run] = runs(results / "killed")
    return run


class TestAWorkerThatIsKilledDuringATrial:
    def test_the_trial_is_marked_and_the_run_continues(self, killed: RecordedRun) -> None:
        assert killed.ending is Ending.COMPLETED
        assert len(killed.trials) == 4
        failed = [trial for trial in killed.trials if trial.error]
        changed = [trial for trial in killed.trials if trial.executors and trial.executors.lost]
        assert failed or changed
        for trial in changed:
            assert {each.host for each in known(trial.executors).lost.values()} == {"worker-2"}
            assert not trial.counts
        assert killed.trials[-1] not in [*failed, *changed]

    @pytest.mark.usefixtures("killed")
    def test_status_shows_that_it_exited(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["lab", "status"]) == 0
        assert "worker-2  exited" in capsys.readouterr().out

    @pytest.mark.usefixtures("killed")
    def test_lab_up_restarts_the_worker_with_its_data(self, dataset: str, results: Path) -> None:
        assert main(["lab", "up", *SHAPE]) == 0
        assert all(node.is_running for node in running_lab().nodes)
        options = ["--dataset", dataset, "--configuration", "whole", "--trials", "1"]
        eventually(lambda: main([*BENCHMARK, *options]) == 0, "the benchmark was refused")
        assert not drift(runs(results / "whole")[-1])


def drift(recorded: RecordedRun) -> str | None:
    """Return how the dataset's layout differed from its manifest."""
    found: str | None = known(recorded.run.dataset)["layout"]["drift"]
    return found
