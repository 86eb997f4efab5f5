"""Probes measure shaped links as theory predicts, name what is broken, and leave no server running."""

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.hosts.links import read_links
from harness.hosts.transports.host import Host, HostError, by_netns
from harness.model.interface import HostLink
from harness.model.link import Link, goodput_bit_s
from harness.model.network_metrics import (
    ACROSS_RACKS,
    BOTH_WAYS,
    IDLE,
    LOADED,
    MESH_GOODPUT,
    OVERSUBSCRIPTION,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
)
from harness.model.probe import Measurement, Metric, samples
from harness.probes.latency import latency_steps
from harness.probes.mesh import Mesh
from harness.probes.plan import ProbeStep
from harness.probes.racks import Rack, rack_steps
from harness.probes.traffic import Flow, Load, run_flows
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, network, programs, run, star
from tests.unit.probe_builders import measured, page_of
from tests.waiting import eventually

MBIT = 10**6
SHORT = Load(seconds=1)
TOLERANCE = 0.03
TRIES = 4
"""Other work on this machine makes a flow slower, but never faster than its link: one good try is enough."""


def hosts_of(made: Network, names: Sequence[str]) -> list[Host]:
    return [by_netns(name, made.addresses[name]) for name in names]


def links_of(hosts: Sequence[Host]) -> dict[str, HostLink]:
    return {link.host: link for link in read_links(hosts) if isinstance(link, HostLink)}


def best(found: Sequence[Measurement], metric: Metric, case: str = "") -> dict[str, float]:
    """Return the largest value of each subject."""
    return {
        sample.subject: max(sample.values)
        for sample in samples(found)
        if (sample.metric, sample.case) == (metric.name, case) and sample.values
    }


def in_some_try(
    steps: Sequence[ProbeStep], condition: Callable[[Sequence[Measurement]], bool]
) -> bool:
    """Measure until the condition holds for all measurements so far; False if it never does."""
    found: list[Measurement] = []
    for _ in range(TRIES):
        found += measured(steps)
        if condition(found):
            return True
    return False


@pytest.mark.parametrize(("mbit", "mtu"), [(50, 1500), (100, 9000), (250, 1500)])
def test_the_goodput_of_shaped_links_is_the_theoretical_one(mbit: int, mtu: int) -> None:
    theory = pytest.approx(goodput_bit_s(mbit * MBIT, mtu), rel=TOLERANCE)
    with star([Link(mbit * MBIT, mtu)] * 2) as (made, names):
        hosts = hosts_of(made, names)
        for link in links_of(hosts).values():
            assert link.rate_bit_s == pytest.approx(mbit * MBIT, rel=1e-3)
        assert in_some_try(
            Mesh(both_ways=True).steps(hosts, SHORT),
            lambda found: all(
                list(best(found, MESH_GOODPUT, case).values()) == [theory, theory]
                for case in ("", BOTH_WAYS)
            ),
        )


ABOVE = {
    "bridge": "ip link add top type bridge; ip link set eth0 master top",
    "bond": "ip link add top type bond mode 802.3ad; ip link set eth0 down master top",
    "team": "ip link add top type team; ip link set eth0 down master top",
    "vxlan": "ip link add top type vxlan id 5 dstport 4789 dev eth0",
    **{kind: f"ip link add top link eth0 type {kind}" for kind in ("macvlan", "ipvlan")},
    "vlan": "ip link add top link eth0 type vlan id 5",
    "macvlan on a bridge": "ip link add low type bridge; ip link set eth0 master low; "
    "ip link set low up; ip link add top link low type macvlan",
}
QUEUE = f"{ABOVE['bridge']}; tc qdisc add dev top"
HTB = (
    f"{QUEUE} root handle 1: htb default 10; "
    "tc class add dev top parent 1: classid 1:10 htb rate 20mbit quantum 9000"
)


@pytest.mark.parametrize(
    ("commands", "mbit"),
    [
        *((f"ip tuntap add top mode {mode}", None) for mode in ("tun", "tap")),
        *((commands, 50) for commands in ABOVE.values()),
        (HTB, None),
        (f"{QUEUE} root netem rate 10mbit", 10.159),
        (f"{QUEUE} root cake bandwidth 10mbit", 10.159),
        (f"{QUEUE} root fq maxrate 10mbit", None),
    ],
)
def test_a_rate_is_found_below_and_on_the_way(commands: str, mbit: float | None) -> None:
    with star([Link(50 * MBIT, 1500)]) as (made, [name]):
        script = f"{commands}; ip link set top up; ip link set eth0 up"
        try:
            run("ip", "netns", "exec", name, "sh", "-ec", script)
        except subprocess.CalledProcessError as error:
            pytest.skip(f"this kernel does not make it: {error.stderr.strip()}")
        eventually(lambda: "state UP" in run("ip", "-n", name, "link", "show", DEVICE))
        [link] = read_links(hosts_of(made, [name]), "top")
        assert isinstance(link, HostLink)
        assert link.rate_bit_s == (mbit and pytest.approx(mbit * MBIT, rel=1e-3))


