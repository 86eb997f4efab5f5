"""What a recorded probe shows is the same wherever it is shown; a probe is one file."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

import harness.probes
from harness.analysis.network.gate import Expectation
from harness.analysis.predict.readiness import network_check
from harness.cli import main
from harness.commands.gate import verdict
from harness.commands.probe_figures import probe_sections
from harness.hosts.preflight import Preflight
from harness.hosts.transports.host import Host
from harness.model.finding import Finding
from harness.model.interface import Bond, BondMember
from harness.model.network_metrics import (
    DISK_WRITE,
    MESH_GOODPUT,
    PATH_MTU,
    ROUND_TRIP,
    STOLEN,
    VANISHED_PACKET,
    WITHIN_RACK,
)
from harness.model.probe import ExcludedHost, ProbeRun, RecordedProbes
from harness.model.run import Ending
from harness.present.report.figure import Evidence
from harness.probes.kinds import findings, kinds, network_of, newest_probes
from harness.records.lookup import find_probes
from harness.records.writer import ProbeRecording
from tests.simulated_hosts import SimulatedNetwork, measured
from tests.unit.analysis.predict.test_readiness import of_runs
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
    "failed pair": (
        probed(measurements=pairs(MESH_GOODPUT, {("a", "b"): "no route"})),
        {"a -> b"},
    ),
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
        assert {each.subject for each in faults_of(recorded)} == subjects

    @every_probe
    def test_page_gate_report_and_ready_say_each_fault(
        self, recorded: RecordedProbes, subjects: set[str]
    ) -> None:
        newest = newest_probes([recorded])
        page = page_of(recorded.probe or "all", recorded)
        gate = verdict(newest, network_of(newest), [])
        report = report_lines(recorded)
        for fault in faults_of(recorded):
            assert f"{fault}\n" in page
            assert f"{fault}\n" in gate
            assert any(line.endswith(str(fault)) for line in report)
            assert fault.subject in network_check(of_runs(), findings(recorded)).message

    @pytest.mark.parametrize("name", ["link", "mesh"])
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
        assert network_check(of_runs(), findings(sound)).message == "probes found no fault"


def faults_of(recorded: RecordedProbes) -> list[Finding]:
    return [finding for finding in findings(recorded) if finding.is_fault]


def exit_codes(
    recorded: RecordedProbes, results: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, int]:
    """Return the exit codes of the probe that measured this, and of the gate on its record."""
    monkeypatch.setattr("harness.commands.probe.run_probes", lambda *_: recorded)
    with ProbeRecording(replace(recorded.run, configuration="1g"), results) as recording:
        for event in recorded.events:
            recording.event(event)
        recording.end(Ending.COMPLETED)
    return {
        "probe": main(["probe", "link", "--hosts", "a,b"]),
        "gate": main(["gate", "1g", "--results", str(results)]),
    }


def report_lines(recorded: RecordedProbes) -> Sequence[str]:
    first, *_ = probe_sections({"1g": newest_probes([recorded])})
    figure = first.draw(Evidence(None))  # type: ignore[arg-type]
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


def gate_faults_of(newest: Sequence) -> list[str]:  # type: ignore[type-arg]
    return [str(finding) for finding in network_of(newest).findings if finding.is_fault]


def test_the_gate_adds_only_what_no_probe_named() -> None:
    assert [line.partition(":")[0] for line in gate_faults(mesh(SLOW), Expectation())] == [
        "node3",
        "no path MTU was measured; run clusterlift probe all",
    ]


REACH = '''
"""The reach probe: the pings that get lost between hosts."""

from functools import partial

from harness.analysis.network.cases import measured_cases
from harness.model.finding import Finding
from harness.model.probe import LOWER, Metric
from harness.present.probes.columns import Column, ProbeTable, of_metric
from harness.probes.kind import ProbeKind
from harness.probes.options import integer_option
from harness.probes.plan import ProbePlan, ProbeStep
import click

LOST = Metric("reach", "lost_percent", "%", LOWER)


def plan(site, *, count):
    def measure(hosts):
        for host in hosts[1:]:
            yield LOST.of((hosts[0].name, host.name), 0 if host.name == "node2" else count)

    return ProbePlan(
        site.hosts(),
        ("ping",),
        lambda hosts, _links: [ProbeStep("reach", 1.0, partial(measure, hosts))],
        parameters={"count": count},
    )


def rows(probed):
    return measured_cases(probed.measurements, "reach")


KIND = ProbeKind(
    "reach",
    "Measure how many pings get lost.",
    plan,
    options=(integer_option("--count", click.IntRange(1, 100), 10, "Pings to send."),),
    measures=("reach",),
    tables=(
        ProbeTable(
            rows,
            (
                Column("path", lambda row: row.subject),
                Column("lost", of_metric(LOST), ".1f", unit="%"),
            ),
        ),
    ),
    judge=lambda probed: [
        Finding(row.subject, "pings get lost") for row in rows(probed) if row.median(LOST)
    ],
)
'''


@pytest.fixture
def reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add one file to the probes, and hosts that answer."""
    (tmp_path / "reach_of_a_test.py").write_text(textwrap.dedent(REACH))
    monkeypatch.setattr(harness.probes, "__path__", [*harness.probes.__path__, str(tmp_path)])

    def answering(hosts: Sequence[Host], _programs: Sequence[str]) -> Preflight:
        return Preflight(tuple(hosts), {})

    monkeypatch.setattr("harness.probes.plan.preflight", answering)
    monkeypatch.setattr(
        "harness.probes.plan.read_links", lambda hosts: [a_link(host.name) for host in hosts]
    )
    kinds.cache_clear()
    yield
    kinds.cache_clear()


@pytest.mark.usefixtures("reach")
class TestOneFileIsAProbe:
    HOSTS = ("--hosts", "node[1-3]=10.0.0.[1-3]")

    def test_it_is_listed_and_has_options(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["probe", "--help"]) == 0
        assert "reach    Measure how many pings get lost." in capsys.readouterr().out
        assert main(["probe", "reach", *self.HOSTS, "--count", "0"]) == 2
        assert "--count" in capsys.readouterr().err

    def test_it_has_a_page_an_exit_code_and_places_in_gate_and_report(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        results = ["--results", str(tmp_path)]
        assert main(["probe", "reach", *self.HOSTS, *results, "--configuration", "1g"]) == 1
        page = capsys.readouterr().out
        assert "node1 -> node3   10.0%\n" in page
        assert "fault: node1 -> node3: pings get lost\n" in page
        [recorded] = find_probes("1g", tmp_path)
        assert recorded.run.parameters == {"probe": "reach", "count": "10"}
        assert main(["gate", "1g", *results]) == 1
        gate = capsys.readouterr().out
        assert f"from probe reach of {recorded.run.started_at} (link, reach)\n" in gate
        assert "- node1 -> node3: pings get lost\n" in gate
        found, table = probe_sections({"1g": newest_probes([recorded])})
        assert (found.anchor, table.anchor) == ("probes", "probe-reach")
        figure = table.draw(Evidence(None))  # type: ignore[arg-type]
        assert figure
        assert ("1g", "node1 -> node3", "10.0%") in figure.numbers.rows
