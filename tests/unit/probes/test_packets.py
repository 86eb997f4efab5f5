"""A sweep of packet sizes charges each host for what it sends and receives, and says what is unknown."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

import pytest

from harness.hosts.remote_process import CompletedCommand
from harness.hosts.transports.host import Host, HostError, by_local
from harness.model.network_metrics import (
    CYCLES,
    HARDWARE_COUNTERS,
    INSTRUCTIONS,
    PACKET_COST,
    PACKET_CPU,
    PACKET_GOODPUT,
)
from harness.model.packet_case import PacketCase
from harness.model.probe import Measurement
from harness.probes.packets import packet_size_steps
from harness.probes.plan import ProbeStep
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.tools.perf import Counters
from harness.probes.traffic import Flow, Load, Transfer
from tests.unit.probe_builders import MBIT

TWO = [by_local("node1", "10.0.0.1"), by_local("node2", "10.0.0.2")]
NO_COUNTERS = HostError("node2: perf is not installed")


class FakeNetwork:
    """Hosts whose flows carry 800 Mbit/s forth and 400 Mbit/s back; node1 counts, node2 does not.

    What a host in `lost` sends does not arrive, and transfers from one in `failing` fail. `asked` are the
    hosts on which perf was started, and `loads` how each flow was generated.
    """

    def __init__(self) -> None:
        self.lost: set[str] = set()
        self.failing: set[str] = set()
        self.asked: list[list[str]] = []
        self.loads: list[Load] = []

    def run_all(
        self, commands: Sequence[tuple[Host, Sequence[str]]], *_: object
    ) -> list[CompletedCommand]:
        answers = []
        for host, _command in commands:
            received = 0 if host.name in self.lost else 3
            text = f"3 packets transmitted, {received} received"
            answers.append(CompletedCommand(0, text, "", 0))
        return answers

    def run_flows(
        self, flows: Sequence[Flow], load: Load, counting: Collection[str]
    ) -> list[Transfer | HostError]:
        self.asked.append(sorted(counting))
        self.loads.append(load)
        return [self._transfer(flow, load, counting) for flow in flows]

    def _transfer(self, flow: Flow, load: Load, counting: Collection[str]) -> Transfer | HostError:
        if flow.sender.name in self.failing:
            return HostError(f"{flow}: no route")
        rate = 800.0 if flow.sender.name == "node1" else 400.0
        cpus = {"node1": Cpu(50.0, 1.0, 4), "node2": Cpu(25.0, 1.0, 2)}
        counters = {"node1": Counters(3e8, 6e8), "node2": NO_COUNTERS}
        ends = [flow.sender.name, flow.receiver.name]
        return Transfer(
            Report(rate * MBIT, load.seconds, 0, 1.0, 1.0, ()),
            0,
            [cpus[name] for name in ends],
            [counters[name] if name in counting else None for name in ends],
        )


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> FakeNetwork:
    fake = FakeNetwork()
    monkeypatch.setattr("harness.hosts.remote_process.run_all", fake.run_all)
    monkeypatch.setattr("harness.probes.packets.run_flows", fake.run_flows)
    return fake


def measured(steps: Sequence[ProbeStep]) -> list[Measurement]:
    return [measurement for step in steps for measurement in step.measure()]


def values(
    found: Sequence[Measurement], case: PacketCase, subject: str = "node1 -> node2"
) -> dict[str, float]:
    return {
        each.metric: each.value
        for each in found
        if (each.subject, each.case) == (subject, str(case)) and each.value is not None
    }


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("mtu_is_set", [False, True])
def test_a_case_is_read_as_it_is_written(*, both_ways: bool, mtu_is_set: bool) -> None:
    case = PacketCase(8982, both_ways, mtu_is_set)
    assert PacketCase.parse(str(case)) == case


@pytest.mark.parametrize("text", ["", "both ways", "packets of 0 bytes", "packets of 9 bytes, x"])
def test_another_text_is_no_case(text: str) -> None:
    assert PacketCase.parse(text) is None


@pytest.mark.usefixtures("network")
class TestCosts:
    def test_one_way_are_for_what_one_host_sends_and_the_other_receives(self) -> None:
        found = values(measured(packet_size_steps(TWO, [1500], Load(5))), PacketCase(1500))
        assert found[PACKET_GOODPUT.name] == 800 * MBIT
        assert found[PACKET_CPU.sender.name] == 50
        assert found[PACKET_CPU.receiver.name] == 25
        assert found[PACKET_COST.sender.name] == pytest.approx(2.0 / 0.8)
        assert found[PACKET_COST.receiver.name] == pytest.approx(0.5 / 0.8)
        assert found[INSTRUCTIONS.sender.name] == pytest.approx(3.0)
        assert CYCLES.receiver.name not in found

    def test_both_ways_are_for_the_bytes_of_both_directions(self) -> None:
        steps = packet_size_steps(TWO, [1500], Load(5), both_ways=True)
        assert len(steps) == 2
        found = measured(steps)
        forth = values(found, PacketCase(1500, both_ways=True))
        back = values(found, PacketCase(1500, both_ways=True), "node2 -> node1")
        assert (forth[PACKET_GOODPUT.name], back[PACKET_GOODPUT.name]) == (800 * MBIT, 400 * MBIT)
        assert forth[PACKET_COST.sender.name] == pytest.approx(2.0 / 1.2)
        assert forth[PACKET_COST.sender.name] == back[PACKET_COST.receiver.name]
        assert forth[INSTRUCTIONS.sender.name] == pytest.approx(2.0)


class TestMissing:
    def test_a_host_that_counts_nothing_says_why_once(self, network: FakeNetwork) -> None:
        found = measured(packet_size_steps(TWO, [1500, 9000], Load()))
        errors = [(each.subject, each.metric, each.error) for each in found if each.error]
        assert errors == [("node2", HARDWARE_COUNTERS.name, str(NO_COUNTERS))]
        assert network.asked == [["node1", "node2"], ["node1"]]

    def test_one_direction_alone_is_not_both_ways(self, network: FakeNetwork) -> None:
        network.lost = {"node2"}
        steps = packet_size_steps(TWO, [9000], Load(), both_ways=True)
        both_ways = [each for each in steps[1].measure() if each.metric == PACKET_GOODPUT.name]
        error = "node2 -> node1: the path does not carry packets of 9000 bytes"
        assert [(each.subject, each.error) for each in both_ways] == [
            ("node1 -> node2", error),
            ("node2 -> node1", error),
        ]

    def test_a_direction_that_fails_leaves_no_costs(self, network: FakeNetwork) -> None:
        network.failing = {"node2"}
        [_, step] = packet_size_steps(TWO, [9000], Load(), both_ways=True)
        assert [(each.subject, each.metric, each.value) for each in step.measure()] == [
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
        assert {load.mss_bytes for load in network.loads} == {None}
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
