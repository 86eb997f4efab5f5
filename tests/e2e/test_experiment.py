"""An experiment on hosts: network namespaces with HDFS and a standalone Spark, and kill -9 in the middle."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.hosts.transports.host import Host, by_netns
from harness.records.reader import load
from tests.probes.networks import DEVICE, missing, run
from tests.waiting import eventually

from .conftest import Spark
from .shaped_cluster import ShapedCluster, shaped_cluster

TEXT = """
name = "rates"
runs = 1
turns = "rounds"
trials = 1
warmup = 1
workloads = ["group-by", "calc-pi-dataframe"]
repartition = 2
pi_samples = 100_000
probe_seconds = 1

[site]
via = "netns"
hosts = "HOSTS"
submit_from = "FIRST"
data = "URI"
spark = SPARK

[datasets.single]
rows = 20_000
layout = "replicated:1"

[datasets.2x]
rows = 20_000
layout = "replicated:2"

[configurations.slow]
dataset = "single"
rate = "160mbit"
mtu = 1400

[configurations.slow.sysctls]
"net.ipv4.tcp_slow_start_after_idle" = "0"

[configurations.fast]
dataset = "2x"
rate = "400mbit"
"""
LOOK = f"""
tc qdisc show
cat /sys/class/net/{DEVICE}/mtu /proc/sys/net/ipv4/tcp_slow_start_after_idle
"""
CLUSTERLIFT = (sys.executable, "-m", "harness")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ShapedCluster]:
    if reason := missing():
        pytest.skip(reason)
    with shaped_cluster(Spark(Path(sys.executable)), tmp_path / "cluster", rate=None) as made:
        yield made


@pytest.fixture
def hosts(cluster: ShapedCluster) -> list[Host]:
    return [by_netns(name, cluster.network.addresses[name]) for name in cluster.hosts]


@pytest.fixture
def file(tmp_path: Path, cluster: ShapedCluster) -> Path:
    text = TEXT.replace("HOSTS", cluster.network.hosts_option(cluster.hosts))
    text = text.replace("FIRST", cluster.hosts[0]).replace("URI", cluster.uri)
    (tmp_path / "rates.toml").write_text(text.replace("SPARK", json.dumps(cluster.options)))
    return tmp_path / "rates.toml"


def state(hosts: list[Host]) -> list[str]:
    return [run(*host.argv("sh", "-c", LOOK)) for host in hosts]


def test_what_was_killed_is_put_back_and_goes_on(
    file: Path, hosts: list[Host], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(hosts)
    monkeypatch.setenv("SPARK_LOCAL_IP", hosts[0].address)
    command = [*CLUSTERLIFT, "experiment", str(file), "--results", str(tmp_path / "results")]
    results = tmp_path / "results/rates"
    log = (tmp_path / "log").open("wb")

    dry = subprocess.run([*command, "--dry-run"], check=True, capture_output=True, text=True)
    for line in (
        f"{hosts[0]}: MTU of eth0: 1500 -> 1400",
        f"{hosts[1]}: rate of eth0 at MTU 1500: unlimited -> 400mbit",
    ):
        assert line in dry.stdout
    assert re.search("1 run: (slow, fast|fast, slow), run 1", dry.stdout)  # a random order
    assert state(hosts) == before

    with subprocess.Popen(command, stderr=log, stdout=log, start_new_session=True) as process:
        trials = results / "fast"
        eventually(
            lambda: (
                process.poll() is not None
                or any(len(f.read_bytes().splitlines()) > 1 for f in trials.glob("*.jsonl"))
            ),
            "no trial",
            seconds=300,
        )
        assert process.poll() is None, (tmp_path / "log").read_text()
        assert state(hosts) != before
        os.kill(process.pid, signal.SIGKILL)
    eventually(lambda: state(hosts) == before, "something is still set")

    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert state(hosts) == before
    complete = [
        recorded
        for name in ("slow", "fast")
        for each in (results / name).glob("*.jsonl")
        if (recorded := load(each)).ending == "completed"
    ]
    assert [each.run.configuration for each in complete] == ["slow", "fast"]
    assert [each.run.facts["link"] for each in complete] == ["160mbit", "400mbit"]
    layouts = [each.run.dataset["layout"]["observed"] for each in complete if each.run.dataset]
    assert layouts == ["replicated:1", "replicated:2"]
    applications = {each.run.environment["application"] for each in complete}
    assert len(applications) == 1
    assert all(len(each.trials) == 4 for each in complete)
    assert (results / "comparison.md").is_file()

    reverted = subprocess.run([*command, "--revert"], check=True, capture_output=True, text=True)
    assert reverted.stdout == "nothing is left to put back\n"
