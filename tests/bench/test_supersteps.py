"""Supersteps become slower by some round trips each if latency grows, and hardly if links carry less.

An experiment between network namespaces: all configurations take turns in one Spark application, over links
of a switch in user space. The shuffle of a dataset, beside it, does the opposite.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from harness.model.run import Phase
from harness.records.reader import load
from jobs.workloads.supersteps import SUPERSTEPS
from tests.bench.delaying_switch import delayed_star
from tests.e2e.conftest import Spark
from tests.e2e.shaped_cluster import ShapedCluster
from tests.probes.networks import DEVICE, missing

ROWS = int(os.environ.get("ROWS", "400000"))
TRIALS = int(os.environ.get("TRIALS", "5"))
RATE = "50mbit"
ROUND_TRIPS_MS = (5, 20)
MAX_SLOWER_BY_RATE = 1.5
"""It is 1.3 on a busy machine: beside messages, Spark sends 3.5 MB, mostly code of tasks."""
MIN_ROUND_TRIPS = 4
"""Of a superstep, at least; they are about 9. The driver starts its tasks and hears of their end; executors
fetch their code and where the messages are from the driver, and the messages from each other."""

EXPERIMENT = """
name = "supersteps"
runs = 1
turns = "rounds"
trials = {trials}
warmup = 3
workloads = ["supersteps", "repartition"]
repartition = 4

[site]
via = "netns"
hosts = "{hosts}"
submit_from = "{first}"
data = "{uri}"
spark = {spark}

[datasets.rows]
rows = {rows}
layout = "replicated:1"

[configurations.direct]
dataset = "rows"

[configurations.{rate}]
dataset = "rows"
rate = "{rate}"
"""
DELAYED = """
[configurations.{milliseconds}ms]
dataset = "rows"
apply = "echo {delay_s} > {file}; sleep 0.5"
revert = "echo 0 > {file}"
check = "grep -qx {delay_s} {file}"
"""


@pytest.fixture
def delays(tmp_path: Path) -> Path:
    return tmp_path / "delays"


@pytest.fixture
def cluster(tmp_path: Path, delays: Path) -> Iterator[ShapedCluster]:
    if reason := missing():
        pytest.skip(reason)
    with delayed_star(["a", "b", "c"], delays) as (network, hosts):
        (directory := tmp_path / "cluster").mkdir()
        cluster = ShapedCluster(Spark(Path(sys.executable)), network, hosts, directory)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


def experiment(cluster: ShapedCluster, delays: Path) -> str:
    """Return the text of the experiment's file."""
    own = f"{delays}/$(ip -4 -o address show dev {DEVICE} | sed -E 's/.*inet ([0-9.]+).*/\\\\1/')"
    delayed = (
        DELAYED.format(milliseconds=each, delay_s=each / 2000, file=own) for each in ROUND_TRIPS_MS
    )
    text = EXPERIMENT.format(
        trials=TRIALS,
        hosts=cluster.network.hosts_option(cluster.hosts),
        first=cluster.hosts[0],
        uri=cluster.uri,
        spark=json.dumps(cluster.options),
        rows=ROWS,
        rate=RATE,
    )
    return "".join([text, *delayed])


def medians_s(results: Path) -> dict[str, float]:
    """Return the median time of each workload in a configuration; what disturbed one disturbs all of them."""
    [file] = results.glob("*.jsonl")
    trials = [each for each in load(file).trials if each.phase is Phase.MEASURED and each.wall_s]
    return {
        name: median(each.wall_s or 0 for each in trials if each.workload == name)
        for name in ("supersteps", "repartition")
    }


def test_supersteps_wait_for_latency_and_not_for_bytes(
    cluster: ShapedCluster, delays: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (file := tmp_path / "supersteps.toml").write_text(experiment(cluster, delays))
    monkeypatch.setenv("SPARK_LOCAL_IP", cluster.network.addresses[cluster.hosts[0]])
    command = [
        sys.executable,
        "-m",
        "harness",
        "experiment",
        file,
        "--results",
        tmp_path / "results",
    ]
    subprocess.run(command, check=True)
    names = ["direct", RATE, *(f"{each}ms" for each in ROUND_TRIPS_MS)]
    found = {name: medians_s(tmp_path / "results/supersteps" / name) for name in names}
    direct = found["direct"]
    print(f"\n{SUPERSTEPS} supersteps, and the shuffle of {ROWS:,} rows:")
    for name, times in found.items():
        ratios = (f"{w} {s:.2f} s, {s / direct[w]:.2f} x" for w, s in times.items())
        print(f"  {name:8}{'; '.join(ratios)}")
    for each in ROUND_TRIPS_MS:
        longer_s = found[f"{each}ms"]["supersteps"] - direct["supersteps"]
        print(f"  {longer_s / SUPERSTEPS / each * 1000:.1f} round trips of {each} ms a superstep")
    longest = ROUND_TRIPS_MS[-1]
    longer_s = found[f"{longest}ms"]["supersteps"] - direct["supersteps"]
    assert longer_s > MIN_ROUND_TRIPS * SUPERSTEPS * longest / 1000
    by_rate = {name: found[RATE][name] / direct[name] for name in direct}
    assert by_rate["supersteps"] < MAX_SLOWER_BY_RATE < by_rate["repartition"]
