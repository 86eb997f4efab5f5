"""A soak between network namespaces names what is broken, when, and what is not; it survives a lost host."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.analysis.network.soak import SoakVerdict, judge_soak
from harness.cli import main
from harness.model.link import Link
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, programs, run, star

MBIT = 10**6
ROUND_S, ROUNDS = 5, 4
HOSTS = 5
LIMIT = ("root", "tbf", "burst", "128kb", "latency", "5ms", "rate")


def soaked(
    tmp_path: Path, fault: Callable[[Network, list[str]], None], after_s: float
) -> tuple[SoakVerdict, int, list[str]]:
    """Soak five hosts, plant a fault after some time, and return the outcome, the exit code, the hosts."""
    with star([Link(50 * MBIT, 1500)] * HOSTS) as (made, names):
        planted = threading.Timer(after_s, fault, (made, names))
        planted.start()
        options = (
            "--via",
            "netns",
            "--hosts",
            made.hosts_option(names),
            "--results",
            str(tmp_path),
        )
        length = ("--round", f"{ROUND_S}s", "--for", f"{ROUND_S * ROUNDS // 2}s", "--repeats", "2")
        code = main(["probe", "soak", *options, *length, "--configuration", "soaked"])
        planted.join()
        there = [name for name in names if name in made.namespaces]
        assert [program for name in there for program in programs(name).values()] == []
    [probed] = find_probes("soaked", tmp_path)
    return judge_soak(probed), code, names


def interrupt_and_slow(made: Network, names: list[str]) -> None:
    """Take the cable of the first host away for 0.3 s, and let that of the third fall to a tenth."""
    switch = made.switches[0]
    run("ip", "-n", switch, "link", "set", "port1", "down")
    time.sleep(0.3)
    run("ip", "-n", switch, "link", "set", "port1", "up")
    for namespace, device in ((names[2], DEVICE), (switch, "port3")):
        run("tc", "-n", namespace, "qdisc", "replace", "dev", device, *LIMIT, "5mbit")


def vanish(made: Network, names: list[str]) -> None:
    """Kill everything on the fourth host, and take its namespace away."""
    pids = run("ip", "netns", "pids", names[3]).split()
    run("kill", "-9", *pids)
    run("ip", "netns", "delete", names[3])
    made.namespaces.remove(names[3])


def test_an_interrupted_link_and_a_slow_host_are_named_with_the_moment(tmp_path: Path) -> None:
    found, code, names = soaked(tmp_path, interrupt_and_slow, after_s=10)
    assert code == 1
    interrupted = [fault for fault in found.faults if fault.subject == names[0]]
    assert interrupted
    assert all(fault.text.startswith("the link was interrupted") for fault in interrupted)
    slow = [fault for fault in found.faults if fault.subject == names[2]]
    assert any("slow, down to" in fault.text for fault in slow)
    assert all(5 < fault.at_s < 25 for fault in (*interrupted, *slow))
    assert not [fault for fault in found.faults if fault.subject in {names[1], names[3], names[4]}]


def test_a_host_that_vanishes_is_named_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found, code, names = soaked(tmp_path, vanish, after_s=9)
    assert code == 1
    lost = [fault for fault in found.faults if fault.subject == names[3]]
    assert [fault.text for fault in lost] == ["it went away, or its connection broke"]
    assert not [fault for fault in found.faults if fault.subject != names[3]]
    others = [line.split() for line in capsys.readouterr().out.splitlines()[2 : 2 + HOSTS]]
    assert [int(line[1]) >= ROUNDS - 1 for line in others] == [True, True, True, False, True]
