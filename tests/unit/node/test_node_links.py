"""The links of a run's nodes: their recorded facts, their errors, and links of an unexpected rate."""

import pytest

from harness.analysis.observed.configuration import caveats
from harness.model.run import Ending, RecordedRun
from harness.node.node_links import (
    link_errors,
    node_facts,
    unexpected_links,
)
from tests.unit.builders import a_run
from tests.unit.probe_builders import MBIT, a_link

ETH0 = a_link("node1", device="eth0", counters={"rx_errors": 5, "tx_errors": 0, "rx_drops": 1})
UP = {"speed_mbit_s": 1000, "state": "up", "driver": "igb"}


def test_facts_of_a_link_leave_out_its_counters_and_its_names() -> None:
    facts = node_facts({"node1": {"eth0": ETH0}})["node1"]["eth0"]
    assert facts["speed_mbit_s"] == ETH0.speed_mbit_s
    assert facts["mtu_bytes"] == ETH0.mtu_bytes
    assert not {"host", "device", "counters"} & facts.keys()


class TestLinkErrors:
    def test_are_the_growth_of_the_counters_by_host_and_interface(self) -> None:
        counters = {"rx_errors": 7, "tx_errors": 0, "rx_drops": 8}
        after = a_link("node1", device="eth0", counters=counters)
        assert link_errors({"node1": {"eth0": ETH0}}, {"node1": {"eth0": after}}) == {
            "node1 eth0": {"errors": 2, "drops": 7}
        }

    def test_leave_out_what_one_of_the_snapshots_lacks(self) -> None:
        before = {"node1": {"eth0": ETH0, "eth1": ETH0}, "node2": {"eth0": ETH0}}
        without_counters = a_link("node1", device="eth0", counters=None)
        assert link_errors(before, {"node1": {"eth0": without_counters}}) == {"node1 eth0": {}}

    def test_are_a_caveat_below_the_table_and_drops_are_not(self) -> None:
        clean = {"node1 eth0": {"errors": 0, "drops": 90}, "node2 eth0": {}}
        with_errors = {"node1 eth0": {"errors": 1200}, "node2 eth0": {"errors": 3}}
        runs = [
            RecordedRun(a_run(), (), Ending.COMPLETED, link_errors=links)
            for links in (clean, with_errors, None)
        ]
        assert caveats(runs[:1]) == caveats(runs[2:]) == ()
        [line] = caveats(runs)
        assert line == (
            "links counted errors during the run: node1 eth0 (1,200 packets), node2 eth0 (3 packets); "
            "check cable, network card and switch port"
        )


class TestUnexpectedLinks:
    def test_are_none_if_each_host_has_a_link_as_expected(self) -> None:
        links = {"eth0": UP, "eth1": UP | {"speed_mbit_s": 2500, "driver": "r8152"}}
        assert unexpected_links({"nodes": {"node1": links}}, {}, 2500 * MBIT) == []

    def test_are_listed_for_each_host_without_such_a_link(self) -> None:
        links = {"node1": {"eth1": UP | {"speed_mbit_s": 100}, "eth0": UP}, "node2": {"eth0": UP}}
        assert unexpected_links({"nodes": links}, {}, 2500 * MBIT) == [
            "node1: eth0 is 1gbit, eth1 is 100mbit, expected 2.5gbit",
            "node2: eth0 is 1gbit, expected 2.5gbit",
        ]

    def test_of_a_bond_are_compared_by_what_its_members_carry_together(self) -> None:
        environment = {"nodes": {"node1": {"eth0": UP, "eth1": UP}}}
        assert unexpected_links(environment, {}, 2000 * MBIT) == []
        assert unexpected_links(environment, {}, 2500 * MBIT) == [
            "node1: eth0 is 1gbit, eth1 is 1gbit, together is 2gbit, expected 2.5gbit"
        ]

    @pytest.mark.parametrize(
        "link",
        [
            UP | {"speed_mbit_s": None},
            UP | {"state": "down"},
            UP | {"driver": "virtio_net"},
            {},
        ],
    )
    def test_include_links_that_are_down_virtual_or_of_unknown_speed(
        self, link: dict[str, object]
    ) -> None:
        assert unexpected_links({"nodes": {"node1": {"eth0": link}}}, {}, 1000 * MBIT) == [
            "node1: no link reports its rate, expected 1gbit"
        ]

    def test_name_a_host_without_links(self) -> None:
        assert unexpected_links({"nodes": {"node1": {}}}, {}, MBIT) == [
            "node1: no link reports its rate, expected 1mbit"
        ]

    def test_of_an_emulation_depend_on_its_declared_rate(self) -> None:
        virtual = {"eth0": UP | {"driver": "veth", "speed_mbit_s": 10_000}}
        environment = {"nodes": {"node1": virtual}}
        facts = {"emulated": "links shaped by tc", "link": "100mbit"}
        assert unexpected_links(environment, facts, 100 * MBIT) == []
        assert unexpected_links(environment, facts, 250 * MBIT) == [
            "emulated links are 100mbit, expected 250mbit"
        ]
        unshaped = facts | {"link": "unshaped"}
        assert unexpected_links(environment, unshaped, 100 * MBIT) == [
            "emulated links are unshaped, expected 100mbit"
        ]

    def test_are_those_of_the_driver_if_no_other_node_was_recorded(self) -> None:
        environment = {"host": "master", "links": {"eth0": UP}}
        assert unexpected_links(environment, {}, 1000 * MBIT) == []
        assert unexpected_links(environment, {}, 100 * MBIT) == [
            "master: eth0 is 1gbit, expected 100mbit"
        ]

    def test_ignore_rounding(self) -> None:
        facts = {"emulated": "links shaped by tc", "link": "99.9mbit"}
        assert unexpected_links({}, facts, 100 * MBIT) == []
