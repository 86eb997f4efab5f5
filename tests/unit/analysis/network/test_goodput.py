"""What a host's link can carry: as probes measured it, else in theory, else unknown."""

from collections.abc import Mapping
from typing import Any

import pytest

from harness.analysis.network.goodput import MEASURED, TYPICAL, Goodput, goodput
from harness.analysis.network.measured import RECEIVES, SENDS, PairMatrix, pair_matrix
from harness.model.link import goodput_bit_s
from harness.model.network_metrics import MESH_GOODPUT
from tests.unit.builders import a_run, known

NO_PROBES = pair_matrix((), MESH_GOODPUT)
GBIT = 10**9


def mesh(**bit_s: float) -> PairMatrix:
    """Return the goodput of pairs of hosts, such as `n1_n2`."""
    pairs = {tuple(name.split("_")): value for name, value in bit_s.items()}
    return pair_matrix(
        [MESH_GOODPUT.of((a, b), value) for (a, b), value in pairs.items()], MESH_GOODPUT
    )


def in_theory(link: Mapping[str, Any], **fields: Any) -> Goodput | None:
    environment = {"nodes": {"n1": {"eth0": {"state": "up", **link}}}}
    return goodput(a_run(environment=environment, **fields), NO_PROBES, "n1")


class TestMeasured:
    MESH = mesh(n1_n2=90.0, n1_n3=70.0, n2_n1=50.0, n3_n1=40.0, n2_n3=80.0, n3_n2=80.0)

    def test_is_the_best_of_the_hosts_pairs_in_each_direction(self) -> None:
        """A slow peer is no property of the host's link."""
        found = goodput(a_run(), self.MESH, "n1")
        assert found == Goodput(received_bit_s=50.0, sent_bit_s=90.0, source=MEASURED)
        assert (found.bit_s(RECEIVES), found.bit_s(SENDS)) == (50.0, 90.0)

    def test_is_the_typical_one_for_a_host_that_probes_do_not_know(self) -> None:
        assert goodput(a_run(), self.MESH, "10.0.0.1") == Goodput(90.0, 90.0, TYPICAL)

    def test_counts_more_than_the_rate_of_the_link(self) -> None:
        nodes = {"n1": {"eth0": {"state": "up", "speed_mbit_s": 1000}}}
        found = known(goodput(a_run(environment={"nodes": nodes}), self.MESH, "n1"))
        assert found.source == MEASURED

    def test_is_unknown_of_a_pod_with_a_network_of_its_own(self) -> None:
        """A bridge carries what stays on the node, whatever the links of nodes carry."""
        pods = {"10.244.1.7": {"network": "pods"}, "10.0.0.2": {"network": "hosts"}}
        environment = {"pods": pods}
        declared = a_run(environment=environment, facts={"link": "1gbit"})
        assert goodput(declared, self.MESH, "10.244.1.7") is None
        assert goodput(declared, self.MESH, "10.0.0.2") == Goodput(90.0, 90.0, TYPICAL)

    def test_without_values_is_unknown(self) -> None:
        failed = [MESH_GOODPUT.failed(("n1", "n2"), "no route to host")]
        assert goodput(a_run(), pair_matrix(failed, MESH_GOODPUT), "n1") is None


class TestInTheory:
    def test_is_what_tcp_can_deliver_over_the_link(self) -> None:
        best = goodput_bit_s(GBIT, 9000)
        assert in_theory({"speed_mbit_s": 1000, "mtu_bytes": 9000}) == Goodput(
            best, best, "in theory, at 1gbit"
        )

    def test_is_that_of_the_usual_mtu_if_it_is_unknown(self) -> None:
        for mtu in (None, 0, 68):
            found = known(in_theory({"speed_mbit_s": 1000, "mtu_bytes": mtu}))
            assert found.sent_bit_s == goodput_bit_s(GBIT, 1500)

    def test_is_the_sum_over_all_links_that_are_up(self) -> None:
        links = {
            "eth0": {"state": "up", "speed_mbit_s": 1000},
            "eth1": {"state": "up", "speed_mbit_s": 1000},
            "eth2": {"state": "down", "speed_mbit_s": 1000},
        }
        found = known(goodput(a_run(environment={"nodes": {"n1": links}}), NO_PROBES, "n1"))
        assert found.received_bit_s == 2 * goodput_bit_s(GBIT, 1500)
        assert found.source == "in theory, at 1gbit and 1gbit"

    def test_of_another_host_is_unknown(self) -> None:
        assert goodput(a_run(environment={"nodes": {"n2": {}}}), NO_PROBES, "n1") is None

    @pytest.mark.parametrize("declared", ["2.5gbit", "2.5 Gbit/s"])
    def test_may_rest_on_a_declared_link(self, declared: str) -> None:
        found = known(in_theory({}, facts={"link": declared}))
        assert found.source == "in theory, at 2.5gbit as declared"

    @pytest.mark.parametrize("declared", ["fast", "unshaped", ""])
    def test_does_not_rest_on_what_is_no_rate(self, declared: str) -> None:
        assert in_theory({}, facts={"link": declared}) is None

    def test_of_an_emulated_link_is_what_the_emulation_says(self) -> None:
        found = in_theory(
            {"speed_mbit_s": 10_000, "driver": "virtio"},
            facts={"emulated": "4 nodes", "link": "100mbit", "mtu": "9000"},
        )
        best = goodput_bit_s(100_000_000, 9000)
        assert found == Goodput(best, best, "in theory, at 100mbit as declared")
