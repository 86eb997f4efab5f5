"""The lab on a real engine, from its start to the last of its traces."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import Lab, find_lab, ours
from harness.lab.engine import docker
from harness.lab.links import read_links
from harness.model.link import Link
from harness.model.run import Ending

from .conftest import PATIENCE_S, clusterlift, eventually, runs
from .localities import localities, logged

BENCHMARK = ["lab", "benchmark", "--workloads", "sha-512"]
MOST_ATTEMPTS = 5


@pytest.mark.usefixtures("lab")
def test_up_again_changes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "up"]) == 0
    assert "up already" in capsys.readouterr().out
    assert main(["lab", "up", "--nodes", "3"]) == 2
    assert "another lab is up: 4 workers" in capsys.readouterr().err


def test_status_shows_every_node(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "status"]) == 0
    shown = capsys.readouterr().out
    assert "ready" in shown.splitlines()
    assert [line.split()[0] for line in shown.splitlines()[5:]] == [n.name for n in lab.nodes]


def test_daemons_are_not_root_s(lab: Lab) -> None:
    for node in lab.nodes:
        owners = docker("exec", node.container, "ps", "-C", "java", "-o", "user=").split()
        assert owners == ["spark", "spark"]


def test_web_pages_are_for_this_machine_alone(lab: Lab) -> None:
    published = docker("port", lab.master.container).splitlines()
    assert len(published) == 3
    assert all(" -> 127.0.0.1:" in line for line in published)


def verified(*options: str) -> bool:
    """Whether the links carry what theory says, at least once: somebody may need the processors."""
    return any(main(["lab", "verify", *options]) == 0 for _ in range(MOST_ATTEMPTS))


@pytest.mark.parametrize("rate", ["50mbit", "100mbit", "250mbit", "1gbit"])
def test_links_carry_what_theory_says(lab: Lab, rate: str) -> None:
    before = read_links(lab.linked)
    assert verified("--rate", rate, "--seconds", "2")
    assert read_links(lab.linked) == before


def test_links_change_by_name_and_back(lab: Lab) -> None:
    plain, fast = Link(None, 1500), Link(2_500_000_000, 9000)
    assert main(["lab", "link", "--unshaped", "--mtu", "1500"]) == 0
    assert read_links(lab.workers) == [plain] * 4
    change = ["--rate", "2.5gbit", "--mtu", "9000", "--nodes", "worker-[1-2]"]
    assert main(["lab", "link", *change]) == 0
    assert read_links(lab.workers) == [fast, fast, plain, plain]
    assert main(["lab", "link", "--unshaped", "--mtu", "1500"]) == 0
    assert read_links(lab.workers) == [plain] * 4


def test_a_benchmark_reads_where_the_blocks_are(lab: Lab, dataset: str, results: Path) -> None:
    assert main(["lab", "link", "--unshaped"]) == 0
    what = ["--dataset", dataset, "--configuration", "local", "--trials", "1", "--warmup", "0"]
    assert main([*BENCHMARK, *what, *logged(lab)]) == 0

    [one] = runs(results / "local")
    assert one.run.facts["emulated"].startswith("4 nodes on one host, links not shaped; ")
    assert (one.run.facts["link"], one.run.facts["mtu"]) == ("unshaped", "1500")
    assert one.run.environment["executors"] == [node.name for node in lab.workers]
    assert Path(one.source).stat().st_uid == os.getuid()

    assert localities(lab)["NODE_LOCAL"] > 0
    assert not localities(lab)["ANY"]


def test_an_interrupted_benchmark_keeps_what_it_has(lab: Lab, dataset: str, results: Path) -> None:
    what = ["--dataset", dataset, "--configuration", "interrupted", "--trials", "9999"]
    with clusterlift(*BENCHMARK, *what) as process:
        eventually(lambda: any(one.trials for one in runs(results / "interrupted")))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 130
    [one] = runs(results / "interrupted")
    assert one.ending is Ending.INTERRUPTED
    assert "benchmark.py" not in lab.master.execute("ps", "-eo", "args")


@pytest.mark.usefixtures("lab")
def test_down_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "down"]) == 0
    assert not docker("ps", "--all", "--quiet", "--filter", ours()).strip()
    assert not docker("volume", "ls", "--quiet", "--filter", ours()).strip()
    assert not docker("network", "ls", "--quiet", "--filter", ours()).strip()
    assert main(["lab", "down"]) == 2
    assert "no lab is up" in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
def test_the_racks_share_an_uplink() -> None:
    if find_lab() is not None:
        main(["lab", "down"])
    try:
        assert main(["lab", "up", "--racks", "2", "--uplink", "400mbit"]) == 0
        assert main(["lab", "link", "--rate", "1gbit"]) == 0
        assert verified()
    finally:
        main(["lab", "down"])
