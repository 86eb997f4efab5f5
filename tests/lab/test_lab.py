"""The lab on a real engine, from its start to the last of its traces."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.cli import main
from harness.lab.cluster import LABEL, Lab
from harness.lab.engine import docker
from harness.lab.link import read_links
from harness.rate import Link

ROOT = Path(__file__).parents[2]
DATASET = "/lab-test/rows"
CONFIGURATION = "lab-test"
EVENTS = "/tmp/events"  # noqa: S108  in the container


@pytest.fixture
def results() -> Iterator[Path]:
    """Where the lab's results appear; removed afterwards."""
    directory = ROOT / "results" / CONFIGURATION
    assert not directory.exists()
    yield directory
    for file in directory.glob("*"):
        file.unlink()
    directory.rmdir()


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


@pytest.mark.parametrize("rate", ["50mbit", "100mbit", "250mbit", "1gbit"])
def test_links_carry_what_theory_says(
    lab: Lab, rate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = read_links(lab.linked)
    code = main(["lab", "verify", "--rate", rate])
    with capsys.disabled():
        print(f"\n{capsys.readouterr().out}")
    assert code == 0
    assert read_links(lab.linked) == before


def test_links_change_by_name_and_back(lab: Lab) -> None:
    assert (
        main(["lab", "link", "--rate", "2.5gbit", "--mtu", "9000", "--nodes", "worker-[1-2]"]) == 0
    )
    plain, fast = Link(None, 1500), Link(2_500_000_000, 9000)
    assert read_links(lab.workers) == [fast, fast, plain, plain]
    assert main(["lab", "link", "--unshaped", "--mtu", "1500"]) == 0
    assert read_links(lab.workers) == [plain] * 4


def test_a_benchmark_reads_where_the_blocks_are(lab: Lab, results: Path) -> None:
    generate = ["generate", DATASET, "--rows", "20000", "--layout", "replicated:2", "--reuse"]
    assert main(["lab", *generate]) == 0
    lab.master.execute("install", "-d", "-m", "777", EVENTS)
    events = {
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file:{EVENTS}",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.locality.wait": "30s",
    }
    conf = [f"--conf={key}={value}" for key, value in events.items()]
    what = ["--dataset", DATASET, "--configuration", CONFIGURATION, "--workloads", "sha-512"]
    assert main(["lab", "benchmark", *conf, *what, "--trials", "2", "--warmup", "0"]) == 0

    [file] = results.iterdir()
    run = json.loads(file.read_text().splitlines()[0])
    assert run["facts"]["emulated"] == "4 nodes on one host, links not shaped"
    assert (run["facts"]["link"], run["facts"]["mtu"]) == ("unshaped", "1500")
    assert run["environment"]["executors"] == [node.name for node in lab.workers]
    assert file.stat().st_uid == ROOT.stat().st_uid

    assert localities(lab)["NODE_LOCAL"] > 0
    assert not localities(lab)["ANY"]


def test_an_interrupted_benchmark_keeps_what_it_has(lab: Lab, results: Path) -> None:
    generate = ["generate", DATASET, "--rows", "20000", "--layout", "replicated:2", "--reuse"]
    assert main(["lab", *generate]) == 0
    what = ["--dataset", DATASET, "--configuration", CONFIGURATION, "--workloads", "sha-512"]
    command = [sys.executable, "-m", "harness", "lab", "benchmark", *what, "--trials", "9999"]
    with subprocess.Popen(command, cwd=ROOT) as process:
        deadline = time.monotonic() + 300
        while not any(file.read_text().count("\n") > 2 for file in results.glob("*.jsonl")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 130
    [file] = results.iterdir()
    assert json.loads(file.read_text().splitlines()[-1])["ending"] == "interrupted"
    assert "benchmark.py" not in lab.master.execute("ps", "-eo", "args")


def test_a_worker_that_was_killed_is_seen_and_brought_back(
    lab: Lab, capsys: pytest.CaptureFixture[str]
) -> None:
    docker("kill", lab.node("worker-4").container)
    assert main(["lab", "status"]) == 0
    assert "worker-4  exited" in capsys.readouterr().out
    assert main(["lab", "up"]) == 0
    assert "ready" in capsys.readouterr().out.splitlines()


def localities(lab: Lab) -> Counter[str]:
    """How near their input the tasks ran that read any."""
    log = lab.master.execute("sh", "-c", f"cat {EVENTS}/app-*")
    ended = [json.loads(line) for line in log.splitlines() if '"SparkListenerTaskEnd"' in line]
    reading = [event for event in ended if event["Task Metrics"]["Input Metrics"]["Bytes Read"]]
    return Counter(event["Task Info"]["Locality"] for event in reading)


@pytest.mark.usefixtures("lab")
def test_down_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "down"]) == 0
    assert not docker("ps", "--all", "--quiet", "--filter", LABEL).strip()
    assert not docker("volume", "ls", "--quiet", "--filter", LABEL).strip()
    assert not docker("network", "ls", "--quiet", "--filter", LABEL).strip()
    assert main(["lab", "down"]) == 2
    assert "no lab is up" in capsys.readouterr().err


@pytest.mark.usefixtures("engine")
def test_the_racks_share_an_uplink(capsys: pytest.CaptureFixture[str]) -> None:
    try:
        assert main(["lab", "up", "--racks", "2", "--uplink", "400mbit"]) == 0
        assert main(["lab", "link", "--rate", "1gbit"]) == 0
        code = main(["lab", "verify"])
        with capsys.disabled():
            print(f"\n{capsys.readouterr().out}")
        assert code == 0
    finally:
        main(["lab", "down"])
