"""The exported tables are typed and documented, and hold no number that was not measured."""

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cli import main
from harness.model.interference import NodeInterference
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ProbeRun, RecordedProbes
from harness.model.run import Ending, Phase, RecordedRun, Run
from harness.model.timeline import Stage
from harness.present import export
from harness.present.export import TABLES, rows
from harness.records.writer import ProbeRecording, Recording
from tests.unit import report_data
from tests.unit.builders import a_run, failed, ok, recorded
from tests.unit.timeline_builders import a_node, a_timeline, a_trial

Exported = dict[str, list[dict[str, Any]]]


def exported(
    directory: Path, runs: list[RecordedRun], probed: list[RecordedProbes] | None = None
) -> Exported:
    """Write the tables, read them again, and return their rows by table."""
    export.write_tables(rows(runs, probed or []), directory)
    return {
        name: pq.read_table(directory / f"{name}.parquet").to_pylist(maps_as_pydicts="strict")
        for name in TABLES
    }


def a_run_with_facts(**fields: Any) -> Run:
    return a_run(
        "1g",
        "r1",
        facts={"link": "1 Gbit/s"},
        parameters={"controls": ["pi"], "sink": "noop"},
        environment={"spark": "4.3.0"},
        dataset={"rows": 1000, "format": "csv", "layout": {"observed": "rs:6+3:64k"}},
        **fields,
    )


class TestTrials:
    def test_a_trial_is_a_row(self, tmp_path: Path) -> None:
        trial = ok("group-by", 1.25, 2, note="lost an executor")
        [row] = exported(tmp_path, [recorded(a_run_with_facts(), [trial])])["trials"]
        assert row == {
            "configuration": "1g",
            "run": "r1",
            "workload": "group-by",
            "phase": "measured",
            "round": 2,
            "status": "ok",
            "wall_s": 1.25,
            "started_at": datetime(2026, 11, 21, 13, 42, 13, tzinfo=UTC),
            "error": None,
            "note": "lost an executor",
            "disturbed": None,
            "executions": 1,
            "work": None,
            "work_unit": None,
            "is_control": False,
            "sink": "noop",
            "dataset_rows": 1000,
            "dataset_format": "csv",
            "layout": "rs:6+3:64k",
            "spark": "4.3.0",
            "is_emulated": False,
            "facts": {"link": "1 Gbit/s"},
            "run_started_at": datetime(2026, 11, 21, 13, 42, 13, tzinfo=UTC),
            "source": "results/1g/r1.jsonl",
        }

    def test_a_failed_trial_has_no_time(self, tmp_path: Path) -> None:
        [row] = exported(tmp_path, [recorded(a_run(), [failed("w", "boom")])])["trials"]
        assert (row["status"], row["wall_s"], row["error"]) == ("failed", None, "boom")

    def test_warm_up_controls_and_emulation_are_marked(self, tmp_path: Path) -> None:
        run = a_run(parameters={"controls": ["pi"]}, facts={"emulated": "yes"})
        [row] = exported(tmp_path, [recorded(run, [ok("pi", 1, phase=Phase.WARM_UP)])])["trials"]
        assert (row["phase"], row["is_control"], row["is_emulated"]) == ("warm-up", True, True)

    def test_unknown_values_are_null(self, tmp_path: Path) -> None:
        run = a_run(dataset={"rows": "many", "layout": None}, started_at="long ago")
        [row] = exported(tmp_path, [recorded(run, [ok("w", 1)])])["trials"]
        unknown = ("dataset_rows", "dataset_format", "layout", "spark", "sink", "run_started_at")
        assert [row[name] for name in unknown] == [None] * len(unknown)

    @pytest.mark.parametrize(
        "time", ["0001-01-01T00:30:00+01:00", "9999-12-31T23:30:00-01:00", "0"]
    )
    def test_what_a_column_cannot_hold_is_null(self, tmp_path: Path, time: str) -> None:
        run = a_run(started_at=time, dataset={"rows": 2**63})
        trial = replace(ok("w", 1, 2**63, executions=2**63), started_at=time)
        [row] = exported(tmp_path, [recorded(run, [trial])])["trials"]
        names = ("run_started_at", "started_at", "dataset_rows", "executions", "round")
        assert [row[name] for name in names] == [None] * 5

    @given(st.text(st.characters(exclude_categories=())))
    def test_any_text_can_be_written(
        self, tmp_path_factory: pytest.TempPathFactory, text: str
    ) -> None:
        run = a_run(text or "x", facts={text: text})
        [row] = exported(tmp_path_factory.mktemp("any"), [recorded(run, [failed("w", text)])])[
            "trials"
        ]
        if text.isprintable():
            assert (row["error"], row["facts"]) == (text, {text: text})

    def test_types_do_not_depend_on_the_rows(self, tmp_path: Path) -> None:
        export.write_tables({name: [] for name in TABLES}, tmp_path)
        for name, table in TABLES.items():
            schema = pq.read_schema(tmp_path / f"{name}.parquet")
            assert schema.names == list(table.columns)
            assert pa.null() not in schema.types


