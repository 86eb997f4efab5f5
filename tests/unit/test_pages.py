"""The README and the pages of docs/ name everything that exists: each message says what to add where."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from statistics import median
from types import ModuleType

import click
import msgspec
import pytest

from datagen import generating
from datagen.storage import storages
from harness.analysis.compare.comparison import compare
from harness.analysis.explain.profile import profiled_time
from harness.analysis.explain.written import per_written_byte
from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    find_configuration,
    probe_measurements,
)
from harness.analysis.observed.sample import measured_trials
from harness.analysis.predict.score import summarise
from harness.base.words import percent
from harness.commands.cli import main
from harness.commands.compare import FORMATS, JSON
from harness.experiments.experiment import Configuration, DatasetSpec, Experiment
from harness.experiments.hosts_spec import HostsSpec
from harness.model.run import Phase
from harness.node.machine import FACTS, NAMES_OF_DISK_FACTS
from harness.present.report.figure import Evidence
from harness.present.report.figures import link_use
from harness.programs.program import programs
from harness.work.options import WORK_OPTIONS
from jobs import options as benchmark
from jobs.workload import Workload, discover
from tests.bench.backtest import backtest, chance_error, model_errors, without_profiles
from tests.figure import digest_of_top
from tests.tracked import ROOT
from tests.unit.commands.command_tree import Names, leaves
from tests.unit.printed import markdown_table

FILE_SYSTEMS = ROOT / "results/file-systems"
LOST_SERVER = ROOT / "results/lost-server"
SHUFFLES = ROOT / "results/file-systems-shuffle"
WRITES = ROOT / "results/file-systems-warm"
COLD = ROOT / "results/file-systems-cold"
PROFILED = ROOT / "results/profiled-rates"
PAGES = {path.name: path.read_text() for path in (ROOT / "README.md", *ROOT.glob("docs/*.md"))}
TEXT = "\n".join(PAGES.values())
PLACES = (
    ".",
    "harness",
    "harness/records",
    "harness/experiments",
    "harness/probes",
    "harness/node",
    "harness/analysis",
)
"""Where the map of the code may speak of a file without its directory."""
EXEMPT = {"--help"}
"""Options that no page has to name."""


def unnamed_options(command: click.Command) -> Iterator[str]:
    """Yield the long name of each option that no page names."""
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not any(map(is_named, parameter.opts)):
            yield from {max(parameter.opts, key=len)} - EXEMPT


def script_options(script: ModuleType, capsys: pytest.CaptureFixture[str]) -> set[str]:
    with pytest.raises(SystemExit):
        script.parse(["--help"])
    return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))


def is_named(option: str) -> bool:
    return bool(re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", TEXT))


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the rows of the table whose first heading this is, as lists of cells."""
    lines = [line.strip() for line in PAGES[page].splitlines()]
    [start] = [number for number, line in enumerate(lines) if line.startswith(f"| {heading} |")]
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


@pytest.mark.parametrize(("names", "command"), leaves(), ids=lambda value: str(value)[:40])
def test_every_command_and_option_is_on_a_page(names: Names, command: click.Command) -> None:
    line = f"clusterlift {' '.join(names)}"
    assert re.search(rf"{line}(?![\w-])", TEXT), f"name `{line}` in README.md or a page of docs/"
    missing = list(unnamed_options(command))
    assert not missing, f"describe {missing} of `{line}` in a page of docs/, or put it into EXEMPT"


