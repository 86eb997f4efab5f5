"""Results files of probes: stored apart from runs, complete after every event, loaded unchanged."""

from pathlib import Path

import pytest

from harness.analysis.observed.configuration import find_configuration
from harness.base.errors import BadInput
from harness.model.interface import HostLink, SlowPort
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT
from harness.model.probe import AFTER, BEFORE, ExcludedHost, LinkSnapshot, ProbeEvent, ProbeRun
from harness.model.run import Ending
from harness.node.interface import parse_link
from harness.records.lookup import find_probes, probes_beside
from harness.records.reader import load, load_probes
from harness.records.writer import ProbeRecording, record_all
from tests.unit.builders import DELETED, a_run, change_line, known
from tests.unit.probe_builders import output

EVENTS: tuple[ProbeEvent, ...] = (
    ExcludedHost("node9", "node9: ssh: no route to host"),
    LinkSnapshot(BEFORE, parse_link("node1", "bond0", output("link-bond.txt"))),
    LinkSnapshot(BEFORE, parse_link("node2", "eth0", output("link-virtio.txt"))),
    MESH_GOODPUT.of(("node1", "node2"), 9.4e8),
    MESH_GOODPUT.failed(("node2", "node1"), "iperf3: no route", BOTH_WAYS),
    LinkSnapshot(AFTER, parse_link("node1", "bond0", output("link-bond.txt"))),
    LinkSnapshot(
        AFTER,
        HostLink(
            "node3",
            "eth1",
            speed_mbit_s=2500,
            carried_mbit_s=480,
            slow_ports=(SlowPort("eth1", "USB port 1-4", 480),),
        ),
    ),
)


def recording_of(results: Path, configuration: str = "1g") -> ProbeRecording:
    run = ProbeRun(configuration, ("node1", "node2"), {"seconds": "5"}, {"emulated": "4 nodes"})
    with ProbeRecording(run, results) as recording:
        for event in EVENTS:
            recording.event(event)
        recording.end(Ending.COMPLETED)
    return recording


def file_of(results: Path) -> Path:
    return known(recording_of(results).path)


class TestFile:
    def test_is_loaded_as_it_was_recorded(self, tmp_path: Path) -> None:
        recording = recording_of(tmp_path)
        loaded = load_probes(known(recording.path))
        assert loaded == recording.probed
        assert loaded.events == EVENTS
        assert loaded.ending is Ending.COMPLETED

    def test_has_each_event_as_soon_as_it_is_recorded(self, tmp_path: Path) -> None:
        with ProbeRecording(ProbeRun("1g", ("node1",)), tmp_path) as recording:
            path = known(recording.path)
            for number, event in enumerate(EVENTS, 1):
                recording.event(event)
                assert load_probes(path).events == EVENTS[:number]
            assert load_probes(path).ending is None

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            (
                {"kind": "run"},
                r"not a results file of probes: it records a run; .*clusterlift probe",
            ),
            ({"hosts": "node1"}, r"Expected `array`, got `str` - at `\$\.hosts`"),
        ],
    )
    def test_with_another_first_line_is_refused(
        self, tmp_path: Path, change: dict[str, object], reason: str
    ) -> None:
        path = change_line(file_of(tmp_path), 1, change)
        with pytest.raises(BadInput, match=f"{path.name}:1: .*{reason}"):
            load_probes(path)

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"probe": DELETED}, "Object missing required field `probe`"),
            ({"value": None}, "a measurement has either a value or an error"),
            ({"value": -1.0}, r"Expected `float` >= 0.0 - at `\$\.value`"),
            ({"value": "9.4e8"}, r"Expected `float \| null`, got `str`"),
            ({"better": "bigger"}, "better is 'higher' or 'lower'"),
            ({"round": 0}, r"Expected `int` >= 1 - at `\$\.round`"),
        ],
    )
    def test_with_a_measurement_that_cannot_be_is_refused(
        self, tmp_path: Path, change: dict[str, object], reason: str
    ) -> None:
        path = change_line(file_of(tmp_path), 5, change)
        with pytest.raises(BadInput, match=f":5: malformed measurement line: {reason}"):
            load_probes(path)


class TestDirectories:
    def test_probes_are_not_among_the_runs(self, tmp_path: Path) -> None:
        recording_of(tmp_path)
        record_all(tmp_path, a_run("1g"), [])
        column = find_configuration("1g", tmp_path)
        assert [run.run.id for run in column.runs] == ["run-of-1g"]
        assert len(find_probes("1g", tmp_path)) == 1

    def test_probes_are_found_by_configuration_directory_and_file(self, tmp_path: Path) -> None:
        path = file_of(tmp_path)
        record_all(tmp_path, a_run("1g"), [])
        for name in ("1g", str(tmp_path / "1g"), str(path.parent), str(path)):
            assert [probed.source for probed in find_probes(name, tmp_path)] == [str(path)]

    def test_probes_are_found_beside_the_files_of_runs(self, tmp_path: Path) -> None:
        runs = [load(record_all(tmp_path, a_run(name), [])) for name in ("1g", "2.5g")]
        sources = {str(file_of(tmp_path)) for _ in range(2)}
        assert {probed.source for probed in probes_beside(runs)} == sources

    def test_a_configuration_without_probes_is_refused_with_advice(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"clusterlift probe all --configuration 2\.5g"):
            find_probes("2.5g", tmp_path)

    def test_without_a_results_directory_nothing_is_written(self, tmp_path: Path) -> None:
        with ProbeRecording(ProbeRun("", ("node1",)), None) as recording:
            recording.event(EVENTS[0])
        assert recording.probed.excluded_hosts == [EVENTS[0]]
        assert recording.path is None
        assert not list(tmp_path.iterdir())
