"""Settings of real interfaces: they hold, they are put back, and a killed experiment leaves nothing set."""

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from harness.hosts.transports.host import Host, HostError, by_netns, by_ssh
from harness.model.interface import INBOUND_DEVICE
from harness.model.link import Link, goodput_bit_s
from harness.probes.mesh import Mesh
from harness.probes.plan import run_steps
from harness.probes.traffic import Load
from harness.settings import guard
from harness.settings.in_force import in_force, plan
from harness.settings.journal import Journal
from harness.settings.rate import rate
from harness.settings.setting import Setting, script
from harness.settings.simple import mtu, sysctl
from tests.probes.machines import machines, missing
from tests.probes.networks import DEVICE, Network, run, star
from tests.waiting import eventually

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


@pytest.fixture
def ssh_hosts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Host]]:
    """Two machines, reached by ssh."""
    if reason := missing():
        pytest.skip(reason)
    with machines(tmp_path, [Link(None, 1500)] * 2) as made:
        monkeypatch.setenv("PATH", made.environment["PATH"])
        yield [by_ssh(name, made.network.addresses[name]) for name in made.names]


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
    found = run_steps(Mesh().steps(hosts, Load(1)))
    values = [each.value for each in found if each.metric == "goodput_bit_s"]
    assert values
    assert None not in values
    return min(filter(None, values))


def test_links_are_limited_in_the_block_and_not_after_it(hosts: list[Host], tmp_path: Path) -> None:
    before = state(hosts)
    assert goodput(hosts) > 200 * MBIT
    with in_force(dict.fromkeys(hosts, WANTED), Journal(tmp_path / "journal")) as settings:
        assert len(settings.changes) == 6
        assert goodput(hosts) == pytest.approx(goodput_bit_s(50 * MBIT, 4000), rel=0.03)
        assert settings.lost() is None
        assert INBOUND_DEVICE in state(hosts)[3]
    assert state(hosts) == before


def test_the_bytes_of_a_limited_link_are_counted_once(hosts: list[Host], tmp_path: Path) -> None:
    """What a host receives passes through a second device, which would count it again."""
    code = "from harness.node.traffic import interface_traffic; print(*interface_traffic())"
    with in_force(dict.fromkeys(hosts, WANTED), Journal(tmp_path / "journal")):
        for host in hosts:
            assert run(*host.argv(sys.executable, "-c", code)).split() == [DEVICE]


FLOOD = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as flood:
    for _ in range(10_000):
        flood.sendto(bytes(1400), (sys.argv[1], 9))
"""
COUNTERS = f"""
from pathlib import Path
from harness.node.traffic import interface_traffic
arrived = Path("/sys/class/net/{DEVICE}/statistics/rx_bytes").read_text()
print(arrived, interface_traffic()["{DEVICE}"][0])
"""


def test_what_the_limit_of_a_link_drops_was_not_received(hosts: list[Host], tmp_path: Path) -> None:
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


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_host_whose_connection_is_cut_or_stalls_puts_everything_back(
    ssh_hosts: list[Host], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    monkeypatch.setattr(guard, "LEASE_S", 2)
    hosts = [by_netns(host.name) for host in ssh_hosts]
    before = state(hosts)
    wanted = dict.fromkeys(ssh_hosts, WANTED)
    with in_force(wanted, Journal(tmp_path / "journal")) as settings:
        clients = connections(tmp_path)
        assert len(clients) == 2
        for process in clients:
            os.kill(process, number)
        eventually(lambda: state(hosts) == before, "something is still set")
        for process in clients:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        eventually(settings.lost)
        assert "its guard has ended" in (settings.lost() or "")
    assert state(hosts) == before


def connections(directory: Path) -> list[int]:
    """Return the ssh clients that use a file of this directory."""
    return list(map(int, run("pgrep", "-f", f"ssh -F {directory}/ssh_config").split()))


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
