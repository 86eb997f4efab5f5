"""How cost grows with executors, each on a node of its own: `pytest -s tests/bench/test_many_executors.py`.

The nodes are simulated: readings of this machine, taken twice, with other names. So what a job takes that
asks them all is not in it.
"""

import os
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from harness.commands.cli import main
from harness.model.run import Trial
from harness.node import sampler
from harness.node.counters import read_node
from harness.node.disks import disk_bytes_between
from harness.node.interference import interference
from harness.node.namespaces import boot_of, process_namespace
from harness.node.processes import RunningApplication
from harness.node.samples import trial_timeline
from harness.node.snapshot import NodeReading, NodesSnapshot, silent_hosts
from harness.node.traffic import wire_bytes
from harness.records.writer import Recording
from tests.bench.scale import IS_SMOKE, scaled
from tests.unit.builders import a_run, ok
from tests.unit.report_data import tasks

EXECUTORS = scaled((1, 10, 100, 1000), smoke=(1, 2))
RUNS, TRIALS, WORKLOADS = 3, 1, 2
TRIAL_S = scaled(3.0, smoke=1.0)
MAX_GROWTH = 15
"""For ten times the executors, from a hundred on; 10 is proportional."""


class Cost(NamedTuple):
    """What a trial takes on the driver, its bytes in results, and processor seconds of commands."""

    trial_s: float
    trial_bytes: float
    compare_s: float
    report_s: float


def command(*arguments: str) -> None:
    assert main(list(arguments)) == 0


def processor_s(action: Callable[[], object]) -> float:
    started = time.process_time()
    action()
    return time.process_time() - started


@pytest.fixture(scope="module")
def readings() -> tuple[NodeReading, NodeReading, float, float]:
    """Return readings of this machine, some seconds apart, and the monotonic times of both."""
    application = RunningApplication(f"bench {uuid.uuid4()}", os.getpid(), process_namespace())
    program = Path(sampler.__file__).read_text()
    before = NodeReading("n", **read_node(application, program, with_samples=False))
    start_s = time.monotonic()
    time.sleep(TRIAL_S)
    end_s = time.monotonic()
    after = NodeReading("n", **read_node(application, program, with_samples=True))
    assert after.samples
    return before, after, start_s, end_s


def snapshot(reading: NodeReading, executors: int, at_s: float) -> NodesSnapshot:
    nodes = {
        f"boot-{number} net:[1]": replace(
            reading, host=f"node{number:04}", namespace=f"boot-{number} pid:[1]"
        )
        for number in range(executors)
    }
    by_executor = {
        str(number): (node.host, identity) for number, (identity, node) in enumerate(nodes.items())
    }
    return NodesSnapshot(nodes, by_executor, at_s, at_s, boot_of("driver"))


def observed(
    trial: Trial, executors: int, readings: tuple[NodeReading, NodeReading, float, float]
) -> Trial:
    """Return a trial with what its nodes counted, as the driver computes it after each."""
    first, then, start_s, end_s = readings
    before = snapshot(first, executors, start_s)
    after = snapshot(then, executors, end_s)
    return replace(
        trial,
        wire=wire_bytes(before, after),
        disk=disk_bytes_between(before, after),
        interference=interference(before.nodes, after.nodes),
        timeline=trial_timeline(before, after, start_s, end_s, ()),
        silent=silent_hosts(before, after),
    )


def measured(
    executors: int, readings: tuple[NodeReading, NodeReading, float, float], directory: Path
) -> Cost:
    random = Random(5)  # noqa: S311  noise, not a secret
    rounds = range(1, TRIALS + 1)
    took_s: list[float] = []
    files = []
    for name in ("before", "after"):
        for number in range(RUNS):
            walls_s = [random.lognormvariate(1, 0.02) for _ in range(TRIALS * WORKLOADS)]
            trials = [
                ok(f"w{place % WORKLOADS}", wall_s, rounds[place // WORKLOADS], tasks=tasks(wall_s))
                for place, wall_s in enumerate(walls_s)
            ]
            with Recording(directory, a_run(name, f"{name}-{number}")) as recording:
                files.append(recording.path)
                for trial in trials:
                    started = time.process_time()
                    recording.trial(observed(trial, executors, readings))
                    took_s.append(time.process_time() - started)
    arguments = ["before", "after", "--results", str(directory)]
    compare_s = processor_s(lambda: command("compare", *arguments))
    report_s = processor_s(
        lambda: command("report", *arguments, "--output", str(directory / "page.html"))
    )
    size = sum(file.stat().st_size for file in files)
    return Cost(sum(took_s) / len(took_s), size / len(took_s), compare_s, report_s)


def test_nothing_grows_faster_than_executors(
    readings: tuple[NodeReading, NodeReading, float, float], tmp_path: Path
) -> None:
    print(f"\n{2 * RUNS * TRIALS * WORKLOADS} trials of {TRIAL_S} s; processor time")
    print("executors   a trial   bytes a trial   compare   report")
    costs = {}
    for executors in EXECUTORS:
        directory = tmp_path / str(executors)
        cost = measured(executors, readings, directory)
        costs[executors] = cost
        print(
            f"{executors:9}   {cost.trial_s * 1e3:4.0f} ms   {cost.trial_bytes:13,.0f}   "
            f"{cost.compare_s:5.2f} s   {cost.report_s:4.1f} s",
            flush=True,
        )
    *_, fewer, most = costs.values()
    for small, large in zip(fewer, most, strict=True):
        assert IS_SMOKE or large <= MAX_GROWTH * small
