"""A soak between network namespaces names what is broken, when, and what is not; it survives a lost host."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.analysis.network.soak import SoakVerdict, judge_soak
from harness.cli import main
from harness.model.link import Link
from harness.model.soak import SoakFlow
from harness.probes.soak import SET_UP_S, SETTLE_S
from harness.probes.traffic import OMITTED_S
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, programs, run, star
from tests.waiting import eventually

MBIT = 10**6
HOSTS = 5
LIMIT = ("root", "tbf", "burst", "128kb", "latency", "5ms", "rate")
Fault = Callable[[Network, list[str]], None]


def soaked(
    tmp_path: Path, fault: Fault, after_s: float, *length: str, hosts: int = HOSTS, mbit: int = 50
) -> tuple[SoakVerdict, int, list[str]]:
    """Soak some hosts, plant a fault after some time, and return the outcome, the exit code, the hosts."""
    with star([Link(mbit * MBIT, 1500)] * hosts) as (made, names):
        planted = threading.Timer(after_s, fault, (made, names))
        planted.start()
        site = ("--via", "netns", "--hosts", made.hosts_option(names), "--results", str(tmp_path))
        code = main(["probe", "soak", *site, *length, "--configuration", "soaked"])
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
    pids = list[str]()
    eventually(lambda: pids.extend(run("ip", "netns", "pids", names[3]).split()) or pids)
    run("kill", "-9", *pids)
    run("ip", "netns", "delete", names[3])
    made.namespaces.remove(names[3])


def take_links_down(_: Network, names: list[str]) -> None:
    """Take the links of the last two hosts down; as hosts they still answer."""
    for name in names[-2:]:
        run("ip", "-n", name, "link", "set", DEVICE, "down")


def test_a_sound_network_has_no_fault_and_all_of_its_time_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    length = ("--round", "5s", "--for", "10s")
    found, code, names = soaked(tmp_path, lambda *_: None, 0.0, *length, hosts=4, mbit=30)
    assert (found.faults, code) == ([], 0)
    assert found.link_s + found.unjudged_s == pytest.approx(2 * len(names) * 5, rel=0.1)
    assert "No fault in " in capsys.readouterr().out


def test_when_links_die_the_soak_keeps_to_its_time_and_to_what_was_good_before(
    tmp_path: Path,
) -> None:
    # A transfer that does not end takes 10 s more, and shorter rounds would leave the next one out.
    round_s, rounds = 13, 5
    length = ("--round", f"{round_s}s", "--for", f"{rounds * round_s}s")
    found, code, names = soaked(tmp_path, take_links_down, 26.0, *length, hosts=4, mbit=30)
    assert code == 1
    assert {fault.subject for fault in found.faults} == set(names[-2:])
    interrupted = [fault for fault in found.faults if "carrier changed" in fault.text]
    # Both go down at nearly the same time: which is seen first depends on the load of the machine.
    assert sorted(fault.subject for fault in interrupted) == names[-2:]
    assert found.link_s >= len(names) * round_s
    [probed] = find_probes("soaked", tmp_path)
    flows = [event for event in probed.events if isinstance(event, SoakFlow)]
    longest_s = rounds * (round_s + OMITTED_S + SET_UP_S + SETTLE_S)
    assert max(flow.start_s + flow.seconds for flow in flows) <= longest_s


def test_an_interrupted_link_and_a_slow_host_are_named_with_the_moment(tmp_path: Path) -> None:
    length = ("--round", "5s", "--for", "10s", "--repeats", "2")
    found, code, names = soaked(tmp_path, interrupt_and_slow, 10.0, *length)
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
    rounds = 3
    found, code, names = soaked(tmp_path, vanish, 4.0, "--round", "5s", "--for", f"{5 * rounds}s")
    assert code == 1
    lost = [fault for fault in found.faults if fault.subject == names[3]]
    assert [fault.text for fault in lost] == ["it went away, or its connection broke"]
    assert not [fault for fault in found.faults if fault.subject != names[3]]
    others = [line.split() for line in capsys.readouterr().out.splitlines()[2 : 2 + HOSTS]]
    assert [int(line[1]) >= rounds - 1 for line in others] == [True, True, True, False, True]
