"""Who meets whom, and what of a mesh is named as slow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.mesh import PairMatrix, pair_matrix, slow_hosts_and_pairs
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT, RETRANSMITS
from harness.probes import traffic
from harness.probes.mesh import mesh
from harness.probes.plan import one_pair_at_a_time, rounds
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Transfer
from harness.probes.transports.host import HostError, by_local
from tests.unit.probe_builders import FOUR, MBIT, every_pair, pairs

FAST, SLOW = 940.0 * MBIT, 94.0 * MBIT
HOSTS = [by_local(name) for name in FOUR]


class TestTournament:
    @given(st.integers(0, 40))
    def test_everybody_meets_everybody_once(self, hosts: int) -> None:
        met = [frozenset(pair) for one in rounds(range(hosts)) for pair in one]
        assert len(met) == len(set(met)) == hosts * (hosts - 1) // 2

    @given(st.integers(0, 40))
    def test_nobody_is_in_two_places_at_once(self, hosts: int) -> None:
        for one in rounds(range(hosts)):
            there = [player for pair in one for player in pair]
            assert len(there) == len(set(there))

    @given(st.integers(1, 20))
    def test_it_takes_no_more_rounds_than_it_has_to(self, half: int) -> None:
        assert len(rounds(range(2 * half))) == 2 * half - 1
        assert len(rounds(range(2 * half + 1))) == 2 * half + 1

    @given(st.integers(0, 12))
    def test_one_by_one_has_the_same_pairs(self, hosts: int) -> None:
        alone = [frozenset(pair) for one in one_pair_at_a_time(range(hosts)) for pair in one]
        together = [frozenset(pair) for one in rounds(range(hosts)) for pair in one]
        assert set(alone) == set(together)
        assert all(len(one) == 1 for one in one_pair_at_a_time(range(hosts)))


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What is carried, step by step; node4's iperf3 fails as receiver."""
    seen: list[list[str]] = []

    def carry(flows: list[Flow], load: Load) -> list[Transfer | HostError]:
        seen.append([str(flow) for flow in flows])
        report = Report(FAST, load.seconds, None, 12.0, 15.0, ())
        return [
            HostError(f"{flow}: iperf3: no route")
            if flow.receiver.name == "node4"
            else Transfer(report, 0, sender_cpu=Cpu(40.0, 6.0, 8))
            for flow in flows
        ]

    monkeypatch.setattr("harness.probes.mesh.carry", carry)
    return seen


class TestMesh:
    def test_each_pair_is_measured_there_back_and_both_ways(self, carried: list[list[str]]) -> None:
        steps = mesh(HOSTS, Load(), both_ways=True, alone=False)
        measured = [one for step in steps for one in step.take()]
        goodput = pair_matrix(measured, MESH_GOODPUT)
        assert set(goodput.values) | set(goodput.errors) == set(every_pair(FOUR, 0))
        assert set(pair_matrix(measured, MESH_GOODPUT, BOTH_WAYS).values) == set(goodput.values)
        assert [len(flows) for flows in carried] == [2, 2, 4] * 3

    def test_one_that_fails_does_not_stop_the_rest(self, carried: list[list[str]]) -> None:
        steps = mesh(HOSTS, Load(), both_ways=False, alone=False)
        goodput = pair_matrix([one for step in steps for one in step.take()], MESH_GOODPUT)
        assert goodput.errors[("node1", "node4")] == "node1 -> node4: iperf3: no route"
        assert set(goodput.errors) == {(host, "node4") for host in FOUR[:3]}

    def test_alone_there_is_one_flow_at_a_time(self, carried: list[list[str]]) -> None:
        for step in mesh(HOSTS, Load(), both_ways=False, alone=True):
            list(step.take())
        assert [len(flows) for flows in carried] == [1] * 12

    def test_what_is_not_known_is_not_there(self, carried: list[list[str]]) -> None:
        [step, *_] = mesh(HOSTS[:2], Load(), both_ways=False, alone=False)
        found = {one.metric: one.value for one in step.take()}
        assert found["sender_softirq_percent"] == 6.0
        assert RETRANSMITS.name not in found
        assert "receiver_cpu_percent" not in found

    def test_a_plan_is_as_long_as_its_transfers(self) -> None:
        [there, back] = mesh(HOSTS[:2], Load(seconds=30), both_ways=False, alone=False)
        assert there.planned_s == back.planned_s >= 30 + traffic.OMITTED_S


