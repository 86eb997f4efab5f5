"""The lab on a real engine, from its start to its removal."""

import os
import secrets
import signal
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.lab.cluster import Lab, lab_filter
from harness.lab.engine import docker
from harness.lab.links import read_links
from harness.model.link import Link
from harness.model.run import Ending
from tests.refusal import refusal
from tests.tracked import ROOT

from .conftest import PATIENCE_S, QUICK, SHAPE, WORKERS, clusterlift, eventually, runs
from .localities import event_log_options, localities

BENCHMARK = ["lab", "benchmark", "--workloads", "sha-512", "--warmup", "0", "--proof", "trials"]
# cgroup version 2 or 1: the quota and the period in microseconds.
READ_CPU_LIMIT = (
    "cat /sys/fs/cgroup/cpu.max || "
    "cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us /sys/fs/cgroup/cpu/cpu.cfs_period_us"
)


@pytest.mark.usefixtures("lab")
def test_up_again_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "up", *SHAPE]) == 0
    assert "up already" in capsys.readouterr().out
    assert "another lab is up: 3 workers" in refusal("lab", "up", "--nodes", "2")


def test_status_shows_every_node(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "status"]) == 0
    shown = capsys.readouterr().out
    assert "ready" in shown.splitlines()
    assert [line.split()[0] for line in shown.splitlines()[5:]] == [n.name for n in lab.nodes]


def test_web_pages_are_published_on_this_machine_only(lab: Lab) -> None:
    published = docker("port", lab.master.container).splitlines()
    assert len(published) == 3
    assert all(" -> 127.0.0.1:" in line for line in published)


def test_links_of_some_nodes_can_be_changed(lab: Lab) -> None:
    plain, fast = Link(None, 1500), Link(2_500_000_000, 9000)
    assert main(["lab", "link", "--unshaped", "--mtu", "1500"]) == 0
    assert read_links([node.host for node in lab.workers]) == [plain] * WORKERS
    change = ["--rate", "2.5gbit", "--mtu", "9000", "--nodes", "worker-[1-2]"]
    assert main(["lab", "link", *change]) == 0
    assert read_links([node.host for node in lab.workers]) == [fast, fast, plain]
    assert main(["lab", "link", "--unshaped", "--mtu", "1500"]) == 0
    assert read_links([node.host for node in lab.workers]) == [plain] * WORKERS


def test_a_benchmark_reads_where_the_blocks_are_under_the_cpu_limit_and_survives_an_interrupt(
    lab: Lab, dataset: str, results: Path
) -> None:
    assert main(["lab", "link", "--unshaped"]) == 0
    configuration = f"interrupted-{secrets.token_hex(3)}"  # a second attempt has files of its own
    options = ["--dataset", dataset, "--configuration", configuration, "--trials", "9999"]
    directory = results / configuration
    with clusterlift(*BENCHMARK, *options, *event_log_options(lab), *QUICK) as process:
        eventually(lambda: any(run.trials for run in runs(directory)), "no trial was recorded")
        for node in lab.workers:
            assert node.execute("sh", "-c", READ_CPU_LIMIT).split() == ["20000", "20000"]
        assert localities(lab)["NODE_LOCAL"] > 0
        assert not localities(lab)["ANY"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 130
    [recorded] = runs(directory)
    assert recorded.ending is Ending.INTERRUPTED
    assert recorded.run.facts["emulated"].startswith("3 nodes on one host, links not shaped; ")
    assert (recorded.run.facts["link"], recorded.run.facts["mtu"]) == ("unshaped", "1500")
    assert recorded.run.environment["executors"] == [node.name for node in lab.workers]
    assert Path(recorded.source).stat().st_uid == os.getuid()
    assert "benchmark.py" not in lab.master.execute("ps", "-eo", "args")


@pytest.mark.usefixtures("engine")
def test_the_image_of_the_tool_has_all_that_a_benchmark_needs(tmp_path: Path) -> None:
    tag = "clusterlift-test-tool"
    file = str(ROOT / "docker/Dockerfile")
    docker("build", "--quiet", "--target", "tool", "--tag", tag, "--file", file, str(ROOT))
    script = ("--trials=1", "--warmup=0", "--proof=trials", "--pi-samples=10000")
    options = ["--runs=1", "--rows=20000", "--", *script]
    printed = docker("run", "--rm", "--volume", f"{tmp_path}:/work", tag, "bench", *options, *QUICK)
    assert "inner-join" in printed
    assert [run.ending for run in runs(tmp_path / "results")] == [Ending.COMPLETED]


def test_down_leaves_nothing() -> None:
    assert main(["lab", "down"]) == 0
    assert not docker("ps", "--all", "--quiet", "--filter", lab_filter()).strip()
    assert not docker("volume", "ls", "--quiet", "--filter", lab_filter()).strip()
    assert not docker("network", "ls", "--quiet", "--filter", lab_filter()).strip()
    assert "no lab is up" in refusal("lab", "down")
