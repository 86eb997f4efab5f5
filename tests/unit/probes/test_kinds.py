"""What a recorded probe shows is the same wherever it is shown."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from harness.analysis.compare.comparison import Comparison
from harness.analysis.ready.gate import Expectation
from harness.analysis.ready.readiness import network_check
from harness.commands.cli import main
from harness.commands.gate import gate_page
from harness.commands.probe_figures import probe_sections
from harness.model.finding import Finding
from harness.model.interface import Bond, BondMember
from harness.model.network_metrics import (
    DISK_BELOW,
    DISK_WRITE,
    MESH_GOODPUT,
    PATH_MTU,
    RDMA_TYPICAL,
    ROUND_TRIP,
    STOLEN,
    VANISHED_PACKET,
    WITHIN_RACK,
)
from harness.model.probe import ExcludedHost, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.present import text
from harness.present.report.figure import Evidence
from harness.probes.kind import NewestProbe, findings, kinds, network_of, newest_probes
from harness.records.writer import record_all
from tests.simulated_hosts import SimulatedNetwork, measured
from tests.unit.analysis.ready.test_readiness import of_runs
from tests.unit.probe_builders import (
    FOUR,
    MBIT,
    a_link,
    every_pair,
    gate_faults,
    healthy,
    page_of,
    pairs,
    probed,
    soak_events,
)

SLOW = {pair: 94.0 * MBIT for pair in every_pair(FOUR, 0) if "node3" in pair}
DISKS = {"n1": 500, "n2": 450, "n3": 300}
BAD_BOND = Bond("802.3ad", 1, (BondMember("eth1", "down", 1000, "full", 1),))


def parameters(recorded: RecordedProbes, **given: str) -> RecordedProbes:
    return replace(recorded, run=replace(recorded.run, parameters=given))


def mesh(values: dict[tuple[str, str], float]) -> RecordedProbes:
    return probed(map(a_link, FOUR), pairs(MESH_GOODPUT, every_pair(FOUR, 940 * MBIT) | values))


def limited() -> RecordedProbes:
    base = mesh({("node1", "node2"): 160.0 * MBIT})
    stolen = pairs(STOLEN.sender, {("node1", "node2"): 45.0})
    return probed(map(a_link, FOUR), [*base.measurements, *stolen])


def black_hole() -> RecordedProbes:
    paths = pairs(PATH_MTU, every_pair(FOUR, 1500))
    vanished = pairs(VANISHED_PACKET, {("node1", "node2"): 1501})
    return probed(map(a_link, FOUR), [*paths, *vanished])


def soak() -> RecordedProbes:
    run = ProbeRun("1g", ("n1", "n2"), {"probe": "soak"})
    return RecordedProbes(run, tuple(soak_events()), Ending.COMPLETED)


PROBES = {
    "link": (probed([a_link("n1", duplex="half"), a_link("n2")]), {"n1 eth0"}),
    "bond": (probed([a_link("n1", bond=BAD_BOND), a_link("n2")]), {"n1 eth0"}),
    "excluded": (probed([a_link("n1")], notes=[ExcludedHost("n9", "n9: down")]), {"n9"}),
    "mesh": (mesh(SLOW), {"node3"}),
    "failed pair": (probed(measurements=pairs(MESH_GOODPUT, {("a", "b"): "no route"})), {"a -> b"}),
    "mesh of some rounds": (
        measured(
            SimulatedNetwork(sends={"node00005": 0.5}, receives={"node00005": 0.5}), 40, rounds=4
        ),
        {"node00005"},
    ),
    "limited processors": (limited(), {"node1 -> node2"}),
    "mtu": (black_hole(), {"node1 -> node2"}),
    "latency": (
        probed(measurements=[ROUND_TRIP[50.0].failed(("a", "b"), "a -> b: no sockperf")]),
        {"a -> b"},
    ),
    "disk": (
        probed(measurements=[DISK_WRITE.of(host, mb * 1e6, "/data") for host, mb in DISKS.items()]),
        {"n3"},
    ),
    "racks": (probed(measurements=[WITHIN_RACK.failed("b", "b1 -> b2: no route")]), {"b"}),
    "soak": (soak(), {"n1", "n1 -> n2", "n2 -> n1"}),
}
"""What is recorded, and the subjects of its faults."""

every_probe = pytest.mark.parametrize(("recorded", "subjects"), PROBES.values(), ids=PROBES)


def test_every_probe_is_here() -> None:
    missing = kinds().keys() - PROBES.keys() - {"all"}
    assert not missing, f"add what {missing} records to PROBES"


class TestEveryPlaceNamesTheSame:
    @every_probe
    def test_faults_have_these_subjects(self, recorded: RecordedProbes, subjects: set[str]) -> None:
        assert {str(each.subject) for each in faults_of(recorded)} == subjects

    @every_probe
    def test_page_gate_report_and_ready_say_each_fault(
        self, recorded: RecordedProbes, subjects: set[str]
    ) -> None:
        newest = newest_probes([recorded])
        page = page_of(recorded.probe or "all", recorded)
        gate = text.render([gate_page(newest, network_of(newest), [])])
        report = report_lines(recorded)
        for fault in faults_of(recorded):
            assert f"{fault}\n" in page
            assert f"{fault}\n" in gate
            assert any(line.endswith(str(fault)) for line in report)
            assert str(fault.subject) in network_check(of_runs(), findings(recorded)).text

    @pytest.mark.parametrize("name", ["link", "mesh", "limited processors"])
    def test_the_exit_codes_of_probe_and_gate_say_so(
        self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        recorded, _ = PROBES[name]
        assert exit_codes(recorded, tmp_path, monkeypatch) == {"probe": 1, "gate": 1}

    def test_without_a_fault_they_are_0(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert exit_codes(healthy(), tmp_path, monkeypatch) == {"probe": 0, "gate": 0}

    @pytest.mark.parametrize("sound", [healthy(), mesh({})])
    def test_a_sound_network_has_no_fault_anywhere(self, sound: RecordedProbes) -> None:
        assert faults_of(sound) == []
        assert "fault: " not in page_of("all", sound)
        assert network_check(of_runs(), findings(sound)).text == "probes found no fault"


def faults_of(recorded: RecordedProbes) -> list[Finding]:
    return [finding for finding in findings(recorded) if finding.is_open]


def exit_codes(
    recorded: RecordedProbes, results: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, int]:
    """Return the exit codes of the probe that measured this, and of the gate on its record."""
    monkeypatch.setattr("harness.commands.probe.run_probes", lambda *_: recorded)
    record_all(results, replace(recorded.run, configuration="1g"), recorded.events)
    return {
        "probe": main(["probe", "link", "--hosts", "a,b"]),
        "gate": main(["gate", "1g", "--results", str(results)]),
    }


NO_EVIDENCE = Evidence(cast("Comparison", None))
"""Sections of probes know theirs."""


def report_lines(recorded: RecordedProbes) -> Sequence[str]:
    first, *_ = probe_sections({"1g": newest_probes([recorded])})
    figure = first.draw(NO_EVIDENCE)
    assert figure
    return figure.lines


class TestNewest:
    """Of each kind of measurement, the newest counts, whichever probe made it."""

    ALL = healthy()

    def at(self, hour: int, recorded: RecordedProbes) -> RecordedProbes:
        run = replace(recorded.run, started_at=f"2026-11-21T{hour:02}:00:00Z", id=f"run-{hour}")
        return replace(recorded, run=run)

    def test_a_newer_latency_does_not_hide_path_mtus_and_goodputs(self) -> None:
        idle = [metric.of(("node1", "node2"), 100, "idle") for metric in ROUND_TRIP.values()]
        newer = parameters(probed(map(a_link, FOUR), idle), probe="latency")
        newest = newest_probes([self.at(1, self.ALL), self.at(2, newer)])
        assert [(each.probed.run.id, each.kinds) for each in newest] == [
            ("run-2", ("latency", "link")),
            ("run-1", ("mesh", "mtu")),
        ]
        assert gate_faults_of(newest) == []

    def test_a_newer_mesh_takes_the_place_of_an_older_one(self) -> None:
        newest = newest_probes([self.at(1, self.ALL), self.at(2, mesh(SLOW))])
        assert [fault.partition(":")[0] for fault in gate_faults_of(newest)] == ["node3"]
        assert gate_faults_of(newest_probes([self.at(2, self.ALL), self.at(1, mesh(SLOW))])) == []

    @pytest.mark.parametrize(
        ("file_mb", "faults"),
        [("100", ["n1: /data writes at 50 % of what was measured before"]), ("999", [])],
    )
    def test_a_disk_is_judged_beside_what_earlier_probes_with_files_as_large_measured(
        self, file_mb: str, faults: list[str]
    ) -> None:
        def disk(rate: float, size: str) -> RecordedProbes:
            return parameters(
                probed(measurements=[DISK_WRITE.of("n1", rate, "/data")]),
                probe="disk",
                file_mb=size,
            )

        probes = [disk(300e6, "100"), disk(200e6, "100"), disk(100e6, "100"), disk(100e6, file_mb)]
        newest = newest_probes(self.at(hour, each) for hour, each in enumerate(probes))
        assert gate_faults_of(newest) == faults

    def test_a_link_is_that_of_the_newest_probe_of_its_host(self) -> None:
        older = healthy(duplex="half")
        mended = probed([a_link(host) for host in FOUR[:3]])
        newest = newest_probes([self.at(1, older), self.at(2, mended)])
        assert gate_faults_of(newest) == ["node4 eth0: half duplex"]


def gate_faults_of(newest: Sequence[NewestProbe]) -> list[str]:
    return [str(finding) for finding in network_of(newest).findings if finding.is_open]


def test_the_gate_adds_only_what_no_probe_named() -> None:
    assert [line.partition(":")[0] for line in gate_faults(mesh(SLOW), Expectation())] == [
        "node3",
        "no path MTU was measured; run clusterlift probe all",
    ]


def test_the_report_has_the_tables_of_probes() -> None:
    found, table = probe_sections({"1g": newest_probes([PROBES["disk"][0]])})
    assert (found.anchor, table.anchor) == ("probes", "probe-disk")
    figure = table.draw(NO_EVIDENCE)
    assert figure
    assert {row[:2] for row in figure.numbers.rows} == {("1g", host) for host in DISKS}


def test_tables_of_one_probe_have_titles_and_anchors_of_their_own_in_the_report() -> None:
    by_tcp = PROBES["latency"][0].measurements
    by_rdma = RDMA_TYPICAL.of(("a", "b"), 1.5)
    rdma = ("probe-latency1", "probe latency: RDMA, one way")
    for measurements, expected in (
        ([*by_tcp, by_rdma], [("probe-latency", "probe latency"), rdma]),
        ([by_rdma], [rdma]),
    ):
        _, *tables = probe_sections({"1g": newest_probes([probed(measurements=measurements)])})
        assert [(table.anchor, table.title) for table in tables] == expected


def test_a_directory_that_may_be_in_memory_is_a_note_of_page_and_report() -> None:
    unseen = [DISK_BELOW.of(host, 0, "/data") for host in ("n1", "n2")]
    recorded = probed(measurements=[*PROBES["disk"][0].measurements, *unseen])
    line = "note: unknown whether /data is in memory or in a cache on n1, n2; install python3"
    assert line in page_of("disk", recorded)
    assert any(line in each for each in report_lines(recorded))
    assert {str(each.subject) for each in faults_of(recorded)} == {"n3"}
