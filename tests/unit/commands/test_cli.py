"""`clusterlift` as a user sees it: output, exit codes, one line for each mistake."""

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import click
import pytest

from harness import __version__
from harness.commands.bench import show_with_earlier
from harness.commands.cli import SUMMARIES, clusterlift, main
from harness.commands.compare import FORMATS
from harness.records.writer import Recording, record_all
from tests.refusal import refusal
from tests.tracked import ROOT
from tests.unit.builders import a_run, assert_golden, failed, ok

PUBLISHED = ROOT / "results" / "published-2020"
CONFIGURATIONS = ("1g-rs", "2.5g-rs", "2.5g-2x")


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Record two configurations, the first with two runs, in the current directory."""
    monkeypatch.chdir(tmp_path)
    directory = Path("results")
    early, late = "2026-11-21T10:00:00.000Z", "2026-11-21T11:00:00.000Z"
    record_all(directory, a_run("1g", "a-late", started_at=late), [ok("pi", 12), ok("pi", 11, 2)])
    record_all(directory, a_run("1g", "b-early", started_at=early), [ok("pi", 10.0)])
    record_all(directory, a_run("2.5g", "c"), [ok("pi", 5.5), failed("pi", round_=2)])
    return directory


class TestShowWithTheEarlierConfiguration:
    DATASET: ClassVar = {"uri": "file:/rows", "layout": {"requested": None, "observed": "unknown"}}

    def record(
        self, results: Path, name: str, hour: int, digest: str = "d", host: str = "h"
    ) -> None:
        started_at = f"2026-11-21T{hour:02}:00:00.000Z"
        run = a_run(
            name,
            f"{name}-{hour}",
            started_at=started_at,
            dataset={**self.DATASET, "digest": digest},
            environment={"host": host},
        )
        record_all(results, run, [replace(ok("pi", 10.0), started_at=started_at)])

    def test_it_is_the_last_on_the_same_data_and_machine(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.record(tmp_path, "first", 1)
        self.record(tmp_path, "before", 2)
        self.record(tmp_path, "other-data", 3, digest="e")
        self.record(tmp_path, "other-machine", 4, host="i")
        self.record(tmp_path, "after", 5)
        self.record(tmp_path, "later", 6)
        assert show_with_earlier(str(tmp_path / "after"), tmp_path)
        assert capsys.readouterr().out.split()[:2] == ["before", "after"]

    def test_nothing_is_printed_for_the_first_configuration(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.record(tmp_path, "after", 5)
        self.record(tmp_path, "after", 6)
        assert not show_with_earlier(str(tmp_path / "after"), tmp_path)
        assert capsys.readouterr().out == ""

    def test_a_file_that_cannot_be_read_is_reported_and_left_out(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.record(tmp_path, "before", 2)
        self.record(tmp_path, "after", 5)
        broken = tmp_path / "broken" / "x.jsonl"
        broken.parent.mkdir()
        broken.write_text("x\n")
        assert show_with_earlier(str(tmp_path / "after"), tmp_path)
        printed = capsys.readouterr()
        assert printed.out.split()[:2] == ["before", "after"]
        assert printed.err.startswith(f"not considered: {broken}:1: not a results file")

    def test_configurations_that_cannot_be_compared_are_no_mistake(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.record(tmp_path, "before", 2)
        self.record(tmp_path, "after", 4, digest="e")
        self.record(tmp_path, "after", 5)
        assert not show_with_earlier(str(tmp_path / "after"), tmp_path)
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith(
            "'before' was measured before 'after', but they cannot be compared: "
        )


class TestCompare:
    @pytest.mark.parametrize("ending", FORMATS)
    def test_the_published_table_of_2020(
        self, ending: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(ROOT)
        arguments = ["--results", "results/published-2020", "--format", ending]
        assert main(["compare", *CONFIGURATIONS, *arguments]) == 0
        printed = capfd.readouterr().out
        if ending != "json":  # JSON has run ids, which change with the next import
            assert_golden(f"published-2020-{ending}.txt", printed)
        for shown in ("547.5", "1416.1", "10.8"):
            assert shown in printed

    def test_a_name_a_file_and_a_directory_are_equivalent(
        self, results: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        printed = set()
        for after in ("2.5g", str(results.resolve() / "2.5g"), "results/2.5g/c.jsonl"):
            assert main(["compare", "1g", after, "--results", str(results.resolve())]) == 0
            printed.add(capfd.readouterr().out)
        assert len(printed) == 1

    @pytest.mark.parametrize(("after", "code"), [("2.5g", 1), ("single", 3)])
    def test_limits_decide_the_exit_code(
        self, results: Path, capsys: pytest.CaptureFixture[str], after: str, code: int
    ) -> None:
        """A trial failed in one of the two; the other has a single run."""
        record_all(results, a_run("single", "d"), [ok("pi", 5.5)])
        limits = ["--fail-if-slower", "3%", "--fail-if-not-faster", "10%"]
        assert main(["compare", "1g", after, *limits, "--format", "json"]) == code
        found = json.loads(capsys.readouterr().out)["limits"]
        assert {each["limit"] for each in found} == {0.03, -0.1}

    def test_runs_of_one_configuration_are_in_the_order_of_their_start(
        self, results: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        main(["compare", "1g", "2.5g", "--format", "json"])
        cell = json.loads(capfd.readouterr().out)["workloads"][0]["cells"][0]
        assert cell["times_s_by_run"] == [[10.0], [12.0, 11.0]]

    def test_an_unrelated_directory_does_not_hide_a_configuration(self, results: Path) -> None:
        Path("1g").mkdir()
        assert main(["compare", "1g", "2.5g"]) == 0


class TestShow:
    def test_of_a_configuration_it_shows_the_newest_complete_run(
        self, results: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        with Recording(results, a_run("1g", "d", started_at="2026-11-21T12:00:00.000Z")):
            pass  # it is killed
        assert main(["show", "1g"]) == 0
        shown = "run 2 of 3, the newest complete one\n\nrun a-late\n"
        assert capfd.readouterr().out.startswith(shown)

    def test_a_configuration_that_was_only_probed_has_no_run_to_show(self, results: Path) -> None:
        (results / "3g" / "probes").mkdir(parents=True)
        assert "its network was probed, but no run was recorded" in refusal("show", "3g")

    def test_names_of_other_configurations_are_listed_as_they_can_be_given(
        self, results: Path
    ) -> None:
        record_all(results, a_run("rs/2.5g", "d"), [ok("pi", 1.0)])
        assert "(there: 1g, 2.5g, rs/2.5g)" in refusal("show", "3g")
        assert main(["show", "rs/2.5g"]) == 0

    def test_a_directory_that_is_not_named_as_we_name_them_is_listed_by_its_path(
        self, results: Path
    ) -> None:
        (results / "1g").rename(results / "neu ü")
        assert "(there: 2.5g, results/neu ü)" in refusal("show", "neu ü")
        assert main(["show", "results/neu ü"]) == 0

    def test_it_ends_with_the_summary_and_the_path(
        self, results: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        path = results / "2.5g" / "c.jsonl"
        assert main(["show", str(path)]) == 0
        *_, table, last = capfd.readouterr().out.rstrip("\n").split("\n\n")
        assert last == str(path)
        assert "1 of 2 trials failed, the first with: WrongAnswer: 3 is not 4" in table


class TestMistakes:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["compare", "1g"], "two configurations or more"),
            (
                ["compare", "1g", "3g"],
                "'3g' is neither a results file, nor a directory with results",
            ),
            (["compare", "1g", "other.csv"], "other.csv:1: not a results file"),
            (["compare", "1g", "empty"], "the directory empty has no results files"),
            (["compare", "1g", "mixed"], "mixed mixes runs of several configurations (1g, 2.5g)"),
            (["compare", "1g", "2.5g", "--fail-if-slower", "110%"], "less than 100%"),
            (["compare", "1g", "2.5g", "--probes", "--fail-if-slower", "3%"], "leave out --adjust"),
            (
                ["compare", "1g", "2.5g", "--probes", "--format", "json"],
                "formats text and markdown",
            ),
            (["import", "other.csv"], "Missing option '--configuration'"),
            (["import", "good.csv", "--configuration", "x", "--results", "other.csv"], "--results"),
            (["show", "1g", "--results", "hdfs://h/r"], "name a directory of this machine"),
            (["experiment", "x.toml", "--results=s3a://b"], "name a directory of this machine"),
            (["compar"], "Did you mean 'compare'?"),
        ],
    )
    def test_a_mistake_is_one_line_with_exit_code_2(
        self, arguments: list[str], message: str, results: Path
    ) -> None:
        Path("other.csv").write_text("a,b\n1,2\n")
        Path("good.csv").write_text("test,seconds\npi,11\n")
        for directory in ("empty", "mixed"):
            Path(directory).mkdir()
        for path in (results / "1g" / "a-late.jsonl", results / "2.5g" / "c.jsonl"):
            shutil.copy(path, "mixed")
        assert message in refusal(*arguments)


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capfd.readouterr().out == f"clusterlift {__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], []])
def test_help_lists_every_command_with_its_summary(
    arguments: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    main(arguments)
    lines = "".join(capfd.readouterr()).splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"  [a-z]", line)]
    assert sorted(listed) == sorted(SUMMARIES)
    assert "  show        Show one run: its environment, its trials and a summary." in lines


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_summary_of_a_command_is_how_its_own_help_begins(name: str) -> None:
    command = clusterlift.get_command(click.Context(clusterlift), name)
    assert command
    assert SUMMARIES[name] == command.get_short_help_str(limit=200)


def test_the_help_of_a_group_cuts_no_summary(capfd: pytest.CaptureFixture[str]) -> None:
    main(["probe", "--help"])
    _, _, listed = capfd.readouterr().out.partition("Commands:")
    assert "with all hosts sending at the same time." in " ".join(listed.split())
    assert "..." not in listed


LIBRARIES = {"scipy", "numpy", "pandas", "tabulate", "jinja2", "pyarrow", "vl_convert"}


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command of a process of its own has loaded at its end."""
    program = (
        "import sys, harness.commands.cli; code = harness.commands.cli.main(sys.argv[1:]); "
        "print(code, *sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    code, *loaded = done.stderr.splitlines()[-1].split()
    assert code == "0", done.stderr
    return set(loaded)


def test_no_command_is_imported_before_it_is_called() -> None:
    assert not loaded_by("--help") & {*LIBRARIES, "msgspec", "harness.commands.compare"}


class TestLibrariesAreLoadedWhereTheyAreNeeded:
    """SciPy alone takes half a second: only where something is tested."""

    @pytest.mark.parametrize(
        ("arguments", "needed"),
        [
            (("show", "a"), ()),
            (("compare", "a", "b"), ()),
            (("compare", "many", "more"), ("numpy", "scipy")),
            (("compare", "many", "more", "--format", "json"), ("numpy", "scipy")),
        ],
        ids=str,
    )
    def test_by_a_command(
        self, arguments: tuple[str, ...], needed: tuple[str, ...], tmp_path: Path
    ) -> None:
        for name, runs in {"a": 1, "b": 1, "many": 3, "more": 3}.items():
            for number in range(runs):
                times = [ok("w", 1 + number / 100), ok("x", 2 + number / 90)]
                record_all(tmp_path, a_run(name, f"{name}-{number}"), times)
        loaded = loaded_by(*arguments, "--results", str(tmp_path))
        assert loaded & LIBRARIES == set(needed)
        assert not loaded & {"scipy.stats", "scipy.optimize", "harness.commands.report"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["compare", "a\0b", "c"],
        ["compare", "a", "b", "--results", "a\0b"],
        ["import", "a\0b.csv", "--configuration", "a"],
        ["import", "a.csv", "--configuration", "a\0b"],
        ["run", "--runs", "1", "--dataset", "a\0b"],
        ["compare", "--event-logs", "a\0b", "c"],
        ["layout", "hdfs://n1/a\0b"],
        ["experiment", "a\0b.toml"],
        ["probe", "link", "--hosts", "a\0b"],
    ],
    ids=" ".join,
)
def test_a_nul_in_an_argument_is_one_line(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "\\x00" in line
    assert line.endswith(" has a NUL, which no name can have; remove it")
