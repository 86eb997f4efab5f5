"""`clusterlift report` writes a page, refuses bad options, and needs its optional libraries alone."""

import shlex
import sys
from html import unescape
from pathlib import Path

import pytest

from harness.commands.cli import main
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import ProbeRun
from harness.records.writer import record_all
from tests.refusal import refusal
from tests.unit.builders import a_run, ok, scaled


def record(results: Path, name: str, factor: float) -> None:
    """Record two runs with every second of six trials each."""
    for number in (1, 2):
        times_s = enumerate(scaled(factor)[number - 1 :: 2], 1)
        run = a_run(name, f"run-{number}-of-{name}")
        record_all(results, run, [ok("w", wall_s, round_) for round_, wall_s in times_s])


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
        record_all(results, ProbeRun("2.5g", ("a", "b")), [MESH_GOODPUT.of(("a", "b"), 2.35e9)])
        assert "2.35 Gbit/s" in report("1g", "2.5g")

    def test_it_refuses_what_compare_refuses(self) -> None:
        refused = refusal("report", "1g")
        assert "name two configurations or more" in refused
        assert "compare" not in refused
        assert not Path("report.html").exists()

    def test_a_former_report_is_replaced(self) -> None:
        first = report("1g", "2.5g")
        assert report("2.5g", "1g") != first

    def test_measurements_are_never_replaced(self, results: Path) -> None:
        record_all(results, ProbeRun("1g", ("a", "b")), [MESH_GOODPUT.of(("a", "b"), 2.35e9)])
        for file in results.rglob("*.jsonl"):
            before = file.read_bytes()
            assert refusal("report", "1g", "2.5g", "-o", str(file)).endswith(
                f"{file} exists and is not a report of clusterlift; choose another name, or move it elsewhere"
            )
            assert file.read_bytes() == before

    def test_a_page_that_mentions_clusterlift_is_no_report(self) -> None:
        Path("page.html").write_text('<p>\n<meta name="generator" content="clusterlift 0.1.0">')
        assert "is not a report of clusterlift" in refusal(
            "report", "1g", "2.5g", "-o", "page.html"
        )

    def test_the_name_of_the_file_may_be_any_bytes(self) -> None:
        for _ in range(2):
            assert main(["report", "1g", "2.5g", "-o", "\udcff.html"]) == 0
        assert Path("\udcff.html").stat().st_size

    def test_an_unwritable_path_is_reported(self) -> None:
        refused = refusal("report", "1g", "2.5g", "-o", "nowhere/report.html")
        assert "--output: cannot write nowhere/report.html: No such file" in refused

    def test_a_missing_library_is_reported_with_the_command_that_installs_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in [name for name in sys.modules if name.startswith("harness.present.report")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "vl_convert", None)
        assert refusal("report", "1g", "2.5g") == (
            "clusterlift report needs vl_convert, which is not installed: "
            "install clusterlift with its extra [report], as docs/install.md says"
        )


@pytest.mark.usefixtures("results")
class TestCost:
    def test_without_a_cost_the_page_has_no_costs(self) -> None:
        assert "What the change costs and saves" not in report("1g", "2.5g")

    def test_a_cost_on_the_command_line(self) -> None:
        page = report("1g", "2.5g", "--cost", "350USD")
        assert "What the change costs and saves" in page
        assert "350 USD" in page
        assert "68.29 USD" in page
