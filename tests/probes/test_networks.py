"""Rates that are shaped are measured, what is broken is named, and no server is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import permutations
from pathlib import Path

import pytest

from harness.analysis.acceptance import black_holes
from harness.analysis.mesh import Matrix, matrix, slowness
from harness.cli import main
from harness.model.interface import HostLink
from harness.model.link import Link, goodput_bit_s
from harness.model.network_metrics import (
    ACROSS_RACKS,
    BOTH_WAYS,
    IDLE,
    LOADED,
    MESH_GOODPUT,
    OVERSUBSCRIPTION,
    PACKET_GOODPUT,
    PATH_MTU,
    ROUND_TRIP,
    ROUND_TRIPS_PER_S,
)
from harness.model.probe import Measurement, Metric
from harness.present.probes import mtu as mtu_page
from harness.probes.latency import latency
from harness.probes.link import read_links
from harness.probes.mesh import mesh
from harness.probes.mtu import paths, sweep
from harness.probes.plan import ProbeStep
from harness.probes.preflight import preflight
from harness.probes.racks import Rack, racks
from harness.probes.traffic import FIRST_PORT, Flow, Load, carry
from harness.probes.transports.host import Host, HostError, by_netns
from harness.records.lookup import find_probes
from tests.probes.networks import DEVICE, Network, network, run, servers, star

MBIT = 10**6
SHORT = Load(seconds=1)
TOLERANCE = 0.03
TRIES = 4
"""Whoever else uses the machine makes a flow slower, and never faster than its link."""


def hosts_of(made: Network, names: Sequence[str]) -> list[Host]:
    return [by_netns(name, made.addresses[name]) for name in names]


def measured(steps: Sequence[ProbeStep]) -> list[Measurement]:
    return [one for step in steps for one in step.take()]


def links_of(hosts: Sequence[Host]) -> dict[str, HostLink]:
    return {link.host: link for link in read_links(hosts) if isinstance(link, HostLink)}


def best(found: Sequence[Measurement], metric: Metric, case: str = "") -> dict[str, float]:
    """The greatest value of each subject."""
    values: dict[str, float] = {}
    for one in found:
        if (one.metric, one.case) == (metric.name, case) and one.value is not None:
            values[one.subject] = max(one.value, values.get(one.subject, 0))
    return values


def until(steps: Sequence[ProbeStep], holds: Callable[[Sequence[Measurement]], bool]) -> bool:
    """Whether it holds of all that is measured, in one try or several."""
    found: list[Measurement] = []
    for _ in range(TRIES):
        found += measured(steps)
        if holds(found):
            return True
    return False


@pytest.mark.parametrize(("mbit", "mtu"), [(50, 1500), (100, 9000), (250, 1500)])
def test_shaped_rates_are_measured_as_theory_has_them(mbit: int, mtu: int) -> None:
    theory = pytest.approx(goodput_bit_s(mbit * MBIT, mtu), rel=TOLERANCE)
    with star([Link(mbit * MBIT, mtu)] * 2) as (made, names):
        hosts = hosts_of(made, names)
        for link in links_of(hosts).values():
            assert link.rate_bit_s == pytest.approx(mbit * MBIT, rel=1e-3)
        assert until(
            mesh(hosts, SHORT, both_ways=True, alone=False),
            lambda found: all(
                list(best(found, MESH_GOODPUT, case).values()) == [theory, theory]
                for case in ("", BOTH_WAYS)
            ),
        )


def test_one_slow_link_among_four_is_named() -> None:
    links = [Link(100 * MBIT, 1500)] * 2 + [Link(40 * MBIT, 1500), Link(100 * MBIT, 1500)]
    with star(links) as (made, names):

        def is_named(found: Sequence[Measurement]) -> bool:
            pairs = {
                pair: best(found, MESH_GOODPUT)[" -> ".join(pair)]
                for pair in permutations(names, 2)
            }
            said = slowness(Matrix(tuple(names), pairs, {}))
            return len(said) == 1 and said[0].startswith(f"{names[2]} is slow: ")

        assert until(mesh(hosts_of(made, names), SHORT, both_ways=False, alone=False), is_named)


def test_an_mtu_mismatch_is_found_and_named() -> None:
    links = [Link(100 * MBIT, 1500), Link(100 * MBIT, 9000), Link(100 * MBIT, 9000)]
    with star(links) as (made, names):
        hosts = hosts_of(made, names)
        known = links_of(hosts)
        found = measured(paths(hosts, known))
        small, *jumbo = names
        carried = matrix(found, PATH_MTU).values
        assert carried[(jumbo[0], jumbo[1])] == carried[(jumbo[1], jumbo[0])] == 9000
        for host in jumbo:
            # A receiver takes frames that are longer by the four bytes of a VLAN's tag.
            assert carried[(host, small)] in {1500, 1504}
            assert carried[(small, host)] == 1500
        holes = black_holes(found, known)
        assert set(holes) == {(host, small) for host in jumbo}
        assert f"{small}'s MTU is 1500" in holes[(jumbo[0], small)]


def test_a_path_that_was_never_carried_by_its_receiver_is_not_measured_at_that_size() -> None:
    with star([Link(100 * MBIT, 9000), Link(100 * MBIT, 1500)]) as (made, names):
        found = measured(sweep(hosts_of(made, names), [1500, 9000], SHORT))
        errors = {one.case: one.error for one in found if one.metric == PACKET_GOODPUT.name}
        assert errors["packets of 1500 bytes"] is None
        assert "does not carry packets of 9000 bytes" in (errors["packets of 9000 bytes"] or "")


@contextmanager
def two_racks(uplink_mbit: int) -> Iterator[tuple[Rack, Rack]]:
    """Four hosts of 50 Mbit/s in each."""
    with network() as made:
        switches = [made.switch(), made.switch()]
        made.uplink(*switches, Link(uplink_mbit * MBIT, 1500))
        names = [
            [made.host(f"{rack}{i}", switch, Link(50 * MBIT, 1500)) for i in range(1, 5)]
            for rack, switch in zip("ab", switches, strict=True)
        ]
        first, second = (tuple(hosts_of(made, some)) for some in names)
        yield Rack("a", first), Rack("b", second)


@pytest.mark.parametrize(("uplink_mbit", "ratio"), [(50, 4), (200, 1)])
def test_an_oversubscribed_uplink_and_one_that_is_not_are_told_apart(
    uplink_mbit: int, ratio: float
) -> None:
    theory = pytest.approx(goodput_bit_s(uplink_mbit * MBIT, 1500), rel=0.1)
    about = pytest.approx(ratio, rel=0.15)
    with two_racks(uplink_mbit) as (first, second):
        assert until(
            racks(first, second, Load(seconds=2), draws=1, seed=1),
            lambda found: all(
                best(found, ACROSS_RACKS)[subject] == theory
                and best(found, OVERSUBSCRIPTION)[subject] == about
                for subject in ("a -> b", "b -> a")
            ),
        )


def test_latency_grows_under_load() -> None:
    with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
        found = measured(latency(hosts_of(made, names), 1, 64, FIRST_PORT))
        [idle], [loaded] = (
            best(found, ROUND_TRIPS_PER_S, case).values() for case in (IDLE, LOADED)
        )
        assert idle > loaded > 0
        [typical] = best(found, ROUND_TRIP[50.0], IDLE).values()
        [late] = best(found, ROUND_TRIP[99.0], LOADED).values()
        assert late > typical > 0


class TestWhatGoesWrong:
    def test_a_server_that_is_killed_fails_its_pair_alone(self) -> None:
        with star([Link(20 * MBIT, 1500)] * 4) as (made, names):
            a, b, c, d = hosts_of(made, names)
            killer = threading.Thread(target=kill_server, args=(b.name,))
            killer.start()
            killed, other = carry([Flow(a, b), Flow(c, d)], Load(seconds=4))
            killer.join()
            assert isinstance(killed, HostError)
            assert str(killed).startswith(f"{a} -> {b}: iperf3: ")
            assert not isinstance(other, HostError)
            assert not any(map(servers, names))

    def test_a_host_that_does_not_answer_is_one_line_a_pair(self) -> None:
        with star([Link(20 * MBIT, 1500)] * 3) as (made, names):
            hosts = hosts_of(made, names)
            run("ip", "-n", names[2], "link", "set", DEVICE, "down")
            found = measured(mesh(hosts, Load(seconds=1), both_ways=False, alone=False))
            held = matrix(found, MESH_GOODPUT)
            assert set(held.values) == {(names[0], names[1]), (names[1], names[0])}
            assert len(held.errors) == 4
            assert all("\n" not in error for error in held.errors.values())

    def test_a_port_that_is_taken_is_told(self) -> None:
        with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
            a, b = hosts_of(made, names)
            other = subprocess.Popen(
                ["ip", "netns", "exec", b.name, "iperf3", "-s"], stdout=subprocess.DEVNULL
            )
            try:
                wait_for_servers(b.name)
                [trouble] = carry([Flow(a, b)], SHORT)
            finally:
                other.terminate()
                other.wait()
            assert "Address already in use" in str(trouble)

    def test_a_namespace_that_is_not_there_is_left_out(self) -> None:
        with star([Link(20 * MBIT, 1500)]) as (made, names):
            found = preflight([*hosts_of(made, names), by_netns("nosuch", "10.99.0.99")], ["ip"])
            assert [host.name for host in found.hosts] == names
            assert "nosuch" in str(found.excluded_hosts["nosuch"])

    def test_an_address_that_was_not_given_is_the_host_s_own(self) -> None:
        with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
            found = preflight([by_netns(name) for name in names], ["ip"])
            assert {host.name: host.address for host in found.hosts} == made.addresses

    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)]
    )
    def test_servers_are_stopped_however_we_end(
        self, number: signal.Signals, code: int, tmp_path: Path
    ) -> None:
        with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
            where = ["--via", "netns", "--hosts", made.hosts_option(names)]
            kept = ["--configuration", "1g", "--results", str(tmp_path)]
            ours = subprocess.Popen(
                [sys.executable, "-m", "harness", "probe", "mesh", "--seconds", "60", *where, *kept]
            )
            for name in names:
                wait_for_servers(name)
            ours.send_signal(number)
            assert ours.wait(timeout=60) == code
            assert eventually(lambda: not any(map(servers, names)))
            [probed] = find_probes("1g", tmp_path)
            assert set(probed.links()) == set(names)


def test_a_network_is_probed_and_passes_its_gate_until_a_link_is_slower(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = ["--results", str(tmp_path)]
    with star([Link(20 * MBIT, 1500)] * 2) as (made, names):
        where = ["--via", "netns", "--hosts", made.hosts_option(names), *results]
        asked = ["--seconds", "2", "--sizes", "1500", "--configuration", "before"]
        assert main(["probe", "all", *where, *asked]) == 0
        assert "RDMA: no device on any host" in capsys.readouterr().out
        assert main(["gate", "before", *results, "--expect", "20mbit", "--mtu", "1500"]) == 0
        assert capsys.readouterr().out.startswith("nothing is wrong: 2 links, 2 paths")
        run("ip", "-n", names[1], "link", "set", DEVICE, "mtu", "1400")
        assert main(["probe", "mtu", *where, "--configuration", "after"]) == 0
        assert main(["gate", "before", "after", *results]) == 1
        said = capsys.readouterr().out
        assert f"- {names[1]} {DEVICE}: MTU 1400, expected 1500" in said
        assert f"{names[0]} -> {names[1]}: a black hole" in mtu_page.render(
            find_probes("after", tmp_path)[0]
        )


def kill_server(namespace: str) -> None:
    wait_for_servers(namespace)
    time.sleep(1)  # until it carries something
    for process in run("ip", "netns", "pids", namespace).split():
        if Path(f"/proc/{process}/comm").read_text().strip() == "iperf3":
            run("kill", "-KILL", process)


def wait_for_servers(namespace: str) -> None:
    assert eventually(lambda: bool(servers(namespace)))


def eventually(holds: Callable[[], bool]) -> bool:
    for _ in range(300):
        if holds():
            return True
        time.sleep(0.1)
    return False
