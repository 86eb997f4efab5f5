"""The links of a run's nodes: what is recorded of them, and what they counted while it ran."""

from __future__ import annotations

from harness.analysis.configuration import caveats
from harness.model.run import Ending, RecordedRun
from harness.node.interface import as_facts, link_errors
from tests.unit.builders import a_run
from tests.unit.probe_builders import a_link

ETH0 = a_link("node1", device="eth0", counters={"rx_errors": 5, "tx_errors": 0, "rx_drops": 1})


def later(errors: int, drops: int) -> dict[str, int]:
    return {"rx_errors": 5 + errors, "tx_errors": 0, "rx_drops": 1 + drops}


def test_the_counters_of_a_moment_are_no_facts_of_a_run() -> None:
    facts = as_facts({"node1": {"eth0": ETH0}})["node1"]["eth0"]
    assert facts["speed_mbit_s"] == ETH0.speed_mbit_s
    assert facts["mtu_bytes"] == ETH0.mtu_bytes
    assert not {"host", "device", "counters"} & facts.keys()


def test_what_links_counted_is_told_by_host_and_interface() -> None:
    after = a_link("node1", device="eth0", counters=later(2, 7))
    assert link_errors({"node1": {"eth0": ETH0}}, {"node1": {"eth0": after}}) == {
        "node1 eth0": {"errors": 2, "drops": 7}
    }


def test_what_was_not_counted_both_times_is_not_told() -> None:
    before = {"node1": {"eth0": ETH0, "eth1": ETH0}, "node2": {"eth0": ETH0}}
    mute = a_link("node1", device="eth0", counters=None)
    assert link_errors(before, {"node1": {"eth0": mute}}) == {"node1 eth0": {}}


def test_errors_are_told_below_the_table_and_drops_are_not() -> None:
    clean = {"node1 eth0": {"errors": 0, "drops": 90}, "node2 eth0": {}}
    erring = {"node1 eth0": {"errors": 1200}, "node2 eth0": {"errors": 3}}
    runs = [
        RecordedRun(a_run(), (), Ending.COMPLETED, link_errors=links)
        for links in (clean, erring, None)
    ]
    assert caveats(runs[:1]) == caveats(runs[2:]) == ()
    [line] = caveats(runs)
    assert line == (
        "links counted errors during the run: node1 eth0 (1,200 packets), node2 eth0 (3 packets); "
        "check cable, network card and switch port"
    )
