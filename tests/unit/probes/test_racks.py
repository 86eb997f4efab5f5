"""The racks probe: the drawn pairs, and the ratio that follows from what they carry."""

import random
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.hosts.transports.host import HostError, by_local
from harness.model.link import goodput_bit_s
from harness.model.network_metrics import ACROSS_RACKS, OVERSUBSCRIPTION, WITHIN_RACK
from harness.model.probe import ProbeSample, samples
from harness.probes.racks import Rack, flows_across, flows_within, oversubscription_text, rack_steps
from harness.probes.tools.iperf3 import Report
from harness.probes.traffic import Flow, Load, Outcomes, Transfer
from tests.unit import probe_builders

GBIT = 10**9


def rng(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  chance that can be repeated


def a_rack(name: str, hosts: int) -> Rack:
    return Rack(name, tuple(by_local(f"{name}{i}") for i in range(hosts)))


class TestDrawnFlows:
    @given(st.integers(1, 30), st.integers(1, 30), st.integers())
    def test_across_racks_have_each_sender_once_and_all_receivers_equally_often(
        self, senders: int, receivers: int, seed: int
    ) -> None:
        flows = flows_across(a_rack("a", senders), a_rack("b", receivers), rng(seed))
        assert [flow.sender.name for flow in flows] == [f"a{i}" for i in range(senders)]
        drawn = Counter(flow.receiver.name for flow in flows)
        assert max(drawn.values()) - min(drawn[f"b{i}"] for i in range(receivers)) <= 1

    @given(st.integers(0, 31), st.integers())
    def test_within_a_rack_are_disjoint_and_use_all_hosts_but_an_odd_one(
        self, hosts: int, seed: int
    ) -> None:
        flows = flows_within(a_rack("a", hosts), rng(seed))
        busy = [host.name for flow in flows for host in (flow.sender, flow.receiver)]
        assert len(busy) == len(set(busy)) == hosts - hosts % 2

    def test_are_the_same_for_the_same_seed(self) -> None:
        first, second = (flows_across(a_rack("a", 20), a_rack("b", 20), rng(7)) for _ in range(2))
        assert first == second
        assert first != flows_across(a_rack("a", 20), a_rack("b", 20), rng(8))


Measured = Callable[..., dict[tuple[str, str], ProbeSample]]


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Measured:
    """Measure two racks whose hosts have 1 Gbit/s each, and share an uplink; return the samples."""

    def measure(
        uplink: float, first: int = 4, second: int = 4, broken: str = ""
    ) -> dict[tuple[str, str], ProbeSample]:
        def run_flows(flows: Sequence[Flow], load: Load) -> Outcomes:
            across = [flow for flow in flows if flow.sender.name[0] != flow.receiver.name[0]]
            bit_s = min(GBIT, uplink / len(across)) if across else GBIT
            report = Report(bit_s, load.seconds, 0, None, None)
            return {
                flow: HostError(f"{flow}: iperf3: no route")
                if flow.sender.name == broken
                else Transfer(report, (None, None))
                for flow in flows
            }

        monkeypatch.setattr("harness.probes.racks.run_flows", run_flows)
        steps = rack_steps(a_rack("a", first), a_rack("b", second), Load(), draws=3, seed=1)
        found = samples(probe_builders.measured(steps))
        return {(sample.metric, sample.subject): sample for sample in found}

    return measure


class TestRacks:
    @pytest.mark.parametrize(("uplink", "ratio"), [(GBIT, 4), (2 * GBIT, 2), (16 * GBIT, 1)])
    def test_the_ratio_is_what_the_hosts_could_carry_to_what_they_carried(
        self, measured: Measured, uplink: float, ratio: float
    ) -> None:
        found = measured(uplink)
        across_bit_s = min(uplink, 4 * GBIT)
        assert found[WITHIN_RACK.name, "a"].values == pytest.approx([GBIT] * 3)
        for subject in ("a -> b", "b -> a"):
            assert found[OVERSUBSCRIPTION.name, subject].values == pytest.approx([ratio] * 3)
            assert found[ACROSS_RACKS.name, subject].values == pytest.approx([across_bit_s] * 3)

    def test_more_senders_than_receivers_are_not_oversubscription(self, measured: Measured) -> None:
        found = measured(2 * GBIT, first=4, second=2)
        assert found[OVERSUBSCRIPTION.name, "a -> b"].values == pytest.approx([1, 1, 1])

    def test_a_rack_of_one_host_has_the_rate_of_the_other_racks_hosts(
        self, measured: Measured
    ) -> None:
        found = measured(GBIT, first=4, second=1)
        assert (WITHIN_RACK.name, "b") not in found
        assert found[OVERSUBSCRIPTION.name, "a -> b"].values == pytest.approx([1, 1, 1])

    def test_two_racks_of_one_host_have_no_ratio(self, measured: Measured) -> None:
        assert {metric for metric, _ in measured(GBIT, 1, 1)} == {ACROSS_RACKS.name}

    def test_a_host_that_fails_is_an_error_and_the_other_hosts_count(
        self, measured: Measured
    ) -> None:
        found = measured(3 * GBIT / 4, broken="a0")
        errors = [error for sample in found.values() for error in sample.errors]
        assert errors
        assert all(error.endswith(": iperf3: no route") and "a0 -> " in error for error in errors)
        across = found[ACROSS_RACKS.name, "a -> b"].values
        assert across == pytest.approx([3 / 4 * 3 * GBIT / 4] * 3)


class TestOversubscriptionText:
    @pytest.mark.parametrize(
        ("ratios", "text"),
        [
            ([3.9, 4.05, 4.1], "about 4:1 (3.9 to 4.1 in 3 draws), uplink near 10gbit"),
            ([2.51], "about 2.5:1 (in a single draw), uplink near 10gbit"),
            ([1.0, 1.1], "1:1 (1.0 to 1.1 in 2 draws), the uplink carries 10gbit or more"),
        ],
    )
    def test_has_the_ratio_the_range_of_the_draws_and_the_uplink(
        self, ratios: list[float], text: str
    ) -> None:
        across_bit_s = [goodput_bit_s(10 * GBIT, 1500)] * len(ratios)
        assert oversubscription_text(ratios, across_bit_s) == text

    def test_takes_the_mtu_into_account(self) -> None:
        jumbo = goodput_bit_s(10 * GBIT, 9000)
        text = oversubscription_text([4.0], [jumbo], mtu=9000)
        assert text.endswith("uplink near 10gbit")
