"""`clusterlift report` writes a page, refuses bad options, and needs its optional libraries alone."""

import shlex
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from harness.cli import main
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ProbeRun
from harness.model.run import Ending
from harness.records.writer import ProbeRecording, Recording
from tests.unit.builders import a_run, ok
from tests.unit.present.test_tables import scaled

ROOT = Path(__file__).parents[3]


def record(results: Path, name: str, factor: float) -> None:
    """Record two runs with every second of six trials each."""
    for number in (1, 2):
        with Recording(results, a_run(name, f"run-{number}-of-{name}")) as recording:
            for round_, wall_s in enumerate(scaled(factor)[number - 1 :: 2], 1):
                recording.trial(ok("w", wall_s, round_))
            recording.end(Ending.COMPLETED)


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record two configurations in the current directory."""
    monkeypatch.chdir(tmp_path)
    directory = tmp_path / "results"
    record(directory, "1g", 1)
    record(directory, "2.5g", 0.5)
    return directory


def report(*arguments: str) -> str:
    assert main(["report", *arguments]) == 0
    return unescape(Path("report.html").read_text())


@pytest.mark.usefixtures("results")
class TestReport:
    def test_it_writes_a_page_and_prints_its_path(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert "1 of 1 workload takes less time (-50.0%)." in report("1g", "2.5g")
        assert capsys.readouterr().out == "report: report.html\n"

    def test_the_command_on_the_page_reproduces_the_page(self) -> None:
        before = report("1g", "2.5g", "--allow-different-data", "--cost", "2.5g=350USD")
        [command] = [line for line in before.splitlines() if line.startswith("clusterlift report ")]
        assert report(*shlex.split(command)[2:]) == before

    def test_the_page_includes_probes_stored_with_the_runs(self, results: Path) -> None:
        with ProbeRecording(ProbeRun("2.5g", ("a", "b")), results) as recording:
            recording.event(MESH_GOODPUT.of(("a", "b"), 2.35e9))
            recording.end(Ending.COMPLETED)
        assert "2.35 Gbit/s" in report("1g", "2.5g")

    def test_it_refuses_what_compare_refuses(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["report", "1g"]) == 2
        refused = capsys.readouterr().err
        assert "name two configurations or more" in refused
        assert "compare" not in refused
        assert not Path("report.html").exists()

    def test_a_former_report_is_replaced(self) -> None:
        first = report("1g", "2.5g")
        assert report("2.5g", "1g") != first

    def test_measurements_are_never_replaced(
        self, results: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with ProbeRecording(ProbeRun("1g", ("a", "b")), results) as recording:
            recording.event(MESH_GOODPUT.of(("a", "b"), 2.35e9))
        for file in results.rglob("*.jsonl"):
            before = file.read_bytes()
            assert main(["report", "1g", "2.5g", "-o", str(file)]) == 2
            [line] = capsys.readouterr().err.splitlines()
            assert line.endswith(
                f"{file} exists and is not a report of clusterlift; choose another name, or move it elsewhere"
            )
            assert file.read_bytes() == before

    def test_a_page_that_mentions_clusterlift_is_no_report(self) -> None:
        Path("page.html").write_text('<p>\n<meta name="generator" content="clusterlift 0.1.0">')
        assert main(["report", "1g", "2.5g", "-o", "page.html"]) == 2

    def test_the_name_of_the_file_may_be_any_bytes(self) -> None:
        for _ in range(2):
            assert main(["report", "1g", "2.5g", "-o", "\udcff.html"]) == 0
        assert Path("\udcff.html").stat().st_size

    def test_an_unwritable_path_is_reported(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["report", "1g", "2.5g", "-o", "nowhere/report.html"]) == 2
        assert "--output: cannot write nowhere/report.html: No such file" in capsys.readouterr().err

    def test_a_missing_library_is_reported_with_the_command_that_installs_it(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in [name for name in sys.modules if name.startswith("harness.present.report")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        assert main(["report", "1g", "2.5g"]) == 2
        assert capsys.readouterr().err == (
            "clusterlift: error: clusterlift report needs vl_convert, which is not installed: "
            "install clusterlift with its extra [report], as docs/install.md says\n"
        )


def test_the_command_line_does_not_import_the_optional_libraries() -> None:
    program = "import sys, harness.cli; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not {"jinja2", "pyarrow", "vl_convert"} & set(done.stdout.split())


@pytest.mark.usefixtures("results")
class TestCost:
    def test_without_a_cost_the_page_has_no_costs(self) -> None:
        assert "What the change costs and saves" not in report("1g", "2.5g")

    def test_a_cost_on_the_command_line(self) -> None:
        page = report("1g", "2.5g", "--cost", "350USD")
        assert "What the change costs and saves" in page
        assert "350 USD" in page
        assert "68.29 USD" in page