@pytest.mark.parametrize("script", [benchmark, generating], ids=["benchmark.py", "generate.py"])
def test_every_option_of_a_script_is_on_a_page(
    script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    found = script_options(script, capsys)
    assert len(found) > 5
    missing = sorted(name for name in found - EXEMPT if not is_named(name))
    assert not missing, f"describe {missing} in a page of docs/, or put them into EXEMPT"


def test_the_table_of_workloads_has_each_one_with_its_bottleneck() -> None:
    table = {cells[0].strip("`"): cells[2] for cells in rows("benchmark.md", "workload")}
    workloads = discover()
    assert table.keys() == workloads.keys(), "correct the table of workloads in docs/benchmark.md"
    wrong = [name for name, bound in table.items() if not bound_by(workloads[name], bound)]
    assert not wrong, f"`bound by` of {wrong} in docs/benchmark.md is not their Bottleneck"


def bound_by(workload: Workload, text: str) -> bool:
    return text.split(", ", maxsplit=1)[0].lower() == workload.bottleneck.name.lower()


def test_the_table_of_storages_has_each_one() -> None:
    uris = [cells[0] for cells in rows("layouts.md", "URI")]
    for scheme in storages():
        assert any(f"`{scheme}:" in uri for uri in uris), (
            f"add {scheme}: and its layouts to the table in docs/layouts.md"
        )


def figures_of(
    columns: Sequence[ConfigurationRuns], workload: str = "sha-512"
) -> tuple[str, list[str], list[float]]:
    """Return the layout of configurations, and a workload's seconds and bytes received for one of input.

    The seconds are the medians of each application, a text for each configuration; the bytes are a list
    with each trial's bytes.
    """
    [layout] = {text for column in columns for text in column.layouts}
    seconds, received = [], []
    for column in columns:
        by_run = [
            [
                trial
                for trial in recorded.trials
                if (trial.workload, trial.phase) == (workload, Phase.MEASURED) and trial.wall_s
            ]
            for recorded in column.runs
        ]
        seconds.append(
            ", ".join(f"{median(trial.wall_s or 0 for trial in run):.2f}" for run in by_run)
        )
        received += [
            sum(node.received_bytes for node in trial.wire.nodes) / trial.tasks.input_bytes
            for trial in chain.from_iterable(by_run)
            if trial.wire and trial.tasks
        ]
    return f"`{layout}`", seconds, received


def test_the_table_of_file_systems_is_that_of_the_committed_results() -> None:
    table = {name.strip("`"): cells for name, *cells in rows("file-systems.md", "configuration")}
    for name, cells in table.items():
        columns = [find_configuration(f"{rate}-{name}", FILE_SYSTEMS) for rate in ("100m", "250m")]
        layout, seconds, received = figures_of(columns)
        assert cells == [layout, *seconds, f"{median(received):.2f}"]
    assert len(table) == 6


def test_the_table_of_shuffles_is_that_of_the_committed_results() -> None:
    heading, *_ = (line for line in PAGES["file-systems.md"].splitlines() if "stored on" in line)
    workloads = [cell.strip(" `") for cell in heading.strip("|").split("|")][2:-1]
    table = {name.strip("`"): cells for name, *cells in rows("file-systems.md", "stored on")}
    for name, cells in table.items():
        column = find_configuration(name, SHUFFLES)
        figures = [figures_of([column], workload) for workload in workloads]
        received = [f"{median(values):.2f}" for *_, values in figures]
        seconds = [text for _, [text], _ in figures]
        assert cells == [figures[0][0], *seconds, ", ".join(received)]
    assert len(table) == 6


def test_the_table_of_writes_is_that_of_the_committed_results() -> None:
    table = {name.strip("`"): cells for name, *cells in rows("file-systems.md", "of writes")}
    for name, cells in table.items():
        column = find_configuration(name, WRITES)
        found = per_written_byte(column.runs, "write")
        assert found
        assert found.sent
        input_ = [
            sum(node.sent_bytes for node in trial.wire.nodes) / trial.tasks.input_bytes
            for trial in measured_trials(column.runs)
            if trial.workload == "sha-512" and trial.wire and trial.tasks
        ]
        assert cells[:3] == [f"`{found.layouts}`", f"{found.stored:.2f}", f"{found.promised:.2f}"]
        assert cells[3] == f"{found.sent - median(input_):.2f}"
        assert cells[5:] == [
            figures_of([column], workload)[1][0] for workload in ("write", "sort-write")
        ]
    assert len(table) == 7


def test_the_table_of_cold_reads_is_that_of_the_committed_results() -> None:
    table = {name.strip("`"): cells for name, *cells in rows("file-systems.md", "read cold")}
    for name, cells in table.items():
        column = find_configuration(name, COLD)
        figures = [figures_of([column], each) for each in ("sha-512", "write", "sort-write")]
        assert cells == [figures[0][0], *(text for _, [text], _ in figures)]
    assert len(table) == 8


def test_the_table_of_a_lost_server_is_that_of_the_committed_results() -> None:
    table = {name.strip("`"): cells for name, *cells in rows("file-systems.md", "dataset")}
    for name, cells in table.items():
        found = [
            figures_of([find_configuration(each, LOST_SERVER)]) for each in (name, f"{name}-lost")
        ]
        seconds = [figures[1] for figures in found]
        received = [figures[2] for figures in found]
        assert cells == [
            found[0][0],
            *chain.from_iterable(seconds),
            *(f"{median(values):.2f}" for values in received),
        ]
    assert len(table) == 4


@pytest.mark.parametrize(
    "file", sorted(ROOT.glob("results/*/comparison.md")), ids=lambda file: file.parent.name
)
def test_each_committed_table_is_what_the_command_prints(file: Path) -> None:
    table = file.read_text()
    [heading] = re.findall(r"^\| workload .*", table, re.MULTILINE)
    names = re.findall(r"\| +([\w.-]+?)[¹²³⁰⁴-⁹,]* +(?=\|)", heading)[1:]
    columns = [find_configuration(name, file.parent) for name in names]
    arguments = f"{' '.join(names)} --results {file.parent.relative_to(ROOT)} --format markdown"
    assert markdown_table(compare(columns)) == table, f"print it: clusterlift compare {arguments}"


def test_the_picture_of_the_report_shows_the_report_of_today(tmp_path: Path) -> None:
    results, page = ROOT / "results/ethernet-upgrade", tmp_path / "report.html"
    names = ["1g-rs", "2.5g-rs", "2.5g-2x"]
    assert main(["report", *names, f"--results={results}", f"--output={page}"]) == 0
    is_shown = digest_of_top(page.read_text()) in (results / "report.png").read_bytes()
    assert is_shown, f"draw it: make figure NAME=top, then move build/report.png to {results}"


@pytest.mark.parametrize(
    ("results", "names", "shown"),
    [
        ("ethernet-upgrade", ["1g-rs", "2.5g-rs"], ["1g-rs", "2.5g-rs"]),
        ("file-systems-shuffle", ["hdfs-2x", "ceph-rs"], ["ceph-rs"]),
    ],
)
def test_the_pictures_of_links_have_the_lines_that_the_report_draws(
    results: str, names: list[str], shown: list[str]
) -> None:
    columns = [find_configuration(name, ROOT / "results" / results) for name in names]
    measured = {column.name: probe_measurements(column) for column in columns}
    figure = link_use.figure.draw(Evidence(compare(columns), measured))
    assert figure
    drawn = [lines_of(picture.svg) for picture in figure.pictures]
    arguments = f"NAME=links REPORT='{' '.join(names)} --results results/{results}'"
    for name in shown:
        lines = lines_of((ROOT / f"docs/inner-join-{name}.svg").read_text())
        assert len(lines) == len({"received", "sent"})
        assert lines in drawn, f"draw docs/inner-join-{name}.svg: make figure {arguments}"


def lines_of(svg: str) -> list[str]:
    """Return the points of the lines of a picture; where texts and axes are depends on fonts."""
    return re.findall(r'\bd="(M[\d.,]+L[^"]+)"', svg)


def reading_and_gain(name: str, workload: str) -> tuple[str, str]:
    """Return how long tasks read from QFS, and the largest gain, as docs/profile.md has them."""
    profile = profiled_time(find_configuration(name, PROFILED).runs, workload)
    assert profile
    assert profile.bound
    reading = profile.by_class["reading from QFS"]
    assert reading.interval
    error = percent(reading.interval.max_distance(reading.share))
    times = f"{reading.seconds:.1f} of {profile.task_s:.1f} s"
    return f"{times}, {percent(reading.share)} ± {error}", percent(profile.bound.network.share)


def test_the_table_of_seconds_by_class_is_that_of_the_committed_results() -> None:
    suffixes = {"`rs:6+3:64k`": "rs", "`replicated:2`": "2x"}
    table = [cells for cells in rows("profile.md", "workload") if cells[1] in suffixes]
    for workload, layout, *cells in table:
        found = [
            reading_and_gain(f"{rate}-{suffixes[layout]}", workload.strip("`"))
            for rate in ("100mbit", "250mbit")
        ]
        times, gains = zip(*found, strict=True)
        assert cells == [*times, ", ".join(gains)]
    assert len(table) == 6


def test_the_errors_of_predictions_by_profiles_are_those_of_the_committed_results() -> None:
    names = [f"{rate}-{layout}" for layout in ("rs", "2x") for rate in ("100mbit", "250mbit")]
    columns = [find_configuration(name, PROFILED) for name in names]
    models = backtest(map(without_profiles, columns)), backtest(columns)
    expected = [
        [f"{error:+.1%}".replace("%", " %") for error in model_errors(pair).values()]
        for pairs in zip(*models, strict=True)
        for pair in pairs
    ]
    assert [cells[2:] for cells in rows("prediction.md", "layout")] == expected
    by_profiles = summarise([pair.score for pair in backtest(columns)])
    assert by_profiles
    median, worst = (percent(e, 1) for e in (by_profiles.median_error, by_profiles.worst_error))
    page = " ".join(PAGES["prediction.md"].split())
    assert f"**By profiles, the median error is {median} and the worst {worst}**" in page
    chance = percent(chance_error(backtest(columns)), 1)
    assert f"other clusters taught. Chance is {chance}. All six" in page


def _keys(table: type[msgspec.Struct]) -> list[str]:
    """Return the keys that a table of an experiment's file may have."""
    names = (field.encode_name for field in msgspec.structs.fields(table))
    return [name for name in names if not name.startswith("(")]


def test_the_page_of_experiments_has_each_key() -> None:
    table = rows("experiments.md", "key of a configuration")
    keys = {key for cells in table for key in re.findall(r"`(\w+)`", cells[0])}
    assert keys == set(_keys(Configuration)), "correct the table of settings in docs/experiments.md"
    shown = PAGES["experiments.md"].partition("## All keys")[2]
    keys_of_tables = [option.name for option in WORK_OPTIONS]
    for described in (Experiment, DatasetSpec, Configuration, HostsSpec):
        keys_of_tables += _keys(described)
    for key in keys_of_tables:
        assert re.search(rf"^\[?{key}\b", shown, re.MULTILINE), (
            f"show {key} in `All keys` of docs/experiments.md"
        )


def test_the_page_of_results_has_each_fact_of_a_node() -> None:
    _, _, section = PAGES["results.md"].partition("## What is recorded of the nodes")
    words = " ".join(section.partition("## ")[0].split())
    for fact in FACTS:
        is_on_the_page_of_disks = fact.name in NAMES_OF_DISK_FACTS
        is_named = re.search(rf"(?<![\w.]){re.escape(fact.name)}(?!\w)", words)
        assert is_on_the_page_of_disks or is_named, f"name `{fact.name}` there"


def test_each_format_of_compare_but_the_default_is_on_a_page() -> None:
    for name in {*FORMATS, JSON} - {"text"}:
        command = f"clusterlift compare csv parquet --format {name}"
        assert command in PAGES["results.md"], f"show `{command}` in docs/results.md"


def test_the_tables_of_programs_have_each_workload() -> None:
    for program in programs().values():
        for workload in program.workloads:
            name = workload if isinstance(workload, str) else workload.name
            assert f"`{name}`" in PAGES["programs.md"], f"describe {name} in docs/programs.md"


@pytest.mark.parametrize("name", PAGES)
def test_each_block_of_code_has_its_fences_on_lines_of_their_own(name: str) -> None:
    fences = [line for line in PAGES[name].splitlines() if "```" in line]
    assert [line for line in fences if not re.fullmatch(r" *```[a-z]*", line)] == []
    assert len(fences) % 2 == 0, "a block of code does not end"


@pytest.mark.parametrize("name", PAGES)
def test_the_prose_of_a_page_wraps_at_100_columns(name: str) -> None:
    prose = re.sub(r"^```.*?^```", "", PAGES[name], flags=re.DOTALL | re.MULTILINE)
    own_lines = ("    ", "|", "   |", "[![", "![")  # commands, tables and pictures
    too_long = [
        line for line in prose.splitlines() if len(line) > 100 and not line.startswith(own_lines)
    ]
    assert too_long == []


def test_each_page_is_on_the_list_of_pages() -> None:
    unlisted = [
        name for name in PAGES if name != "README.md" and f"docs/{name}" not in PAGES["README.md"]
    ]
    assert not unlisted, f"add {unlisted} to the list of pages in README.md"


PATHS = re.findall(r"`([\w./<>*-]+\.py|[\w./]+/)`", PAGES["architecture.md"])


def test_the_map_of_the_code_names_files_and_directories_that_exist() -> None:
    concrete = [path for path in PATHS if "<" not in path]
    assert len(concrete) > 50
    missing = [path for path in concrete if not any((ROOT / at / path).exists() for at in PLACES)]
    assert not missing, f"correct {missing} in docs/architecture.md"
