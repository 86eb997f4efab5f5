"""An experiment on hosts: network namespaces, a real Spark, and kill -9 in the middle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.model.link import Link
from harness.probes.transports.host import Host, by_netns
from harness.records.reader import load
from tests.probes.networks import DEVICE, missing, run, star
from tests.waiting import eventually

pytestmark = pytest.mark.e2e

TEXT = """
name = "rates"
rounds = 1
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
data = "file://DIRECTORY"
spark = ["--master", "local[2]", "--conf", "spark.sql.shuffle.partitions=2"]

[datasets.small]
rows = 2000

[configurations.slow]
dataset = "small"
rate = "160mbit"
mtu = 1400

[configurations.fast]
dataset = "small"
rate = "400mbit"
"""
CLUSTERLIFT = (sys.executable, "-m", "harness")


@pytest.fixture
def hosts() -> Iterator[list[Host]]:
    if reason := missing():
        pytest.skip(reason)
    with star([Link(None, 1500)] * 2) as (made, names):
        yield [by_netns(name, made.addresses[name]) for name in names]


def state(hosts: list[Host]) -> list[str]:
    return [
        run(*host.argv("sh", "-c", f"tc qdisc show; cat /sys/class/net/{DEVICE}/mtu"))
        for host in hosts
    ]


@pytest.fixture
def file(tmp_path: Path, hosts: list[Host]) -> Path:
    text = TEXT.replace("HOSTS", ",".join(f"{host.name}={host.address}" for host in hosts))
    text = text.replace("FIRST", hosts[0].name).replace("DIRECTORY", str(tmp_path))
    (tmp_path / "rates.toml").write_text(text)
    return tmp_path / "rates.toml"


def test_what_was_killed_is_put_back_and_goes_on(
    file: Path, hosts: list[Host], tmp_path: Path
) -> None:
    before = state(hosts)
    command = [*CLUSTERLIFT, "experiment", str(file), "--results", str(tmp_path / "results")]
    results = tmp_path / "results/rates"
    log = (tmp_path / "log").open("wb")

    dry = subprocess.run([*command, "--dry-run"], check=True, capture_output=True, text=True)
    for line in (
        f"{hosts[0]}: MTU of eth0: 1500 -> 1400",
        f"{hosts[1]}: rate of eth0: unlimited -> 400mbit",
        "1 run: slow, fast, round 1",
    ):
        assert line in dry.stdout
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
    applications = {each.run.environment["application"] for each in complete}
    assert len(applications) == 1
    assert all(len(each.trials) == 4 for each in complete)
    assert (results / "comparison.md").is_file()

    reverted = subprocess.run([*command, "--revert"], check=True, capture_output=True, text=True)
    assert reverted.stdout == "nothing is left to put back\n"
