"""Network acceptance: every fault is a line, and what was not measured is a fault."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from harness.analysis.ready.gate import Expectation
from harness.model.network_metrics import DISK_WRITE, MESH, MESH_GOODPUT, MTU, PATH_MTU
from harness.model.probe import RecordedProbes
from harness.model.run import Ending
from tests.unit.probe_builders import (
    FOUR,
    MBIT,
    a_link,
    every_pair,
    gate_faults,
    healthy,
    pairs,
    probed,
)

LIKE_MOST = Expectation()
ONE_G = Expectation(1000 * MBIT, 1500)


def with_link(base: RecordedProbes, host: str, **fields: Any) -> RecordedProbes:
    """Change one link, before and after the measurements."""
    links = base.links()
    changed = links | {host: replace(links[host], **fields)}
    return probed(changed.values(), base.measurements)


def with_goodput(values: dict[tuple[str, str], float | str]) -> RecordedProbes:
    """Return a healthy network with these goodputs, or errors, instead."""
    base = healthy()
    goodput = every_pair(FOUR, 940 * MBIT) | values
    paths = [m for m in base.measurements if m.probe == MTU]
    return probed(base.links().values(), [*paths, *pairs(MESH_GOODPUT, goodput)])


class TestNoFaults:
    @pytest.mark.parametrize("expected", [LIKE_MOST, ONE_G])
    def test_of_a_network_that_is_as_expected(self, expected: Expectation) -> None:
        assert gate_faults(healthy(), expected) == []

    def test_of_links_of_unknown_speed_if_goodput_proves_the_expected_rate(self) -> None:
        assert gate_faults(healthy(speed_mbit_s=None), ONE_G) == []


class TestLinks:
    @pytest.mark.parametrize(
        ("fields", "line"),
        [
            ({"speed_mbit_s": 100}, "node1 eth0: 100mbit, expected 1gbit"),
            ({"speed_mbit_s": 2500}, "node1 eth0: 2.5gbit, expected 1gbit"),
            ({"duplex": "half"}, "node1 eth0: half duplex"),
            ({"mtu_bytes": 9000}, "node1 eth0: MTU 9000, expected 1500"),
            ({"mtu_bytes": None}, "node1 eth0: MTU unknown, expected 1500"),
            ({"state": "down"}, "node1 eth0: the link is down"),
        ],
    )
    @pytest.mark.parametrize("expected", [LIKE_MOST, ONE_G])
    def test_a_link_that_differs_is_named_although_it_is_the_first(
        self, expected: Expectation, fields: dict[str, object], line: str
    ) -> None:
        assert line in gate_faults(with_link(healthy(), "node1", **fields), expected)

    def test_every_link_that_is_not_as_expected_is_named(self) -> None:
        lines = gate_faults(healthy(), Expectation(2500 * MBIT, 9000))
        assert [line for line in lines if "expected 2.5gbit" in line] == [
            f"{host} eth0: 1gbit, expected 2.5gbit" for host in FOUR
        ]
        assert sum("MTU 1500, expected 9000" in line for line in lines) == 4

    @pytest.mark.parametrize(
        ("expected", "what"),
        [
            (ONE_G, ", and its goodput does not prove the expected rate"),
            (LIKE_MOST, "; say what to expect, for example --expect 1gbit"),
        ],
    )
    def test_an_unknown_rate_without_goodput_is_a_fault(
        self, expected: Expectation, what: str
    ) -> None:
        lines = gate_faults(probed([a_link(host, speed_mbit_s=None) for host in FOUR]), expected)
        why = "its rate is unknown (its driver (igb) does not report the rate of one card)"
        assert f"node1 eth0: {why}{what}" in lines

    def test_packet_errors_count_only_if_they_occurred_during_the_probes(self) -> None:
        old = {"rx_errors": 7, "tx_errors": 0}
        links = [a_link(host, counters=old) for host in FOUR]
        measured = healthy().measurements
        assert gate_faults(probed(links, measured), LIKE_MOST) == []
        later = [*links[:3], replace(links[3], counters={"rx_errors": 9, "tx_errors": 1})]
        assert gate_faults(probed(links, measured, after=later), LIKE_MOST) == [
            "node4 eth0: 3 packet errors during the probes"
        ]


class TestPaths:
    def test_a_path_below_the_expected_mtu_is_named(self) -> None:
        base = healthy(mtu_bytes=9000, goodput=985 * MBIT)
        short = pairs(PATH_MTU, every_pair(FOUR, 9000) | {("node1", "node2"): 8982})
        goodput = [m for m in base.measurements if m.probe == MESH]
        [line] = gate_faults(probed(base.links().values(), [*short, *goodput]), LIKE_MOST)
        assert line.startswith("node1 -> node2: the path carries at most 8982 bytes")

    def test_paths_that_were_not_measured_are_a_fault(self) -> None:
        goodput = [m for m in healthy().measurements if m.probe == MESH]
        assert gate_faults(probed(healthy().links().values(), goodput), LIKE_MOST) == [
            "no path MTU was measured; run clusterlift probe all"
        ]


class TestGoodput:
    def test_less_than_nine_tenths_of_theory_is_a_fault(self) -> None:
        lines = gate_faults(healthy(goodput=840 * MBIT), ONE_G)
        assert lines == [
            f"{host}: slow, 840.0 Mbit/s with its peers, expected 941.5 Mbit/s (TCP at 1gbit and MTU 1500)"
            for host in FOUR
        ]
        assert gate_faults(healthy(goodput=850 * MBIT), ONE_G) == []

    def test_a_pair_that_only_theory_shows_to_be_slow_is_named(self) -> None:
        values = every_pair(FOUR, 860 * MBIT) | {("node1", "node2"): 840 * MBIT}
        [line] = gate_faults(with_goodput({**values}), ONE_G)
        assert line.startswith("node1 -> node2: slow, 840.0 Mbit/s, expected 941.5 Mbit/s")

    def test_what_the_probe_named_already_is_one_line(self) -> None:
        [line] = gate_faults(with_goodput({("node1", "node2"): 840 * MBIT}), ONE_G)
        assert line == "node1 -> node2: slow, 840.0 Mbit/s, expected 940.0 Mbit/s (typical)"

    @pytest.mark.parametrize(
        ("link", "expected", "what"),
        [
            ({"speed_mbit_s": None}, LIKE_MOST, "rate; give it, for example --expect 2500mbit"),
            ({"mtu_bytes": None}, Expectation(1000 * MBIT), "MTU; give it, for example --mtu 1500"),
        ],
    )
    def test_cannot_be_judged_if_no_link_reports(
        self, link: dict[str, Any], expected: Expectation, what: str
    ) -> None:
        line = f"the goodput cannot be judged, because no link reports its {what}"
        assert line in gate_faults(healthy(**link), expected)


class TestIncompleteProbes:
    @pytest.mark.parametrize("ending", [None, Ending.INTERRUPTED])
    def test_probes_that_did_not_finish_are_a_fault(self, ending: Ending | None) -> None:
        assert gate_faults(replace(healthy(), ending=ending), LIKE_MOST) == [
            "the probe did not finish; run it again"
        ]

    def test_empty_probes_are_a_fault(self) -> None:
        assert gate_faults(probed(), LIKE_MOST)


def upgraded(hosts: Sequence[str] = FOUR) -> RecordedProbes:
    return healthy(hosts, goodput=2350 * MBIT, speed_mbit_s=2500)


def with_streams(base: RecordedProbes, streams: int) -> RecordedProbes:
    """Return the same probes, measured with this number of streams."""
    return replace(base, run=replace(base.run, parameters={"streams": str(streams)}))


class TestUpgrade:
    def test_a_successful_upgrade_has_no_faults(self) -> None:
        assert gate_faults(upgraded(), Expectation(2500 * MBIT), before=healthy()) == []

    def test_an_upgrade_that_was_not_plugged_in_is_no_change(self) -> None:
        assert gate_faults(healthy(), LIKE_MOST, before=healthy()) == [
            "nothing has changed: links are still 1gbit at MTU 1500, and goodput has not increased"
        ]

    def test_that_goodput_has_not_increased_is_said_only_if_it_was_measured(self) -> None:
        links = probed(healthy().links().values())
        for before, after in ((links, healthy()), (healthy(), links)):
            assert gate_faults(after, LIKE_MOST, before=before)[-1] == (
                "nothing seems to have changed: links are still 1gbit at MTU 1500, "
                "and goodput was not measured on both sides"
            )

    def test_of_links_that_tell_neither_rate_nor_mtu_both_are_unknown(self) -> None:
        silent = healthy(mtu_bytes=None, speed_mbit_s=None)
        last = gate_faults(silent, LIKE_MOST, before=silent)[-1]
        assert "links are still of unknown rate at MTU unknown, and goodput" in last

    @pytest.mark.parametrize(
        ("speed_mbit_s", "fault"),
        [
            (1000, "node2 eth0: 1gbit, expected 2.5gbit"),
            (100, "node2: 1gbit before, 100mbit after"),
        ],
    )
    def test_a_host_that_was_not_upgraded_is_named(self, speed_mbit_s: int, fault: str) -> None:
        after = with_link(upgraded(), "node2", speed_mbit_s=speed_mbit_s)
        assert fault in gate_faults(after, LIKE_MOST, before=healthy())

    def test_a_host_that_was_not_probed_again_is_named(self) -> None:
        lines = gate_faults(upgraded(FOUR[:3]), LIKE_MOST, before=healthy())
        assert lines == ["node4: probed before, but not after"]

    def test_a_pair_that_became_slower_is_named(self) -> None:
        after = with_goodput({("node1", "node2"): 700 * MBIT})
        lines = gate_faults(after, LIKE_MOST, before=healthy())
        assert "node1 -> node2: 940.0 Mbit/s before, 700.0 Mbit/s after" in lines

    def test_jumbo_frames_alone_are_a_change(self) -> None:
        jumbo = healthy(goodput=985 * MBIT, mtu_bytes=9000)
        assert gate_faults(jumbo, Expectation(1000 * MBIT, 9000), before=healthy()) == []

    def test_more_goodput_alone_is_a_change(self) -> None:
        unknown = [healthy(speed_mbit_s=None, goodput=rate * MBIT) for rate in (940, 2350)]
        assert not any(
            "nothing has changed" in line
            for line in gate_faults(unknown[1], Expectation(2500 * MBIT), before=unknown[0])
        )

    def test_goodput_that_was_measured_with_other_streams_cannot_be_compared(self) -> None:
        """Neither is it slower with one stream than with four, nor has it increased with four."""
        one = with_streams(healthy(), 1)
        four = with_streams(healthy(goodput=1880 * MBIT), 4)
        for before, after in ((one, four), (four, one)):
            [line] = gate_faults(after, LIKE_MOST, before=before)
            assert line.startswith("the goodput cannot be compared with that before")
        assert "(--streams 4 before, 1 after)" in line
        assert line.endswith("probe again with: clusterlift probe mesh --streams 4")


def disks(*rates: float) -> RecordedProbes:
    """Return a probe of a disk of each host that writes as fast, in bytes a second."""
    measured = [DISK_WRITE.of(host, rate, "/data") for host, rate in zip(FOUR, rates, strict=False)]
    return probed(map(a_link, FOUR), measured)


SSD, HDD = disks(*[500e6] * 4), disks(*[200e6] * 4)


class TestDisks:
    @pytest.mark.parametrize(
        ("bytes_s", "faults"), [(260 * MBIT, []), (300 * MBIT, FOUR), (None, [])]
    )
    def test_that_are_too_slow_are_named(self, bytes_s: int | None, faults: Sequence[str]) -> None:
        assert gate_faults(HDD, Expectation(disk_bytes_s=bytes_s)) == [
            f"{host}: /data writes at 67 % of the 300MB/s that are expected" for host in faults
        ]

    def test_that_were_not_measured_are_named_if_a_speed_is_expected(self) -> None:
        lines = gate_faults(disks(5e8, 5e8, 5e8), Expectation(disk_bytes_s=10**8))
        assert lines == ["node4: no disk was measured; run clusterlift probe disk"]
        assert len(gate_faults(healthy(), Expectation(disk_bytes_s=10**8))) == len(FOUR)

    def test_alone_leave_the_network_unjudged_unless_something_is_expected_of_it(self) -> None:
        assert gate_faults(SSD, LIKE_MOST) == []
        assert "no goodput was measured; run clusterlift probe all" in gate_faults(SSD, ONE_G)

    def test_that_are_faster_are_a_change(self) -> None:
        assert gate_faults(SSD, LIKE_MOST, before=HDD) == []
        network = healthy()
        both = [
            probed(network.links().values(), [*network.measurements, *each.measurements])
            for each in (HDD, SSD)
        ]
        assert gate_faults(both[1], LIKE_MOST, before=both[0]) == []

    def test_that_are_as_before_are_no_change(self) -> None:
        assert gate_faults(HDD, LIKE_MOST, before=disks(*[210e6] * 4)) == [
            "nothing has changed: disks are no faster than before"
        ]

    def test_of_which_one_became_slower_are_named(self) -> None:
        after = disks(1e9, 1e9, 1e9, 140e6)
        assert gate_faults(after, LIKE_MOST, before=HDD) == [
            "node4: /data writes at 14 % of what is typical of the other hosts",
            "node4: /data writes at 70 % of what was measured before",
        ]

    def test_that_were_measured_with_other_files_cannot_be_compared(self) -> None:
        small, large = (
            replace(each, run=replace(each.run, parameters={"file_mb": size}))
            for each, size in ((SSD, "64"), (HDD, "9000"))
        )
        [line] = gate_faults(large, LIKE_MOST, before=small)
        assert "the speed of disks cannot be compared" in line
        assert "(--file-mb 64 before, 9000 after)" in line


class TestSomeRounds:
    """A run that measured some rounds of the mesh."""

    HOSTS = tuple(f"node{number}" for number in range(1, 14))

    def neighbours(self, value: float) -> dict[tuple[str, str], float | str]:
        ring = list(zip(self.HOSTS, (*self.HOSTS[1:], self.HOSTS[0]), strict=True))
        return {pair: value for a, b in ring for pair in ((a, b), (b, a))}

    def faults(self, goodput: dict[tuple[str, str], float | str]) -> list[str]:
        links = healthy(self.HOSTS).links().values()
        paths = pairs(PATH_MTU, self.neighbours(1500))
        return gate_faults(probed(links, [*paths, *pairs(MESH_GOODPUT, goodput)]), ONE_G)

    def test_without_a_fault(self) -> None:
        assert self.faults(self.neighbours(940 * MBIT)) == []

    def test_in_which_a_host_takes_no_part_is_a_fault(self) -> None:
        goodput = self.neighbours(940 * MBIT)
        assert self.faults({pair: goodput[pair] for pair in goodput if "node2" not in pair}) == [
            "node2: its goodput was not measured both ways; run clusterlift probe all"
        ]

    def test_names_each_of_two_slow_hosts_that_were_paired(self) -> None:
        goodput = self.neighbours(940 * MBIT)
        goodput |= {pair: 100 * MBIT for pair in goodput if {*pair} & {"node4", "node5"}}
        assert [line.partition(":")[0] for line in self.faults(goodput)] == ["node4", "node5"]