class TestMeasurements:
    def numbers(self, directory: Path) -> Mapping[tuple[str, str | None], tuple[float, str | None]]:
        trial = ok("w", 10.0, tasks=report_data.tasks(10.0), wire=report_data.WIRE)
        found = exported(directory, [recorded(a_run(), [trial])])["measurements"]
        return {(row["metric"], row["subject"]): (row["value"], row["unit"]) for row in found}

    def test_every_task_metric_has_its_unit(self, tmp_path: Path) -> None:
        numbers = self.numbers(tmp_path)
        assert numbers["tasks", None] == (16, None)
        assert numbers["time_fetch_wait_s", None] == (pytest.approx(8.0), "s")
        assert numbers["shuffle_remote_bytes", None] == (30_000_000, "bytes")
        assert numbers["gc_share", None] == (0.01, "ratio")
        assert numbers["tasks_by_locality", "ANY"] == (4, None)

    def test_every_node_has_the_traffic_of_its_links(self, tmp_path: Path) -> None:
        numbers = self.numbers(tmp_path)
        assert {numbers["received_bytes", node] for node in report_data.NODES} == {
            (50_000_000, "bytes")
        }

    def test_what_else_a_node_did_is_exported(self, tmp_path: Path) -> None:
        node = NodeInterference("n1", duration_s=10.5, processors=2, loops=20, stolen_s=0.5)
        run = recorded(a_run(), [ok("w", 10.0, interference=(node,))])
        found = exported(tmp_path, [run])["measurements"]
        assert [(row["metric"], row["subject"], row["value"], row["unit"]) for row in found] == [
            ("node_duration_s", "n1", 10.5, "s"),
            ("node_processors", "n1", 2, None),
            ("node_loops", "n1", 20, None),
            ("node_stolen_s", "n1", 0.5, "s"),
        ]

    def test_unknown_metrics_have_no_row(self, tmp_path: Path) -> None:
        assert not [metric for metric, _ in self.numbers(tmp_path) if "simulat" in metric]
        (other := tmp_path / "other").mkdir()
        assert exported(other, [recorded(a_run(), [ok("w", 1)])])["measurements"] == []


class TestSlices:
    def test_each_node_has_a_row_for_each_slice_of_a_trial(self, tmp_path: Path) -> None:
        node = a_node("n1", received=[0, 630, None], sent=[0, 0, 0], busy=[5, None, 63])
        stages = [Stage("reads data", 0.0, 1.4)]
        trial = a_trial("group-by", a_timeline(node, slices=3, interval_s=0.5, stages=stages))
        found = exported(tmp_path, [recorded(a_run_with_facts(), [trial])])["slices"]
        assert [row["start_s"] for row in found] == [0, 0.5, 1]
        assert {row["length_s"] for row in found} == {0.5}
        assert {(row["host"], row["workload"]) for row in found} == {("n1", "group-by")}
        assert [row["received_bytes"] for row in found] == [0, 630, None]
        assert [row["busy_percent"] for row in found] == [5, None, 63]
        assert {row["stage"] for row in found} == {"1: reads data"}

    def test_a_trial_without_a_timeline_has_none(self, tmp_path: Path) -> None:
        run = recorded(a_run_with_facts(), [ok("group-by", 1.0)])
        assert exported(tmp_path, [run])["slices"] == []


class TestProbes:
    def test_a_measurement_is_a_row_even_if_it_failed(self, tmp_path: Path) -> None:
        run = ProbeRun("1g", ("a", "b"), id="p1", started_at="2026-11-21T13:42:13Z")
        notes = (MESH_GOODPUT.of("a -> b", 9.4e8), MESH_GOODPUT.failed("b -> a", "no route"))
        found = exported(tmp_path, [], [RecordedProbes(run, notes, source="p1.jsonl")])["probes"]
        assert [(row["subject"], row["value"], row["error"]) for row in found] == [
            ("a -> b", 9.4e8, None),
            ("b -> a", None, "no route"),
        ]
        assert {row["unit"] for row in found} == {"bit/s"}


