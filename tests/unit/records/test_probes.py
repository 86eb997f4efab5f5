"""What was probed is kept line by line, out of the way of runs, and comes back as it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.configuration import find_configuration
from harness.model.errors import BadInput
from harness.model.network_metrics import BOTH_WAYS, MESH_GOODPUT
from harness.model.probe import (
    AFTER,
    BEFORE,
    HIGHER,
    ExcludedHost,
    LinkSnapshot,
    Measurement,
    ProbeEvent,
    ProbeRun,
    RecordedProbes,
    samples,
)
from harness.model.run import Ending
from harness.node.interface import link_of
from harness.records.probes import ProbeRecording, find_probed, load_measurements, load_probed
from harness.records.writer import Recording
from tests.unit.builders import a_run
from tests.unit.probe_builders import output

NOTES: tuple[ProbeEvent, ...] = (
    ExcludedHost("node9", "node9: ssh: no route to host"),
    LinkSnapshot(BEFORE, link_of("node1", "bond0", output("link-bond.txt"))),
    LinkSnapshot(BEFORE, link_of("node2", "eth0", output("link-virtio.txt"))),
    MESH_GOODPUT.of("node1 -> node2", 9.4e8),
    MESH_GOODPUT.failed("node2 -> node1", "iperf3: no route", BOTH_WAYS),
    LinkSnapshot(AFTER, link_of("node1", "bond0", output("link-bond.txt"))),
)


def a_probe(
    results: Path, configuration: str = "1g", notes: tuple[ProbeEvent, ...] = NOTES
) -> ProbeRecording:
    run = ProbeRun(configuration, ("node1", "node2"), {"seconds": "5"}, {"emulated": "4 nodes"})
    with ProbeRecording(run, results) as recording:
        for note in notes:
            recording.note(note)
        recording.end(Ending.COMPLETED)
    return recording


class TestAFile:
    def test_comes_back_as_it_was_noted(self, tmp_path: Path) -> None:
        recording = a_probe(tmp_path)
        assert recording.path is not None
        loaded = load_probed(recording.path)
        assert loaded == recording.probed
        assert loaded.notes == NOTES
        assert loaded.ending is Ending.COMPLETED

    def test_holds_every_note_as_soon_as_it_was_made(self, tmp_path: Path) -> None:
        with ProbeRecording(ProbeRun("1g", ("node1",)), tmp_path) as recording:
            assert recording.path is not None
            for number, note in enumerate(NOTES, 1):
                recording.note(note)
                assert load_probed(recording.path).notes == NOTES[:number]
            assert load_probed(recording.path).ending is None

    @given(st.integers(0, 10_000))
    def test_that_was_cut_anywhere_keeps_what_was_whole(
        self, tmp_path_factory: pytest.TempPathFactory, cut: int
    ) -> None:
        path = a_probe(tmp_path_factory.mktemp("probes")).path
        assert path is not None
        data = path.read_bytes()
        path.write_bytes(data[:cut])
        if cut < data.index(b"\n") + 1:
            with pytest.raises(BadInput, match="holds no whole line"):
                load_probed(path)
            return
        loaded = load_probed(path)
        assert loaded.notes == NOTES[: len(loaded.notes)]
        assert bool(loaded.warnings) == (not data[:cut].endswith(b"\n"))

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"schema_version": 99}, "schema version 99 is not known here"),
            ({"kind": "run"}, "the first line is not that of a probe"),
            ({"hosts": "node1"}, "hosts"),
        ],
    )
    def test_of_something_else_is_refused_with_its_line(
        self, tmp_path: Path, change: dict[str, object], said: str
    ) -> None:
        path = a_probe(tmp_path).path
        assert path is not None
        head, rest = path.read_text().split("\n", 1)
        path.write_text(json.dumps(json.loads(head) | change) + "\n" + rest)
        with pytest.raises(BadInput, match=f"{path.name}:1: not a file of probes: .*{said}"):
            load_probed(path)

    @pytest.mark.parametrize(
        "line", ['{"kind": "measurement"}', '{"kind": "other"}', "[]", "{", '{"kind": "end"}\n{}']
    )
    def test_with_a_malformed_line_is_refused_with_its_number(
        self, tmp_path: Path, line: str
    ) -> None:
        path = a_probe(tmp_path).path
        assert path is not None
        path.write_text(f"{path.read_text()}{line}\n")
        with pytest.raises(BadInput, match=rf"{path.name}:\d+: not a file of probes"):
            load_probed(path)


class TestPlaces:
    def test_probes_are_out_of_the_way_of_runs(self, tmp_path: Path) -> None:
        a_probe(tmp_path)
        with Recording(tmp_path, a_run("1g")):
            pass
        assert [run.run.id for run in find_configuration("1g", tmp_path).runs] == ["run-of-1g"]
        assert len(find_probed("1g", tmp_path)) == 1

    def test_are_found_by_configuration_directory_and_file(self, tmp_path: Path) -> None:
        path = a_probe(tmp_path).path
        assert path is not None
        for name in ("1g", str(tmp_path / "1g"), str(path.parent), str(path)):
            assert [one.source for one in find_probed(name, tmp_path)] == [str(path)]

    def test_the_measurements_of_a_configuration_s_probes_are_together(
        self, tmp_path: Path
    ) -> None:
        a_probe(tmp_path)
        a_probe(tmp_path)
        assert len(load_measurements(tmp_path / "1g")) == 4

    def test_what_was_not_probed_is_told_how_to_be(self, tmp_path: Path) -> None:
        with pytest.raises(BadInput, match=r"clusterlift probe all --configuration 2\.5g"):
            find_probed("2.5g", tmp_path)

    def test_without_a_place_nothing_is_written(self, tmp_path: Path) -> None:
        with ProbeRecording(ProbeRun("", ("node1",)), None) as recording:
            recording.note(NOTES[0])
        assert recording.probed.excluded_hosts == [NOTES[0]]
        assert recording.path is None
        assert not list(tmp_path.iterdir())

    def test_a_place_that_cannot_be_written_is_refused_first(self, tmp_path: Path) -> None:
        (tmp_path / "1g").write_text("in the way")
        with pytest.raises(BadInput, match="--results: cannot write"):
            ProbeRecording(ProbeRun("1g", ("node1",)), tmp_path)


class TestMeasurements:
    @pytest.mark.parametrize(
        ("value", "error"), [(None, None), (1.0, "both"), (float("nan"), None)]
    )
    def test_have_a_value_or_an_error(self, value: float | None, error: str | None) -> None:
        with pytest.raises(ValueError, match="value"):
            Measurement("mesh", "a -> b", "", "goodput_bit_s", "bit/s", HIGHER, value, error)

    def test_repeats_are_one_sample(self) -> None:
        measured = [
            MESH_GOODPUT.of("a -> b", 1.0),
            MESH_GOODPUT.of("b -> a", 5.0),
            MESH_GOODPUT.of("a -> b", 3.0),
            MESH_GOODPUT.failed("a -> b", "no route"),
            MESH_GOODPUT.of("a -> b", 9.0, BOTH_WAYS),
        ]
        one_way, back, both_ways = samples(measured)
        assert (one_way.values, one_way.errors) == ((1.0, 3.0), ("no route",))
        assert back.values == (5.0,)
        assert (both_ways.name, both_ways.values) == ("mesh a -> b, both ways", (9.0,))


class TestLinks:
    def test_are_told_apart_by_their_moment(self, tmp_path: Path) -> None:
        probed = a_probe(tmp_path).probed
        assert set(probed.links(BEFORE)) == {"node1", "node2"}
        assert set(probed.links(AFTER)) == {"node1"}
        assert set(probed.links()) == {"node1", "node2"}

    def test_of_nothing_are_none(self) -> None:
        assert RecordedProbes(ProbeRun("1g", ())).links() == {}