def test_a_route_over_two_links_is_no_link_until_one_of_them_is_down() -> None:
    with star([Link(20 * MBIT, 1500)]) as (made, [name]):
        run("ip", "-n", name, "link", "add", "eth1", "type", "veth", "peer", "name", "eth2")
        for device in ("eth1", "eth2"):
            run("ip", "-n", name, "link", "set", device, "up")
        hops = ("nexthop", "dev", DEVICE, "nexthop", "dev", "eth1")
        run("ip", "-n", name, "route", "add", "default", *hops)
        [error] = read_links(hosts_of(made, [name]))
        assert str(error) == f"{name}: several routes lead there ({DEVICE}, eth1)"
        run("ip", "-n", name, "link", "set", "eth1", "down")
        assert links_of(hosts_of(made, [name]))[name].device == DEVICE


@contextmanager
def two_racks(uplink_mbit: int) -> Iterator[tuple[Rack, Rack]]:
    """Yield two racks, each with four hosts that have 50 Mbit/s."""
    with network() as made:
        switches = (made.switch(), made.switch())
        made.uplink(*switches, Link(uplink_mbit * MBIT, 1500))
        names = [
            [made.host(f"{rack}{i}", switch, Link(50 * MBIT, 1500)) for i in range(1, 5)]
            for rack, switch in zip("ab", switches, strict=True)
        ]
        first, second = (tuple(hosts_of(made, rack)) for rack in names)
        yield Rack("a", first), Rack("b", second)


@pytest.mark.parametrize(("uplink_mbit", "ratio"), [(50, 4), (200, 1)])
def test_the_oversubscription_of_an_uplink_is_measured(uplink_mbit: int, ratio: float) -> None:
    theory = pytest.approx(goodput_bit_s(uplink_mbit * MBIT, 1500), rel=0.1)
    about = pytest.approx(ratio, rel=0.15)
    with two_racks(uplink_mbit) as (first, second):
        assert in_some_try(
            rack_steps(first, second, Load(seconds=2), draws=1, seed=1),
            lambda found: all(
                best(found, ACROSS_RACKS)[subject] == theory
                and best(found, OVERSUBSCRIPTION)[subject] == about
                for subject in ("a -> b", "b -> a")
            ),
        )


def test_latency_grows_under_load() -> None:
    with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
        found = measured(latency_steps(hosts_of(made, names), SHORT))
        [idle], [loaded] = (
            best(found, ROUND_TRIPS_PER_S, case).values() for case in (IDLE, LOADED)
        )
        assert idle > loaded > 0
        [typical] = best(found, ROUND_TRIP[50.0], IDLE).values()
        [p99_loaded] = best(found, ROUND_TRIP[99.0], LOADED).values()
        assert p99_loaded > typical > 0


class TestFailures:
    def test_a_server_that_is_killed_fails_only_its_pair(self) -> None:
        with star([Link(20 * MBIT, 1500)] * 4) as (made, names):
            a, b, c, d = hosts_of(made, names)
            killer = threading.Thread(target=kill_server, args=(a.name, b.name))
            killer.start()
            killed, other = run_flows([Flow(a, b), Flow(c, d)], Load(seconds=4)).values()
            killer.join()
            assert isinstance(killed, HostError)
            assert str(killed).startswith(f"{a} -> {b}: iperf3: ")
            assert not isinstance(other, HostError)
            assert not any(map(programs, names))


def test_a_network_passes_its_gate_until_an_mtu_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = ["--results", str(tmp_path)]
    with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
        hosts = ["--via", "netns", "--hosts", made.hosts_option(names), *results]
        options = ["--seconds", "2", "--configuration", "before"]
        assert main(["probe", "all", *hosts, *options]) == 0
        assert "RDMA: no device on any host" in capsys.readouterr().out
        assert main(["gate", "before", *results, "--expect", "20mbit", "--mtu", "1500"]) == 0
        assert capsys.readouterr().out.startswith("no fault found: 2 links, 2 paths")
        run("ip", "-n", names[1], "link", "set", DEVICE, "mtu", "1400")
        assert main(["probe", "mtu", *hosts, "--configuration", "after"]) == 1
        assert main(["gate", "before", "after", *results]) == 1
        printed = capsys.readouterr().out
        assert f"fault: {names[1]} {DEVICE}: MTU 1400, expected 1500" in printed
        assert f"{names[0]} -> {names[1]}: a path MTU black hole" in page_of(
            "mtu", find_probes("after", tmp_path)[0]
        )


def kill_server(client: str, server: str) -> None:
    """Kill the programs in namespace `server` as soon as one runs in `client`."""
    eventually(lambda: programs(client), f"no program runs in {client}")
    for process in programs(server):
        os.kill(process, signal.SIGKILL)
