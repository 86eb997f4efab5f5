"""Real disturbances of this machine: each is counted, and by no less than it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.model.interference import NodeInterference
from harness.node.counters import read_node
from harness.node.disks import WRITTEN
from harness.node.interference import interference
from harness.node.namespaces import process_namespace
from harness.node.processes import RunningApplication
from harness.node.snapshot import NodeReading
from tests.disturbers import HOG, WRITER, control_group, cpu_s, has_used, limit_processors, stranger
from tests.unit.builders import known
from tests.waiting import eventually

APPLICATION = RunningApplication("no such application", os.getpid(), process_namespace())


def read() -> NodeReading:
    # Without a program, no sampler starts.
    return NodeReading("here", **read_node(APPLICATION, "raise SystemExit(1)", with_samples=True))


def between(before: NodeReading, after: NodeReading) -> NodeInterference:
    return known(interference({"a": before}, {"a": after}))[0]


def test_a_hog_in_another_control_group_is_other_processes() -> None:
    with control_group() as group, stranger(group, HOG) as hog:
        eventually(has_used(hog, 0.1))
        used_s, before = cpu_s(hog), read()
        eventually(has_used(hog, used_s + 1))
        used_s, after = cpu_s(hog) - used_s, read()
    assert known(between(before, after).others_s) >= 0.8 * used_s


def test_what_this_process_and_its_children_use_is_our_own() -> None:
    """By as much as the machine was busy; others may be busy, too."""
    before = read()
    with subprocess.Popen([sys.executable, "-c", HOG]) as child:
        eventually(has_used(child.pid, 1))
        after = read()
        child.kill()
    found = between(before, after)
    assert known(found.busy_s) - known(found.others_s) >= 0.8


def test_a_disk_writer_is_others_use_of_the_disks(tmp_path: Path) -> None:
    file = tmp_path / "written"
    with control_group() as group:
        before = read()
        if WRITTEN not in before.counters:
            pytest.skip("no disk of this machine counts its bytes")
        with stranger(group, WRITER, file, 64):
            eventually(lambda: file.exists() and file.stat().st_size == 2**26)
        after = read()
    if after.counters[WRITTEN] - before.counters[WRITTEN] < 2**26:
        pytest.skip(f"{tmp_path} is on no disk that counts its bytes")
    assert known(between(before, after).others_disk_bytes) >= 0.9 * 2**26


IN_A_GROUP = (
    "import json, sys\n"
    "from harness.node.counters import read_node\n"
    "from harness.node.processes import RunningApplication\n"
    "for _ in sys.stdin:\n"
    "    print(json.dumps(read_node(RunningApplication('', 1, ''), 'x', with_samples=True)), flush=True)\n"
    "    sum(range(5_000_000))\n"
)
"""Reads the counters whenever it gets a line, and then computes."""


def test_a_quota_that_is_lowered_meanwhile_is_noticed_and_so_is_what_it_stops() -> None:
    with control_group() as group:
        limit_processors(group, 0.5)
        with subprocess.Popen(
            ["sh", "-c", 'echo $$ > "$0"; exec "$@"', group / "cgroup.procs",
             sys.executable, "-c", IN_A_GROUP],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as inside:  # fmt: skip
            assert inside.stdin is not None
            readings = []
            for processors in (0.5, 0.1, 0.1):
                limit_processors(group, processors)
                inside.stdin.write("\n")
                inside.stdin.flush()
                readings.append(NodeReading("here", **json.loads(known(inside.stdout).readline())))
            inside.stdin.close()
    first, second = between(*readings[:2]), between(*readings[1:])
    assert first.quota_processors == second.quota_processors == 0.1
    assert known(second.quota_periods) >= known(second.quota_throttles) >= 1
    assert known(second.throttled_s) > 0
