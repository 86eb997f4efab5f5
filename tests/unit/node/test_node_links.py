"""The links of a run's nodes: their recorded facts and their errors."""

from harness.analysis.observed.caveats import caveats
from harness.model.run import Ending, RecordedRun
from harness.node.node_links import link_errors, node_facts
from tests.unit.builders import a_run
from tests.unit.probe_builders import a_link

ETH0 = a_link("node1", device="eth0", counters={"rx_errors": 5, "tx_errors": 0, "rx_drops": 1})


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
        clean = {"node1 eth0": {"errors": 0, "drops": 90}, "node2 eth0": {"errors": 0}}
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
