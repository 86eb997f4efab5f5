"""Sweeps of packet sizes on real interfaces: both ways, and with MTUs that are put back whatever happens."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.analysis.network.measured import measured_cases
from harness.commands.cli import main
from harness.model.link import COUNTED_BYTES, Link, goodput_bit_s
from harness.model.network_metrics import MTU, PACKET_CPU, PACKET_GOODPUT, PATH_MTU, packet_case
from harness.model.probe import RecordedProbes
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, programs, run, star
from tests.waiting import eventually

MBIT = 10**6
RATE = 50 * MBIT
LARGEST_FRAME = 8996
"""What the switches of results/nemo-switches carry, Ethernet header included."""

Pair = tuple[Network, list[str]]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two hosts whose switch silently drops frames above LARGEST_FRAME."""
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
    return {each.error for each in probed.measurements if each.error is not None}


def test_both_ways_carry_twice_as_much_and_processor_times_are_known(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("--sizes", "1500", "--bidir", "--seconds", "1")
    assert main([*options(pair, tmp_path), *sweep]) == 0
    [probed] = find_probes("x", tmp_path)
    assert errors(probed) == set()
    one_way, both_ways = packet_case(1500), packet_case(1500, both_ways=True)
    cases = [case for case in measured_cases(probed.measurements, MTU) if case.case]
    assert [case.case for case in cases] == [one_way, both_ways, both_ways]
    for case in cases:
        assert all(case.values(metric) for metric in PACKET_CPU)
        # Other work on this machine makes a transfer slower, but never faster than its link.
        assert 0 < (case.median(PACKET_GOODPUT) or 0) < 1.03 * goodput_bit_s(RATE, 1500)
    assert "packets of 1500 bytes, both ways" in capsys.readouterr().out


def test_the_largest_frame_of_a_path_is_found_with_a_larger_mtu_which_is_put_back(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("--sizes", "9000", "--set-mtu", "--seconds", "1")
    assert main([*options(pair, tmp_path), *sweep]) == 1
    assert mtus(pair[1]) == ["1500", "1500"]
    [probed] = find_probes("x", tmp_path)
    case = packet_case(9000, mtu_is_set=True)
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
