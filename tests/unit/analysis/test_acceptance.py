"""The gate: what is wrong is a line, and what was not measured is not right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.acceptance import Expectation, network_faults, upgrade_faults
from harness.model.interface import Bond, BondMember
from harness.model.network_metrics import MESH, MESH_GOODPUT, MTU, PATH_MTU, VANISHED_PACKET
from harness.model.probe import ExcludedHost, RecordedProbes
from harness.model.run import Ending
from tests.unit.probe_builders import FOUR, MBIT, a_link, every_pair, healthy, pairs, probed

AS_IT_IS = Expectation()
ONE_G = Expectation(1000 * MBIT, 1500)
LACP = "IEEE 802.3ad Dynamic link aggregation"


def with_link(base: RecordedProbes, host: str, **fields: object) -> RecordedProbes:
    """The same with one link that differs, before and after."""
    links = base.links()
    changed = links | {host: replace(links[host], **fields)}  # type: ignore[arg-type]
    return probed(changed.values(), base.measurements)


def with_goodput(values: dict[tuple[str, str], float | str]) -> RecordedProbes:
    """A healthy network but for these pairs."""
    base = healthy()
    goodput = every_pair(FOUR, 940 * MBIT) | values
    paths = [one for one in base.measurements if one.probe == MTU]
    return probed(base.links().values(), [*paths, *pairs(MESH_GOODPUT, goodput)])


class TestNothingIsWrong:
    @pytest.mark.parametrize("expected", [AS_IT_IS, ONE_G])
    def test_with_a_network_that_is_what_it_is_said_to_be(self, expected: Expectation) -> None:
        assert network_faults(healthy(), expected) == []

    def test_with_shaped_links_of_the_shape_s_rate(self) -> None:
        shaped = healthy(goodput=94 * MBIT, shaped_bit_s=100 * MBIT)
        assert network_faults(shaped, Expectation(100 * MBIT)) == []

    def test_with_a_speed_that_is_unknown_and_shown_by_goodput(self) -> None:
        assert network_faults(healthy(speed_mbit_s=None), ONE_G) == []


class TestLinks:
    @pytest.mark.parametrize(
        ("fields", "line"),
        [
            ({"speed_mbit_s": 100}, "node3 eth0: 100mbit, expected 1gbit"),
            ({"speed_mbit_s": 2500}, "node3 eth0: 2.5gbit, expected 1gbit"),
            ({"duplex": "half"}, "node3 eth0: half duplex"),
            ({"mtu_bytes": 9000}, "node3 eth0: MTU 9000, expected 1500"),
            ({"mtu_bytes": None}, "node3 eth0: MTU unknown, expected 1500"),
            ({"state": "down"}, "node3 eth0: down"),
        ],
    )
    @pytest.mark.parametrize("expected", [AS_IT_IS, ONE_G])
    def test_one_that_differs_is_named(
        self, expected: Expectation, fields: dict[str, object], line: str
    ) -> None:
        assert line in network_faults(with_link(healthy(), "node3", **fields), expected)

    def test_what_most_are_is_expected_where_nothing_is_said(self) -> None:
        odd = with_link(healthy(), "node1", mtu_bytes=9000, speed_mbit_s=2500)
        assert network_faults(odd, AS_IT_IS)[:2] == [
            "node1 eth0: 2.5gbit, expected 1gbit",
            "node1 eth0: MTU 9000, expected 1500",
        ]

    def test_all_that_are_not_as_expected_are_named(self) -> None:
        lines = network_faults(healthy(), Expectation(2500 * MBIT, 9000))
        assert [line for line in lines if "expected 2.5gbit" in line] == [
            f"{host} eth0: 1gbit, expected 2.5gbit" for host in FOUR
        ]
        assert sum("MTU 1500, expected 9000" in line for line in lines) == 4

    def test_a_speed_that_nothing_shows_is_wrong(self) -> None:
        lines = network_faults(probed([a_link(host, speed_mbit_s=None) for host in FOUR]), ONE_G)
        assert "node1 eth0: its rate is unknown, and no goodput shows it" in lines

    def test_a_half_formed_bond_is_named_with_its_member(self) -> None:
        members = tuple(
            BondMember(name, "up", 1000, "full", number)
            for number, name in enumerate(("eth1", "eth2"), 1)
        )
        lines = network_faults(with_link(healthy(), "node2", bond=Bond(LACP, 1, members)), AS_IT_IS)
        [line] = lines
        assert line.startswith("node2 eth0: member eth2 is in aggregator 2")

    def test_errors_while_it_was_measured_are_wrong_and_those_before_are_not(self) -> None:
        old = {"rx_errors": 7, "tx_errors": 0}
        links = [a_link(host, counters=old) for host in FOUR]
        measured = healthy().measurements
        assert network_faults(probed(links, measured), AS_IT_IS) == []
        later = [*links[:3], replace(links[3], counters={"rx_errors": 9, "tx_errors": 1})]
        assert network_faults(probed(links, measured, after=later), AS_IT_IS) == [
            "node4 eth0: 3 errors while it was measured"
        ]


class TestPaths:
    def test_a_path_below_the_expected_mtu_is_named(self) -> None:
        base = healthy(mtu_bytes=9000, goodput=985 * MBIT)
        short = pairs(PATH_MTU, every_pair(FOUR, 9000) | {("node1", "node2"): 8982})
        goodput = [one for one in base.measurements if one.probe == MESH]
        [line] = network_faults(probed(base.links().values(), [*short, *goodput]), AS_IT_IS)
        assert line.startswith("node1 -> node2: the way carries 8982 bytes")

    def test_a_black_hole_is_named_with_its_pair(self) -> None:
        base = with_link(healthy(), "node1", mtu_bytes=9000)
        hole = pairs(VANISHED_PACKET, {("node1", "node2"): 1501})
        lines = network_faults(probed(base.links().values(), [*base.measurements, *hole]), AS_IT_IS)
        assert any(line.startswith("node1 -> node2: a black hole") for line in lines)

    def test_paths_that_were_not_measured_are_wrong(self) -> None:
        goodput = [one for one in healthy().measurements if one.probe == MESH]
        assert network_faults(probed(healthy().links().values(), goodput), AS_IT_IS) == [
            "the path MTU of any pair was not measured: clusterlift probe all"
        ]


class TestGoodput:
    def test_below_nine_tenths_of_theory_is_wrong(self) -> None:
        [line] = network_faults(with_goodput({("node1", "node2"): 840 * MBIT}), ONE_G)
        assert line == (
            "node1 -> node2: 840.0 Mbit/s, 89% of the 941.5 Mbit/s that 1gbit at MTU 1500 allow"
        )
        assert network_faults(with_goodput({("node1", "node2"): 850 * MBIT}), ONE_G) == []

    def test_of_a_host_that_is_slow_with_everybody_is_one_line(self) -> None:
        slow = {pair: 94.0 * MBIT for pair in every_pair(FOUR, 0) if "node3" in pair}
        [line] = network_faults(with_goodput({**slow}), ONE_G)
        assert line.startswith("node3: with its best peer 94.0 Mbit/s, 10% of the 941.5 Mbit/s")

    def test_that_failed_says_why(self) -> None:
        lines = network_faults(
            with_goodput({("node1", "node2"): "node1 -> node2: iperf3: no route"}), ONE_G
        )
        assert lines == ["node1 -> node2: iperf3: no route"]

    def test_of_pairs_that_were_not_measured_is_wrong(self) -> None:
        measured = [
            one
            for one in healthy().measurements
            if (one.probe, one.subject) != (MESH, "node1 -> node2")
        ]
        assert network_faults(probed(healthy().links().values(), measured), ONE_G) == [
            "the goodput of node1 -> node2 was not measured: clusterlift probe all"
        ]

    def test_of_links_whose_rate_nobody_knows_cannot_be_judged(self) -> None:
        lines = network_faults(healthy(speed_mbit_s=None), AS_IT_IS)
        assert (
            "the goodput cannot be judged, no link tells its rate: name it, --expect 2500mbit"
            in (lines)
        )


class TestWhatIsMissing:
    def test_a_host_that_was_left_out_is_wrong(self) -> None:
        base = healthy()
        left_out = (ExcludedHost("node5", "node5: no iperf3 there"),)
        with_trouble = probed(base.links().values(), base.measurements, notes=left_out)
        assert network_faults(with_trouble, AS_IT_IS) == [
            "node5 was left out: node5: no iperf3 there"
        ]

    @pytest.mark.parametrize("ending", [None, Ending.INTERRUPTED])
    def test_probes_that_did_not_end_are_wrong(self, ending: Ending | None) -> None:
        assert network_faults(replace(healthy(), ending=ending), AS_IT_IS) == [
            "the probes did not come to their end: run them again"
        ]

    def test_nothing_at_all_is_wrong(self) -> None:
        assert network_faults(probed(), AS_IT_IS)

    @given(st.sets(st.integers(0, 23), min_size=1))
    def test_whatever_is_taken_away_is_missed(self, taken: set[int]) -> None:
        base = healthy()
        kept = [one for i, one in enumerate(base.measurements) if i not in taken]
        assert network_faults(probed(base.links().values(), kept), ONE_G)


def upgraded(hosts: Sequence[str] = FOUR) -> RecordedProbes:
    return healthy(hosts, goodput=2350 * MBIT, speed_mbit_s=2500)


class TestUpgrade:
    def test_that_took_has_nothing_wrong(self) -> None:
        assert upgrade_faults(healthy(), upgraded(), Expectation(2500 * MBIT)) == []

    def test_that_nobody_plugged_in_has_changed_nothing(self) -> None:
        assert upgrade_faults(healthy(), healthy(), AS_IT_IS) == [
            "nothing has changed: still 1gbit at MTU 1500, and no more goodput"
        ]

    def test_a_host_that_was_left_behind_is_named(self) -> None:
        after = with_link(upgraded(), "node2", speed_mbit_s=1000)
        assert upgrade_faults(healthy(), after, AS_IT_IS) == ["node2 eth0: 1gbit, expected 2.5gbit"]

    def test_a_host_that_has_become_slower_is_named(self) -> None:
        after = with_link(upgraded(), "node2", speed_mbit_s=100)
        assert "node2: 1gbit before, 100mbit after" in upgrade_faults(healthy(), after, AS_IT_IS)

    def test_a_host_that_is_gone_is_named(self) -> None:
        lines = upgrade_faults(healthy(), upgraded(FOUR[:3]), AS_IT_IS)
        assert lines == ["node4: probed before, and not after"]

    def test_a_pair_that_has_become_slower_is_named(self) -> None:
        after = with_goodput({("node1", "node2"): 700 * MBIT})
        lines = upgrade_faults(healthy(), after, AS_IT_IS)
        assert "node1 -> node2: 940.0 Mbit/s before, 700.0 Mbit/s after" in lines

    def test_jumbo_frames_alone_are_a_change(self) -> None:
        jumbo = healthy(goodput=985 * MBIT, mtu_bytes=9000)
        assert upgrade_faults(healthy(), jumbo, Expectation(1000 * MBIT, 9000)) == []

    def test_more_goodput_alone_is_a_change(self) -> None:
        unknown = [healthy(speed_mbit_s=None, goodput=rate * MBIT) for rate in (940, 2350)]
        assert not any(
            "nothing has changed" in line
            for line in upgrade_faults(*unknown, Expectation(2500 * MBIT))  # type: ignore[misc]
        )
