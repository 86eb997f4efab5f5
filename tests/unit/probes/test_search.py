"""The search for slow hosts: which pairs are drawn, which are measured again, and what is found."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.analysis.network.mesh_verdict import MeshVerdict, judge_mesh
from harness.analysis.network.search import goodput_matrix
from harness.hosts.transports.host import HostError
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT, PAIRS, SAMPLED
from harness.model.probe import BEFORE, LinkSnapshot, Measurement, ProbeRun, RecordedProbes
from harness.probes.kinds import findings
from harness.probes.mesh import Mesh
from harness.probes.search import disjoint_rounds, drawn_rounds, rounds_for
from harness.probes.traffic import Flow, Load, Transfer
from harness.statistics.pairwise import AGAIN
from tests.simulated_hosts import SimulatedNetwork, names, search
from tests.unit.probe_builders import a_link


def verdict_on(network: SimulatedNetwork, count: int) -> MeshVerdict:
    return judge_mesh(search(network, count))


def slow_hosts(verdict: MeshVerdict) -> set[str]:
    return {role.host for role in verdict.roles}


@dataclass
class HalfDuplex(SimulatedNetwork):
    """A network in which one host is slow while it sends and receives at the same time."""

    slow: str = ""

    def run_flows(self, flows: Sequence[Flow], load: Load) -> list[Transfer | HostError]:
        pairs = len({frozenset((flow.sender, flow.receiver)) for flow in flows})
        if pairs == len(flows):
            return super().run_flows(flows, load)
        self.sends = self.receives = {self.slow: 0.5}
        both = [
            super(HalfDuplex, self).run_flows(part, load) for part in (flows[:pairs], flows[pairs:])
        ]
        self.sends = self.receives = {}
        return [*both[0], *both[1]]


class TestDrawnRounds:
    @given(st.integers(0, 60), st.integers(1, 70), st.integers(0, 5))
    def test_no_pair_is_drawn_twice_and_no_host_is_in_two_pairs(
        self, hosts: int, rounds: int, seed: int
    ) -> None:
        drawn = drawn_rounds(range(hosts), rounds, seed)
        pairs = [frozenset(pair) for round_ in drawn for pair in round_]
        assert len(pairs) == len(set(pairs))
        for round_ in drawn:
            busy = [host for pair in round_ for host in pair]
            assert len(busy) == len(set(busy)) == hosts - hosts % 2

    @given(st.integers(2, 30))
    def test_enough_rounds_are_all_pairs(self, hosts: int) -> None:
        pairs = {frozenset(pair) for round_ in drawn_rounds(range(hosts), 99, 1) for pair in round_}
        assert len(pairs) == hosts * (hosts - 1) // 2

    def test_a_seed_gives_the_same_pairs_again_and_another_seed_gives_others(self) -> None:
        first, again, other = (drawn_rounds(range(64), 6, seed) for seed in (1, 1, 2))
        assert first == again != other

    @pytest.mark.parametrize(("hosts", "rounds"), [(13, 4), (64, 6), (1000, 10), (10_000, 14)])
    def test_there_are_as_many_as_the_logarithm_of_the_hosts(self, hosts: int, rounds: int) -> None:
        assert rounds_for(hosts) == rounds

    @given(st.lists(st.tuples(st.integers(0, 20), st.integers(21, 40)), max_size=60))
    def test_pairs_put_into_disjoint_rounds_are_all_there(
        self, pairs: Sequence[tuple[int, int]]
    ) -> None:
        rounds = disjoint_rounds(pairs)
        assert sorted(pair for round_ in rounds for pair in round_) == sorted(pairs)
        for round_ in rounds:
            busy = [member for pair in round_ for member in pair]
            assert len(busy) == len(set(busy))


class TestSearch:
    def test_a_sound_network_has_no_suspect_and_no_follow_up(self) -> None:
        network = SimulatedNetwork(deviation=0.01)
        verdict = verdict_on(network, 64)
        assert verdict.search
        assert (verdict.findings, verdict.search.suspects) == ((), 0)
        assert len(network.batches) == 2 * 6

    @settings(max_examples=30, deadline=None)
    @given(st.integers(13, 90), st.integers(0, 10**6))
    def test_every_slow_host_and_no_other_is_found(self, count: int, seed: int) -> None:
        rng = random.Random(seed)  # noqa: S311  chance that can be repeated
        slow = rng.sample(names(count), rng.randint(0, count // 8))
        fractions = {name: rng.uniform(0.05, 0.75) for name in slow}
        network = SimulatedNetwork(sends=fractions, receives=fractions, deviation=0.01, seed=seed)
        assert slow_hosts(verdict_on(network, count)) == {*slow}

    def test_a_host_that_only_receives_slowly_is_named_so(self) -> None:
        [finding] = verdict_on(SimulatedNetwork(receives={"node00005": 0.5}), 40).findings
        assert str(finding).startswith("node00005: receives slowly, 470.0 Mbit/s with its peers")

    def test_a_host_that_is_down_is_named_and_its_peers_are_not(self) -> None:
        probed = search(SimulatedNetwork(down=["node00005"]), 40)
        failed = 2 * (rounds_for(40) + AGAIN)
        [finding] = findings(probed)
        assert finding.subject == "node00005"
        assert finding.text.startswith(f"{failed} of its {failed} paths failed, the first with: ")

    def test_a_bad_path_is_found_if_it_was_drawn(self) -> None:
        [(a, b), *_] = drawn_rounds(names(40), rounds_for(40), Mesh().seed)[0]
        verdict = verdict_on(SimulatedNetwork(paths={(a, b): 0.5, (b, a): 0.5}), 40)
        assert not slow_hosts(verdict)
        [finding] = verdict.findings
        assert "slow, 470.0 Mbit/s there, 470.0 Mbit/s back" in finding.text

    def test_transfers_that_something_disturbed_once_are_no_findings(self) -> None:
        network = SimulatedNetwork(deviation=0.01, disturbed=0.02)
        verdict = verdict_on(network, 200)
        assert verdict.findings == ()
        assert len(network.batches) > 2 * rounds_for(200)

    def test_slow_hosts_up_to_a_quarter_of_all_do_not_hide_each_other(self) -> None:
        slow = dict.fromkeys(names(60)[::4], 0.4)
        verdict = verdict_on(SimulatedNetwork(sends=slow, receives=slow, deviation=0.01), 60)
        assert slow_hosts(verdict) == {*slow}

    @pytest.mark.parametrize("part", [0.45, 0.7, 0.9])
    def test_if_most_pairs_are_slow_the_network_is_not_called_sound(self, part: float) -> None:
        slow = dict.fromkeys(names(40)[: int(40 * part)], 0.1)
        probed = search(SimulatedNetwork(sends=slow, receives=slow, deviation=0.01), 40)
        [unknown] = findings(probed)
        assert "is slower than most others, but some reach 9" in unknown.text
        assert not unknown.is_fault
        links = [LinkSnapshot(BEFORE, a_link(name)) for name in names(40)]
        known = findings(replace(probed, events=(*links, *probed.events)))
        assert all(finding.is_fault for finding in known)
        named = {finding.subject for finding in known}
        # A sound host that met slow ones alone cannot be told from them.
        assert {*slow} <= named or [
            "too many hosts are slow for a search to name them" in finding.text for finding in known
        ] == [True]

    def test_a_network_in_which_nothing_works_has_nothing_typical(self) -> None:
        verdict = verdict_on(SimulatedNetwork(down=names(20)), 20)
        assert verdict.search
        assert (verdict.search.sound, verdict.findings) == (None, ())

    def test_no_more_pairs_run_at_once_than_are_allowed(self) -> None:
        network = SimulatedNetwork(sends={"node00002": 0.1})
        search(network, 50, pairs_at_once=7)
        assert max(network.batches) == 7

    def test_a_fault_in_both_directions_at_once_is_followed_up(self) -> None:
        probed = search(HalfDuplex(slow="node00003"), 30, both_ways=True)
        assert not judge_mesh(probed).roles
        assert slow_hosts(judge_mesh(probed, BOTH_WAYS)) == {"node00003"}

    def test_a_record_has_each_round_of_a_subject_once(self) -> None:
        slow = {"node00002": 0.5}
        probed = search(SimulatedNetwork(sends=slow, receives=slow, disturbed=0.05), 30, repeats=3)
        identities = [_identity(measured) for measured in probed.measurements]
        assert len(identities) == len(set(identities))
        drawn = [m for m in probed.measurements if m.metric == MESH_GOODPUT.name and m.round == 3]
        assert len(drawn) >= 30 * rounds_for(30)

    def test_the_value_that_made_a_pair_a_suspect_does_not_count(self) -> None:
        run = ProbeRun("many", ("a", "b"), {PAIRS: SAMPLED})
        measured = tuple(MESH_GOODPUT.of("a -> b", value) for value in (1.0, 7.0, 9.0, 8.0))
        assert goodput_matrix(RecordedProbes(run, measured)).values == {("a", "b"): 8.0}


def _identity(measured: Measurement) -> tuple[object, ...]:
    return measured.metric, measured.subject, measured.case, measured.round