@pytest.fixture
def _results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record two configurations in the current directory, and probes of the first."""
    monkeypatch.chdir(tmp_path)
    directory = Path("results")
    for name in ("1g", "2.5g"):
        with Recording(directory, a_run(name, f"run-{name}")) as recording:
            recording.trial(ok("w", 1.0))
            recording.end(Ending.COMPLETED)
    with_probes = ProbeRun("1g", ("a", "b"))
    with ProbeRecording(with_probes, directory) as recording:
        recording.event(MESH_GOODPUT.of("a -> b", 9.4e8))
        recording.end(Ending.COMPLETED)


@pytest.mark.usefixtures("_results")
class TestCommand:
    def test_it_writes_every_table_and_prints_their_numbers_of_rows(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["export", "1g", "2.5g", "1g", "--output", "out"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "out/trials.parquet: 2 rows",
            "out/measurements.parquet: 0 rows",
            "out/slices.parquet: 0 rows",
            "out/probes.parquet: 1 row",
        ]
        runs = pq.read_table("out/trials.parquet").column("run").to_pylist()
        assert runs == ["run-1g", "run-2.5g"]

    def test_existing_tables_are_replaced(self) -> None:
        for names in (["1g", "2.5g"], ["1g"]):
            assert main(["export", *names, "--output", "out"]) == 0
        assert pq.read_table("out/trials.parquet").num_rows == 1

    @pytest.mark.parametrize("name", ["notes.txt", "trials.parquet"])
    def test_a_directory_with_something_else_is_kept(
        self, name: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("out").mkdir()
        pq.write_table(pa.table({"mine": [1]}), Path("out") / name)
        before = (Path("out") / name).read_bytes()
        assert main(["export", "1g", "--output", "out"]) == 2
        assert capsys.readouterr().err == (
            "clusterlift: error: --output: out exists and is not an export of clusterlift; "
            "choose another name, or move it elsewhere\n"
        )
        assert [file.name for file in Path("out").iterdir()] == [name]
        assert (Path("out") / name).read_bytes() == before

    @pytest.mark.parametrize("name", ["results", "results/1g", "results/1g/probes"])
    def test_a_directory_of_results_is_kept(self, name: str) -> None:
        before = sorted(Path("results").rglob("*"))
        assert main(["export", "1g", "--output", name]) == 2
        assert sorted(Path("results").rglob("*")) == before

    def test_a_pipe_in_the_place_of_a_table_is_not_read(self) -> None:
        Path("out").mkdir()
        os.mkfifo("out/trials.parquet")
        assert main(["export", "1g", "--output", "out"]) == 2

    def test_the_name_of_the_directory_may_be_any_bytes(self) -> None:
        assert main(["export", "1g", "--output", "no\udcff/out"]) == 0
        assert len(list(Path("no\udcff/out").iterdir())) == len(TABLES)

    def test_an_export_whose_numbers_nobody_reads_is_whole(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "stdout", None)
        assert main(["export", "1g", "--output", "out"]) == 1
        assert len(list(Path("out").iterdir())) == len(TABLES)

    def test_an_unwritable_path_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("file").touch()
        assert main(["export", "1g", "--output", "file/out"]) == 2
        assert "--output: cannot write" in capsys.readouterr().err

    def test_a_missing_pyarrow_is_reported_with_the_command_that_installs_it(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert main(["export", "1g", "--output", "out"]) == 2
        assert capsys.readouterr().err == (
            "clusterlift: error: clusterlift export needs pyarrow, which is not installed: "
            "in the checkout, pip install '.[report]'\n"
        )

    def test_help_describes_every_column(self, capsys: pytest.CaptureFixture[str]) -> None:
        main(["export", "--help"])
        printed = capsys.readouterr().out
        for name, table in TABLES.items():
            assert f"{name}.parquet" in printed
            for column in table.columns:
                assert f"{column}: " in printed

    def test_the_file_describes_its_columns(self, tmp_path: Path) -> None:
        export.write_tables({name: [] for name in TABLES}, tmp_path)
        schema = pq.read_schema(tmp_path / "measurements.parquet")
        assert (
            schema.field("metric").metadata[b"about"]
            == b"name; ends in _s, _bytes or _share unless it is a count"
        )
