"""A sweep of packet sizes measures both hosts, one way and both ways, and says what failed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.network_metrics import PACKET_CPU, PACKET_GOODPUT, packet_case
from harness.model.probe import Measurement
from harness.probes.mtu import mtu_of_all, packet_size_steps
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Outcomes, Transfer
from harness.settings.journal import Journal
from tests.unit.probe_builders import MBIT, a_link, measured

TWO = [by_local("node1", "10.0.0.1"), by_local("node2", "10.0.0.2")]


class FakeNetwork:
    """Hosts whose flows carry 800 Mbit/s forth and 400 Mbit/s back.

    Neither what a host in `lost` sends nor a packet larger than `max_packet` arrives; transfers from a
    host in `failing` fail. `loads` is how each flow was generated.
    """

    def __init__(self) -> None:
        self.lost: set[str] = set()
        self.failing: set[str] = set()
        self.max_packet = 9000
        self.loads: list[Load] = []

    def run_all(
        self, commands: Sequence[tuple[Host, Sequence[str]]], *_: object
    ) -> list[CompletedCommand]:
        answers = []
        for host, command in commands:
            size = int(command[command.index("-s") + 1]) + 28
            received = 0 if host.name in self.lost or size > self.max_packet else 3
            text = f"3 packets transmitted, {received} received"
            answers.append(CompletedCommand(0, text, ""))
        return answers

    def run_flows(self, flows: Sequence[Flow], load: Load) -> Outcomes:
        self.loads += [load for _ in flows]
        return {flow: self._transfer(flow, load) for flow in flows}

    def _transfer(self, flow: Flow, load: Load) -> Transfer | HostError:
        if flow.sender.name in self.failing:
            return HostError(f"{flow}: no route")
        rate = 800.0 if flow.sender.name == "node1" else 400.0
        cpus = {"node1": Cpu(50.0, 1.0, 0.0, 50.0), "node2": Cpu(25.0, 1.0, 0.0, 25.0)}
        report = Report(rate * MBIT, load.seconds, 0, 1.0, 1.0)
        return Transfer(report, [cpus[flow.sender.name], cpus[flow.receiver.name]])


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    fake = FakeNetwork()
    monkeypatch.setattr("harness.hosts.remote_process.run_all", fake.run_all)
    monkeypatch.setattr("harness.probes.mtu.run_flows", fake.run_flows)
    return fake


def values(
    found: Sequence[Measurement], case: str, subject: str = "node1 -> node2"
) -> dict[str, float]:
    return {
        each.metric: each.value
        for each in found
        if (each.subject, each.case) == (subject, case) and each.value is not None
    }


@pytest.mark.usefixtures("network")
class TestProcessorTime:
    def test_one_way_is_of_the_host_that_sends_and_the_one_that_receives(self) -> None:
        found = values(measured(packet_size_steps(TWO, [1500], Load(5))), packet_case(1500))
        assert found[PACKET_GOODPUT.name] == 800 * MBIT
        assert found[PACKET_CPU.sender.name] == 50
        assert found[PACKET_CPU.receiver.name] == 25

    def test_both_ways_each_host_is_sender_and_receiver(self) -> None:
        steps = packet_size_steps(TWO, [1500], Load(5), both_ways=True)
        assert len(steps) == 2
        found = measured(steps)
        forth = values(found, packet_case(1500, both_ways=True))
        back = values(found, packet_case(1500, both_ways=True), "node2 -> node1")
        assert (forth[PACKET_GOODPUT.name], back[PACKET_GOODPUT.name]) == (800 * MBIT, 400 * MBIT)
        assert forth[PACKET_CPU.sender.name] == back[PACKET_CPU.receiver.name] == 50


class TestMissing:
    def test_packets_that_do_not_arrive_are_not_measured(self, network: FakeNetwork) -> None:
        network.max_packet = 1500
        found = measured(packet_size_steps(TWO, [1500, 9000], Load()))
        assert [load.segment_bytes("10.0.0.2") for load in network.loads] == [1460]
        assert [load.segment_bytes("fd00::2") for load in network.loads] == [1440]
        assert {each.case for each in found if each.error} == {packet_case(9000)}

    def test_one_direction_alone_is_not_both_ways(self, network: FakeNetwork) -> None:
        network.lost = {"node2"}
        steps = packet_size_steps(TWO, [9000], Load(), both_ways=True)
        both_ways = [each for each in measured(steps[1:]) if each.metric == PACKET_GOODPUT.name]
        error = "node2 -> node1: the path does not carry packets of 9000 bytes"
        assert [(each.subject, each.error) for each in both_ways] == [
            ("node1 -> node2", error),
            ("node2 -> node1", error),
        ]

    def test_a_direction_that_fails_leaves_no_processor_time(self, network: FakeNetwork) -> None:
        network.failing = {"node2"}
        [_, step] = packet_size_steps(TWO, [9000], Load(), both_ways=True)
        assert [(each.subject, each.metric, each.value) for each in measured([step])] == [
            ("node1 -> node2", PACKET_GOODPUT.name, 800 * MBIT),
            ("node2 -> node1", PACKET_GOODPUT.name, None),
        ]


class TestSettingMtus:
    def test_each_size_is_set_while_it_is_measured_and_segments_are_not_limited(
        self, network: FakeNetwork
    ) -> None:
        moments: list[str] = []

        @contextmanager
        def set_mtu(size: int) -> Iterator[None]:
            moments.append(f"{size} after {len(network.loads)}")
            yield
            moments.append(f"back after {len(network.loads)}")

        found = measured(packet_size_steps(TWO, [1500, 9000], Load(), set_mtu=set_mtu))
        assert moments == ["1500 after 0", "back after 1", "9000 after 1", "back after 2"]
        assert {load.segment_bytes("10.0.0.2") for load in network.loads} == {None}
        assert {each.case for each in found if each.metric == PACKET_GOODPUT.name} == {
            "an MTU of 1500 bytes",
            "an MTU of 9000 bytes",
        }

    def test_an_mtu_that_a_host_refuses_is_an_error_of_its_pairs(
        self, network: FakeNetwork
    ) -> None:
        @contextmanager
        def set_mtu(size: int) -> Iterator[None]:
            raise HostError(f"node2: ip link set dev eth0 mtu {size}: mtu greater than maximum")
            yield

        [failed] = measured(packet_size_steps(TWO, [9000], Load(), set_mtu=set_mtu))
        assert failed.subject == "node1 -> node2"
        assert "mtu greater than maximum" in (failed.error or "")
        assert not network.loads

    @pytest.mark.usefixtures("network")
    def test_an_mtu_that_a_host_put_back_meanwhile_is_an_error_of_its_pairs(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        lost = "node1: MTU of eth0 is 1500, not 9000: its guard has ended"

        class PutBack:
            def lost(self) -> str:
                return lost

        @contextmanager
        def in_force(*_: object) -> Iterator[PutBack]:
            yield PutBack()

        monkeypatch.setattr("harness.probes.mtu.in_force", in_force)
        links = {host.name: a_link(host.name) for host in TWO}
        set_mtu = mtu_of_all(TWO, links, Journal(tmp_path / "journal"))
        [failed] = measured(packet_size_steps(TWO, [9000], Load(), set_mtu=set_mtu))
        assert failed.value is None
        assert failed.error == f"it did not stay set: {lost}"
