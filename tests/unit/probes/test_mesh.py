"""The mesh probe: which flows run at the same time, and what is measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.network.measured import pair_matrix
from harness.hosts.transports.host import HostError, by_local
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT, RETRANSMITS
from harness.probes.mesh import Mesh
from harness.probes.tools.cpu import Cpu
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import OMITTED_S, Flow, Load, Outcomes, Transfer
from tests.unit.probe_builders import FOUR, MBIT, every_pair, measured

HOSTS = [by_local(name) for name in FOUR]


@pytest.fixture
def flows_by_step(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Replace iperf3: the flows of each step are noted, and all to node4 fail."""
    noted: list[list[str]] = []

    def run_flows(flows: list[Flow], load: Load) -> Outcomes:
        noted.append([str(flow) for flow in flows])
        report = Report(940.0 * MBIT, load.seconds, None, 12.0, 15.0)
        return {
            flow: HostError(f"{flow}: iperf3: no route")
            if flow.receiver.name == "node4"
            else Transfer(report, cpus=(Cpu(40.0, 6.0, 0.0, 40.0), None))
            for flow in flows
        }

    monkeypatch.setattr("harness.probes.mesh.run_flows", run_flows)
    return noted


class TestMesh:
    def test_measures_each_pair_in_each_direction_and_in_both_at_once(
        self, flows_by_step: list[list[str]]
    ) -> None:
        steps = Mesh(both_ways=True).steps(HOSTS, Load())
        found = measured(steps)
        goodput = pair_matrix(found, MESH_GOODPUT)
        assert set(goodput.values) | set(goodput.errors) == set(every_pair(FOUR, 0))
        assert set(pair_matrix(found, MESH_GOODPUT, BOTH_WAYS).values) == set(goodput.values)
        assert [len(flows) for flows in flows_by_step] == [2, 2, 4] * 3

    def test_measures_the_other_pairs_if_one_fails(self, flows_by_step: list[list[str]]) -> None:
        steps = Mesh().steps(HOSTS, Load())
        goodput = pair_matrix(measured(steps), MESH_GOODPUT)
        assert goodput.errors[("node1", "node4")] == "node1 -> node4: iperf3: no route"
        assert set(goodput.errors) == {(host, "node4") for host in FOUR[:3]}
        assert len(goodput.values) == 9

    def test_runs_one_flow_at_a_time_if_told_so(self, flows_by_step: list[list[str]]) -> None:
        for step in Mesh(pairs_at_once=1).steps(HOSTS, Load()):
            list(step.measure())
        assert [len(flows) for flows in flows_by_step] == [1] * 12

    def test_leaves_out_what_is_unknown(self, flows_by_step: list[list[str]]) -> None:
        [step, *_] = Mesh().steps(HOSTS[:2], Load())
        values = {measurement.metric: measurement.value for measurement in measured([step])}
        assert values["sender_softirq_percent"] == 6.0
        assert RETRANSMITS.name not in values
        assert "receiver_cpu_percent" not in values

    def test_expects_a_step_to_take_as_long_as_its_transfer(self) -> None:
        [forward, back] = Mesh().steps(HOSTS[:2], Load(seconds=30))
        assert forward.expected_s == back.expected_s >= 30 + OMITTED_S


class TestRounds:
    @given(st.integers(0, 60), st.integers(1, 70), st.integers(0, 5))
    def test_no_pair_is_chosen_twice_and_no_host_is_in_two_pairs(
        self, count: int, rounds: int, seed: int
    ) -> None:
        hosts = [by_local(f"n{number}") for number in range(count)]
        chosen = Mesh(rounds, seed).pairing(hosts)
        assert len(chosen) == min(rounds, max(0, count - 1 + count % 2))
        pairs = [frozenset(map(str, pair)) for pairs in chosen for pair in pairs]
        assert len(pairs) == len(set(pairs))
        for round_ in chosen:
            busy = [str(host) for pair in round_ for host in pair]
            assert len(busy) == len(set(busy)) == count - count % 2

    def test_a_seed_gives_the_same_pairs_again_and_another_seed_gives_others(self) -> None:
        hosts = [by_local(f"n{number}") for number in range(64)]
        first, again, other = (Mesh(6, seed).pairing(hosts) for seed in (1, 1, 2))
        assert first == again != other
