"""Sweeps of packet sizes on real interfaces: both ways, and with MTUs that are put back whatever happens."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.analysis.network.packet_costs import packet_costs
from harness.cli import main
from harness.model.link import COUNTED_BYTES, Link, goodput_bit_s
from harness.model.network_metrics import (
    CYCLES,
    HARDWARE_COUNTERS,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PATH_MTU,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import RecordedProbes
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, programs, run, star
from tests.waiting import eventually

MBIT = 10**6
RATE = 50 * MBIT
LARGEST_FRAME = 8996
"""What the switches of results/nemo-switches carry, Ethernet header included."""

PERF = """#!/bin/sh
while [ "$1" != -- ]; do shift; done
shift
"$@"
echo 4000000000,,instructions,1000000000,100.00,0.67,insn per cycle >&2
echo 6000000000,,cycles,1000000000,100.00,, >&2
"""
"""Prints what perf-stat(1) documents: few virtual machines have what the real one counts."""

Pair = tuple[Network, list[str]]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two hosts whose switch carries no frame above LARGEST_FRAME, and tells nobody."""
    with star([Link(RATE, 1500)] * 2) as (made, names):
        for port in ("port1", "port2"):
            mtu = str(LARGEST_FRAME - COUNTED_BYTES)
            run("ip", "-n", made.switches[0], "link", "set", port, "mtu", mtu)
        yield made, names


def options(pair: Pair, results: Path) -> list[str]:
    made, names = pair
    hosts = ["--via", "netns", "--hosts", made.hosts_option(names)]
    return ["probe", "mtu", *hosts, "--configuration", "x", "--results", str(results)]


def mtus(names: list[str]) -> list[str]:
    return [run(*_in(name), "cat", f"/sys/class/net/{DEVICE}/mtu").strip() for name in names]


def _in(namespace: str) -> tuple[str, ...]:
    return ("ip", "netns", "exec", namespace)


def errors(probed: RecordedProbes) -> set[str]:
    """Return the errors, except that processors cannot be asked what they do."""
    return {
        each.error
        for each in probed.measurements
        if each.error is not None and each.metric != HARDWARE_COUNTERS.name
    }


def test_both_ways_carry_twice_as_much_and_each_host_has_its_costs(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("--sizes", "1500", "--bidir", "--seconds", "1")
    assert main([*options(pair, tmp_path), *sweep]) == 0
    [probed] = find_probes("x", tmp_path)
    assert errors(probed) == set()
    costs = {cost.case: cost for cost in packet_costs(probed.measurements)}
    assert set(costs) == {PacketCase(1500), PacketCase(1500, both_ways=True)}
    known = {PACKET_CPU.sender, PACKET_CPU.receiver, PACKET_COST.sender, PACKET_COST.receiver}
    counted = {INSTRUCTIONS.sender, CYCLES.sender} <= set(costs[PacketCase(1500)].costs)
    uncounted = [each for each in probed.measurements if each.metric == HARDWARE_COUNTERS.name]
    assert counted != bool(uncounted)
    for cost in costs.values():
        assert known <= set(cost.costs)
        # Other work on this machine makes a transfer slower, but never faster than its link.
        ways = 2 if cost.case.both_ways else 1
        assert 0 < (cost.goodput_bit_s or 0) < 1.03 * ways * goodput_bit_s(RATE, 1500)
    printed = capsys.readouterr().out
    assert "packets of 1500 bytes, both ways" in printed
    assert counted or "no hardware counter" in printed or "perf" in printed


def test_instructions_are_counted_beside_the_transfer_and_told_by_the_byte(
    pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "perf"
    program.parent.mkdir()
    program.write_text(PERF)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert main([*options(pair, tmp_path), "--sizes", "1500", "--seconds", "1"]) == 0
    [probed] = find_probes("x", tmp_path)
    [cost] = packet_costs(probed.measurements)
    per_second = (cost.goodput_bit_s or 0) / 8
    assert cost.costs[INSTRUCTIONS.sender] == pytest.approx(4e9 / per_second)
    assert cost.costs[CYCLES.sender] == pytest.approx(6e9 / per_second)


def test_the_largest_frame_of_a_path_is_found_with_a_larger_mtu_which_is_put_back(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("--sizes", "9000", "--set-mtu", "--seconds", "1")
    assert main([*options(pair, tmp_path), *sweep]) == 1
    assert mtus(pair[1]) == ["1500", "1500"]
    [probed] = find_probes("x", tmp_path)
    case = str(PacketCase(9000, mtu_is_set=True))
    frames = {
        each.subject: (each.value or 0) + COUNTED_BYTES
        for each in probed.measurements
        if (each.metric, each.case) == (PATH_MTU.name, case)
    }
    a, b = pair[1]
    assert frames == dict.fromkeys((f"{a} -> {b}", f"{b} -> {a}"), LARGEST_FRAME)
    assert errors(probed) == {f"{a} -> {b}: the path does not carry packets of 9000 bytes"}
    assert f"{LARGEST_FRAME}" in capsys.readouterr().out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_mtu_is_put_back_however_we_end(
    pair: Pair, tmp_path: Path, number: signal.Signals
) -> None:
    sweep = ("--sizes", "4000", "--set-mtu", "--seconds", "60")
    command = [sys.executable, "-m", "harness", *options(pair, tmp_path), *sweep]
    ours = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    eventually(lambda: all(map(programs, pair[1])), "no transfer runs")
    assert mtus(pair[1]) == ["4000", "4000"]
    os.kill(ours.pid, number)
    ours.wait(timeout=60)
    eventually(lambda: mtus(pair[1]) == ["1500", "1500"], "an MTU is still set")
    eventually(lambda: not any(map(programs, pair[1])), "servers are still running")
