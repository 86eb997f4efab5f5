"""A soak between network namespaces names what is broken, when, and what is not; it survives a lost host."""

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.analysis.network.soak import soak_findings, transfer_seconds
from harness.commands.cli import main
from harness.model.finding import Finding, about
from harness.model.link import Link
from harness.model.probe import RecordedProbes
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, programs, run, star
from tests.waiting import eventually

MBIT = 10**6
HOSTS = 5
LIMIT = ("root", "tbf", "burst", "128kb", "latency", "5ms", "rate")
Fault = Callable[[Network, list[str]], None]


def soaked(
    tmp_path: Path, fault: Fault, after_s: float, *length: str, hosts: int = HOSTS, mbit: int = 50
) -> tuple[RecordedProbes, int, list[str]]:
    """Soak some hosts, plant a fault after some time, and return the record, the exit code, the hosts."""
    with star([Link(mbit * MBIT, 1500)] * hosts) as (made, names):
        planted = threading.Timer(after_s, fault, (made, names))
        planted.start()
        site = ("--via", "netns", "--hosts", made.hosts_option(names), "--results", str(tmp_path))
        code = main(["probe", "soak", *site, *length, "--configuration", "soaked"])
        planted.join()
        there = [name for name in names if name in made.namespaces]
        assert [program for name in there for program in programs(name).values()] == []
    [probed] = find_probes("soaked", tmp_path)
    return probed, code, names


def faults_of(probed: RecordedProbes) -> list[Finding]:
    return [finding for finding in soak_findings(probed) if finding.is_fault]


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

    def there_are_some() -> bool:
        pids.extend(run("ip", "netns", "pids", names[3]).split())
        return bool(pids)

    eventually(there_are_some)
    run("kill", "-9", *pids)
    run("ip", "netns", "delete", names[3])
    made.namespaces.remove(names[3])


def test_a_sound_network_has_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    length = ("--round", "5s", "--for", "10s")
    probed, code, names = soaked(tmp_path, lambda *_: None, 0.0, *length, hosts=4, mbit=30)
    assert (faults_of(probed), code) == ([], 0)
    assert transfer_seconds(probed) == pytest.approx(2 * len(names) * 5, rel=0.1)
    assert "no fault in " in capsys.readouterr().out


def test_an_interrupted_link_and_a_slow_host_are_named_with_the_moment(tmp_path: Path) -> None:
    length = ("--round", "5s", "--for", "20s")
    probed, code, names = soaked(tmp_path, interrupt_and_slow, 10.0, *length)
    assert code == 1
    found = faults_of(probed)
    [interrupted] = [fault for fault in found if fault.subject == about(names[0])]
    assert interrupted.text.startswith("the link was interrupted")
    slow = [fault for fault in found if names[2] in fault.subject.names]
    assert any("slow" in fault.text for fault in slow)
    assert all(5 < (fault.at_s or 0) < 35 for fault in (interrupted, *slow))
    assert not [fault for fault in found if str(fault.subject) in {names[1], names[3], names[4]}]


def test_a_host_that_vanishes_is_named_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rounds = 3
    probed, code, names = soaked(tmp_path, vanish, 4.0, "--round", "5s", "--for", f"{5 * rounds}s")
    assert code == 1
    assert {fault.subject for fault in faults_of(probed)} == {about(names[3])}
    others = [line.split() for line in capsys.readouterr().out.splitlines()[2 : 2 + HOSTS]]
    assert [int(line[1]) >= rounds - 1 for line in others] == [True, True, True, False, True]


def below_a_bridge(made: Network, host: str) -> None:
    """Make the card of a host a port of a bridge, which the port of a virtual machine keeps up."""
    run("ip", "-n", host, "address", "flush", "dev", DEVICE)
    run("ip", "-n", host, "link", "add", "vmbr0", "type", "bridge")
    run("ip", "-n", host, "link", "add", "tap0", "type", "veth", "peer", "name", "vm0")
    for port in (DEVICE, "tap0"):
        run("ip", "-n", host, "link", "set", port, "master", "vmbr0")
    for device in ("vm0", "tap0", "vmbr0"):
        run("ip", "-n", host, "link", "set", device, "up")
    run("ip", "-n", host, "address", "add", f"{made.addresses[host]}/24", "dev", "vmbr0")


def flap(made: Network, host: str) -> None:
    """Pull the cable of a host for 0.3 s."""
    switch = made.switches[0]
    made.connect(host, switch, connected=False)
    time.sleep(0.3)
    made.connect(host, switch, connected=True)


def test_a_card_that_flaps_below_a_bridge_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with star([Link(50 * MBIT, 1500)] * 3) as (made, names):
        for name in names:
            below_a_bridge(made, name)
        planted = threading.Timer(6.0, flap, (made, names[0]))
        planted.start()
        site = ("--via", "netns", "--hosts", made.hosts_option(names), "--results", str(tmp_path))
        length = ("--round", "5s", "--for", "10s")
        code = main(["probe", "soak", *site, *length, "--configuration", "soaked"])
        planted.join()
    [probed] = find_probes("soaked", tmp_path)
    interrupted = f"{DEVICE}: the link was interrupted: its carrier changed 2 times"
    assert code == 1
    assert [(each.subject, each.text) for each in faults_of(probed)] == [
        (about(names[0]), interrupted)
    ]
    row = next(line for line in capsys.readouterr().out.splitlines() if line.startswith(names[0]))
    assert row.split()[-1] == "2"
