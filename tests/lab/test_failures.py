"""What goes wrong in the lab is survived, and told: a lost worker, a lost DataNode, a lost experiment."""

from __future__ import annotations

import urllib.request
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab, running_lab
from harness.lab.engine import docker
from harness.model.run import Ending, RecordedRun

from .conftest import PATIENCE_S, ROOT, clusterlift, eventually, runs

SMALL = ROOT / "docker/experiments/small.toml"
EMULATED = (
    "4 nodes on one host, links shaped by tc; shared cores and disk, no CPU saved by jumbo frames"
)
BENCHMARK = ["lab", "benchmark", "--workloads", "group-by", "--warmup", "0"]


def completed(results: Path) -> list[RecordedRun]:
    return [one for one in runs(results) if one.ending is Ending.COMPLETED]


def test_an_experiment_that_is_killed_goes_on(
    lab: Lab, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = results / "small"
    with clusterlift("lab", "experiment", str(SMALL)) as process:
        eventually(lambda: completed(place) and any(one.ending is None for one in runs(place)))
        process.kill()
    eventually(lambda: "benchmark.py" not in lab.master.execute("ps", "-eo", "args"))
    kept = [one.run.id for one in completed(place)]

    assert main(["lab", "experiment", str(SMALL)]) == 0
    printed = capsys.readouterr()
    assert f"{len(kept)} of 3 runs are done already" in printed.err
    done = [one.run for one in completed(place)]
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
    table = (place / "comparison.md").read_text()
    assert "sha-512" in table
    for shown in (table, printed.out):
        assert EMULATED in " ".join(shown.split())


def live_datanodes(port: int) -> int:
    """As the NameNode sees it, on its page."""
    query = "qry=Hadoop:service=NameNode,name=FSNamesystemState"
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/jmx?{query}") as page:
        for line in page.read().decode().splitlines():
            if '"NumLiveDataNodes"' in line:
                return int(line.split(":")[1].strip(" ,"))
    raise AssertionError("the NameNode does not say")


@pytest.fixture(scope="module")
def killed(lab: Lab, dataset: str, results: Path) -> RecordedRun:
    """What was recorded while worker-2 was killed. Its DataNode is gone with it."""
    what = ["--dataset", dataset, "--configuration", "killed", "--trials", "4"]
    with clusterlift(*BENCHMARK, *what) as process:
        eventually(lambda: any(one.trials for one in runs(results / "killed")))
        docker("kill", lab.node("worker-2").container)
        assert process.wait(PATIENCE_S) in {0, 1}
    [run] = runs(results / "killed")
    return run


class TestAWorkerThatIsKilledInATrial:
    def test_the_trial_is_marked_and_the_run_goes_on(self, killed: RecordedRun) -> None:
        assert killed.ending is Ending.COMPLETED
        assert len(killed.trials) == 4
        marked = [trial for trial in killed.trials if trial.note or trial.error]
        assert marked
        assert {trial.note for trial in marked} <= {"executors lost: worker-2", None}
        assert killed.trials[-1] not in marked

    def test_the_table_says_so(
        self, killed: RecordedRun, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["compare", killed.source, killed.source]) == 0
        table = " ".join(capsys.readouterr().out.split())
        for trial in killed.trials:
            assert (trial.note or trial.error or "") in table

    @pytest.mark.usefixtures("killed")
    def test_it_is_seen(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["lab", "status"]) == 0
        assert "worker-2  exited" in capsys.readouterr().out

    @pytest.mark.usefixtures("killed")
    def test_data_that_lacks_copies_is_refused(
        self, dataset: str, ports: dict[str, int], capfd: pytest.CaptureFixture[str]
    ) -> None:
        eventually(lambda: live_datanodes(ports["HDFS_UI_PORT"]) == 3)
        what = ["--dataset", dataset, "--configuration", "refused"]
        assert main([*BENCHMARK, *what]) == 2
        said = "".join(capfd.readouterr())
        assert f"{dataset} differs from its manifest, replicated:4: " in said
        assert "--accept-layout-drift" in said

    @pytest.mark.usefixtures("killed")
    def test_or_accepted_and_recorded(self, dataset: str, results: Path) -> None:
        what = ["--dataset", dataset, "--configuration", "accepted", "--trials", "1"]
        assert main([*BENCHMARK, *what, "--accept-layout-drift"]) == 0
        [one] = runs(results / "accepted")
        assert drift(one)

    @pytest.mark.usefixtures("killed")
    def test_the_lab_is_brought_up_again_with_what_it_stored(
        self, dataset: str, results: Path
    ) -> None:
        assert main(["lab", "up"]) == 0
        assert all(node.is_running for node in running_lab().nodes)
        what = ["--dataset", dataset, "--configuration", "whole", "--trials", "1"]
        eventually(lambda: main([*BENCHMARK, *what]) == 0)
        assert not drift(runs(results / "whole")[-1])


def drift(recorded: RecordedRun) -> str | None:
    """In what the dataset was not as its manifest says."""
    assert recorded.run.dataset is not None
    found: str | None = recorded.run.dataset["layout"]["drift"]
    return found