class TestMatrix:
    def test_the_repeats_of_a_pair_are_their_median(self) -> None:
        values = (3.0, 1.0, 8.0)
        measured = [one for value in values for one in pairs(MESH_GOODPUT, {("a", "b"): value})]
        assert pair_matrix(measured, MESH_GOODPUT).values == {("a", "b"): 3.0}

    def test_a_pair_that_failed_once_has_the_value_of_its_other_repeats(self) -> None:
        measured = [
            *pairs(MESH_GOODPUT, {("a", "b"): "down"}),
            *pairs(MESH_GOODPUT, {("a", "b"): 2.0, ("b", "a"): "down"}),
        ]
        held = pair_matrix(measured, MESH_GOODPUT)
        assert held.values == {("a", "b"): 2.0}
        assert held.errors == {("b", "a"): "down"}

    def test_hosts_are_in_the_order_of_their_numbers(self) -> None:
        measured = pairs(MESH_GOODPUT, {("node10", "node2"): 1.0, ("node1", "other"): 1.0})
        assert pair_matrix(measured, MESH_GOODPUT).hosts == ("node1", "node2", "node10", "other")


def mesh_of(
    hosts: tuple[str, ...] = FOUR, slow: Mapping[tuple[str, str], float] | None = None
) -> PairMatrix:
    return pair_matrix(
        pairs(MESH_GOODPUT, every_pair(hosts, FAST) | dict(slow or {})), MESH_GOODPUT
    )


def from_host(host: str, hosts: tuple[str, ...] = FOUR) -> dict[tuple[str, str], float]:
    return {(host, other): SLOW for other in hosts if other != host}


def to_host(host: str, hosts: tuple[str, ...] = FOUR) -> dict[tuple[str, str], float]:
    return {(other, host): SLOW for other in hosts if other != host}


class TestSlowness:
    def test_there_is_none_among_equals(self) -> None:
        assert slow_hosts_and_pairs(mesh_of()) == []
        assert slow_hosts_and_pairs(PairMatrix((), {}, {})) == []

    @pytest.mark.parametrize("hosts", [FOUR[:3], FOUR, tuple(f"n{i}" for i in range(20))])
    def test_a_slow_link_is_one_line_that_names_its_host(self, hosts: tuple[str, ...]) -> None:
        slow = hosts[2]
        [line] = slow_hosts_and_pairs(mesh_of(hosts, from_host(slow, hosts) | to_host(slow, hosts)))
        assert line == f"{slow} is slow: 94.0 Mbit/s with its peers; typical is 940.0 Mbit/s"

    def test_a_host_that_only_sends_slowly_is_told_apart(self) -> None:
        [line] = slow_hosts_and_pairs(mesh_of(slow=from_host("node2")))
        assert line.startswith("node2 sends slowly: 94.0 Mbit/s")
        [line] = slow_hosts_and_pairs(mesh_of(slow=to_host("node2")))
        assert line.startswith("node2 receives slowly: 94.0 Mbit/s")

    def test_a_slow_pair_is_named_and_its_hosts_are_not(self) -> None:
        slow = {("node1", "node3"): SLOW, ("node3", "node1"): SLOW}
        [line] = slow_hosts_and_pairs(mesh_of(slow=slow))
        assert line == (
            "node1 <-> node3 is slow: 94.0 Mbit/s there, 94.0 Mbit/s back; typical is 940.0 Mbit/s"
        )

    def test_an_asymmetric_pair_is_named_with_both_directions(self) -> None:
        [line] = slow_hosts_and_pairs(mesh_of(slow={("node3", "node1"): SLOW}))
        assert line == "node1 <-> node3 is asymmetric: 940.0 Mbit/s there, 94.0 Mbit/s back"

    def test_of_two_hosts_it_is_the_pair(self) -> None:
        [line] = slow_hosts_and_pairs(mesh_of(("a", "b"), {("b", "a"): SLOW}))
        assert line.startswith("a <-> b is asymmetric")

    def test_two_slow_links_of_four_are_two_lines(self) -> None:
        slow = {**from_host("node1"), **to_host("node1"), **from_host("node2"), **to_host("node2")}
        assert [line.split(":")[0] for line in slow_hosts_and_pairs(mesh_of(slow=slow))] == [
            "node1 is slow",
            "node2 is slow",
        ]

    def test_two_that_share_a_machine_do_not_make_the_others_slow(self) -> None:
        hosts = tuple(f"n{i}" for i in range(8))
        near = {("n0", "n1"): 20 * FAST, ("n1", "n0"): 20 * FAST}
        assert slow_hosts_and_pairs(mesh_of(hosts, near)) == []

    def test_less_than_a_tenth_is_not_slow(self) -> None:
        assert slow_hosts_and_pairs(mesh_of(slow={("node1", "node2"): 0.93 * FAST})) == []
