"""Settings of real interfaces: they hold, they are put back, and a killed experiment leaves nothing set."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.hosts.transports.host import Host, HostError, by_netns
from harness.model.interface import INBOUND_DEVICE
from harness.model.link import Link, goodput_bit_s
from harness.probes.mesh import Mesh
from harness.probes.traffic import Load
from harness.settings.in_force import in_force, plan
from harness.settings.journal import Journal
from harness.settings.rate import rate
from harness.settings.setting import Setting, script
from harness.settings.simple import mtu, sysctl
from tests.probes.networks import DEVICE, Network, run, star
from tests.unit.builders import known
from tests.unit.probe_builders import measured

MBIT = 10**6
CONGESTION = "net.ipv4.tcp_congestion_control"
WANTED: Sequence[Setting] = (
    mtu(DEVICE, 4000),
    rate(DEVICE, 50 * MBIT, 4000),
    sysctl(CONGESTION, "reno"),
)


@pytest.fixture
def hosts() -> Iterator[list[Host]]:
    """Two hosts whose links have no limit."""
    with star([Link(None, 1500)] * 2) as (made, names):
        yield hosts_of(made, names)


def hosts_of(made: Network, names: Sequence[str]) -> list[Host]:
    return [by_netns(name, made.addresses[name]) for name in names]


def state(hosts: Sequence[Host]) -> list[str]:
    """Return everything that a setting may change, as the kernel describes it."""
    return [
        run(*host.argv(*command))
        for host in hosts
        for command in (
            ("tc", "qdisc", "show"),
            ("cat", f"/sys/class/net/{DEVICE}/mtu"),
            ("sysctl", "-n", CONGESTION),
            ("sh", "-c", "ls /sys/class/net"),
        )
    ]


def goodput(hosts: Sequence[Host]) -> float:
    """Return the lowest goodput between two hosts, in bit/s."""
    found = measured(Mesh().steps(hosts, Load(1)))
    return min(known(each.value) for each in found if each.metric == "goodput_bit_s")


def test_links_are_limited_in_the_block_and_not_after_it(hosts: list[Host], tmp_path: Path) -> None:
    before = state(hosts)
    assert goodput(hosts) > 200 * MBIT
    with in_force(dict.fromkeys(hosts, WANTED), Journal(tmp_path / "journal")) as settings:
        assert len(settings.changes) == 6
        assert goodput(hosts) == pytest.approx(goodput_bit_s(50 * MBIT, 4000), rel=0.03)
        assert settings.lost() is None
        assert INBOUND_DEVICE in state(hosts)[3]
    assert state(hosts) == before


FLOOD = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
    for _ in range(10_000):
        flood.sendto(bytes(1400), (sys.argv[1], 9))
"""
COUNTERS = """
from pathlib import Path
from harness.node.traffic import interface_traffic
[[device, [received, _]]] = interface_traffic().items()
print(Path(f"/sys/class/net/{device}/statistics/rx_bytes").read_text(), received)
"""


def test_what_the_limit_of_a_link_drops_was_not_received(hosts: list[Host], tmp_path: Path) -> None:
    """What passes is counted once, although it passes through a second device."""
    sender, receiver = hosts
    with in_force({receiver: [rate(DEVICE, 10 * MBIT, 1500)]}, Journal(tmp_path / "journal")):
        counts = []
        for _ in range(2):
            printed = run(*receiver.argv(sys.executable, "-c", COUNTERS)).split()
            counts.append(tuple(map(int, printed)))
            run(*sender.argv(sys.executable, "-c", FLOOD, receiver.address))
    arrived, received = (after - before for before, after in zip(*counts, strict=True))
    assert arrived > 10_000 * 1400
    assert 0 < received < arrived / 2


def test_a_limit_that_was_there_before_is_put_back(hosts: list[Host], tmp_path: Path) -> None:
    """As `clusterlift lab link` leaves one."""
    host = hosts[0]
    former = rate(DEVICE, 100 * MBIT, 1500)
    run(*host.argv("sh", "-c", script(former.commands("100mbit", "unlimited"))))
    before = state([host])
    other = rate(DEVICE, 20 * MBIT, 1500)
    with in_force({host: [other]}, Journal(tmp_path / "journal")) as settings:
        assert [change.before for change in settings.changes] == ["100mbit"]
        assert state([host]) != before
    assert state([host]) == before


def test_a_queue_of_somebody_else_is_left_alone() -> None:
    with star([Link(100 * MBIT, 1500)] * 2) as (made, names):
        host = hosts_of(made, names)[0]
        before = state([host])
        with pytest.raises(
            HostError, match="rate of eth0 at MTU 1500: its device already has a queue"
        ):
            plan({host: [rate(DEVICE, 50 * MBIT, 1500)]})
        assert state([host]) == before


@pytest.mark.parametrize("kind", ["vlan id 100", "macvlan"])
def test_an_mtu_is_refused_if_that_of_a_device_on_it_could_not_be_put_back(
    hosts: list[Host], kind: str
) -> None:
    host = hosts[0]
    try:
        run(*host.argv("ip", "link", "add", "link", DEVICE, "name", "on0", "type", *kind.split()))
    except subprocess.CalledProcessError as error:
        pytest.skip(f"this kernel has no {kind}: {error.stderr}")
    assert len(plan({host: [mtu(DEVICE, 4000)]})) == 1
    with pytest.raises(HostError, match="Linux would lower the MTU of on0, too"):
        plan({host: [mtu(DEVICE, 1400)]})
    run(*host.argv("ip", "link", "set", "dev", "on0", "mtu", "1400"))
    assert len(plan({host: [mtu(DEVICE, 1400)]})) == 1


def test_an_mtu_is_refused_with_which_ipv6_addresses_would_be_lost(hosts: list[Host]) -> None:
    host = hosts[0]
    assert len(plan({host: [mtu(DEVICE, 1000)]})) == 1
    run(*host.argv("ip", "address", "add", "fd00::1/64", "dev", DEVICE))
    with pytest.raises(HostError, match=f"take away the IPv6 addresses of {DEVICE}"):
        plan({host: [mtu(DEVICE, 1000)]})
