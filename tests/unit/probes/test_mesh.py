"""The mesh probe: which hosts are paired when, what is measured, and which hosts and pairs are slow."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.mesh import PairMatrix, pair_matrix, slow_hosts_and_pairs
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT, RETRANSMITS
from harness.probes.mesh import mesh_steps
from harness.probes.plan import one_pair_per_round, round_robin
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import OMITTED_S, Flow, Load, Transfer
from harness.probes.transports.host import HostError, by_local
from tests.unit.probe_builders import FOUR, MBIT, every_pair, pairs

FAST, SLOW = 940.0 * MBIT, 94.0 * MBIT
HOSTS = [by_local(name) for name in FOUR]


class TestRoundRobin:
    @given(st.integers(0, 40))
    def test_pairs_all_hosts_with_each_other_once(self, hosts: int) -> None:
        paired = [frozenset(pair) for round_ in round_robin(range(hosts)) for pair in round_]
        assert len(paired) == len(set(paired)) == hosts * (hosts - 1) // 2

    @given(st.integers(0, 40))
    def test_has_no_host_in_two_pairs_of_a_round(self, hosts: int) -> None:
        for paired in round_robin(range(hosts)):
            busy = [host for pair in paired for host in pair]
            assert len(busy) == len(set(busy))

    @given(st.integers(1, 20))
    def test_has_the_smallest_number_of_rounds(self, half: int) -> None:
        assert len(round_robin(range(2 * half))) == 2 * half - 1
        assert len(round_robin(range(2 * half + 1))) == 2 * half + 1

    @given(st.integers(0, 12))
    def test_has_the_same_pairs_as_one_pair_per_round(self, hosts: int) -> None:
        singles = one_pair_per_round(range(hosts))
        assert all(len(round_) == 1 for round_ in singles)
        assert {frozenset(pair) for round_ in singles for pair in round_} == {
            frozenset(pair) for round_ in round_robin(range(hosts)) for pair in round_
        }


@pytest.fixture
def flows_by_step(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace iperf3: the flows of each step are noted, and all to node4 fail."""
    noted: list[list[str]] = []

    def run_flows(flows: list[Flow], load: Load) -> list[Transfer | HostError]:
        noted.append([str(flow) for flow in flows])
        report = Report(FAST, load.seconds, None, 12.0, 15.0, ())
        return [
            HostError(f"{flow}: iperf3: no route")
            if flow.receiver.name == "node4"
            else Transfer(report, 0, sender_cpu=Cpu(40.0, 6.0, 8))
            for flow in flows
        ]

    monkeypatch.setattr("harness.probes.mesh.run_flows", run_flows)
    return noted


class TestMesh:
    def test_measures_each_pair_in_each_direction_and_in_both_at_once(
        self, flows_by_step: list[list[str]]
    ) -> None:
        steps = mesh_steps(HOSTS, Load(), both_ways=True, alone=False)
        measured = [measurement for step in steps for measurement in step.measure()]
        goodput = matrix(measured, MESH_GOODPUT)
        assert set(goodput.values) | set(goodput.errors) == set(every_pair(FOUR, 0))
        assert set(matrix(measured, MESH_GOODPUT, BOTH_WAYS).values) == set(goodput.values)
        assert [len(flows) for flows in flows_by_step] == [2, 2, 4] * 3

    def test_measures_the_other_pairs_if_one_fails(self, flows_by_step: list[list[str]]) -> None:
        steps = mesh_steps(HOSTS, Load(), both_ways=False, alone=False)
        goodput = matrix(
            [measurement for step in steps for measurement in step.measure()], MESH_GOODPUT
        )
        assert goodput.errors[("node1", "node4")] == "node1 -> node4: iperf3: no route"
        assert set(goodput.errors) == {(host, "node4") for host in FOUR[:3]}
        assert len(goodput.values) == 9

    def test_runs_one_flow_at_a_time_with_alone(self, flows_by_step: list[list[str]]) -> None:
        for step in mesh_steps(HOSTS, Load(), both_ways=False, alone=True):
            list(step.measure())
        assert [len(flows) for flows in flows_by_step] == [1] * 12

    def test_leaves_out_what_is_unknown(self, flows_by_step: list[list[str]]) -> None:
        [step, *_] = mesh_steps(HOSTS[:2], Load(), both_ways=False, alone=False)
        values = {measurement.metric: measurement.value for measurement in step.measure()}
        assert values["sender_softirq_percent"] == 6.0
        assert RETRANSMITS.name not in values
        assert "receiver_cpu_percent" not in values

    def test_expects_a_step_to_take_as_long_as_its_transfer(self) -> None:
        [forward, back] = mesh_steps(HOSTS[:2], Load(seconds=30), both_ways=False, alone=False)
        assert forward.expected_s == back.expected_s >= 30 + OMITTED_S


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
