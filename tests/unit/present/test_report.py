"""The report: it has the numbers of `compare`, its text is correct, and its page loads nothing else."""

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from statistics import median
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.cost.benefit import cost_benefits
from harness.analysis.cost.costs import Costs, Money
from harness.analysis.explain.attribution import wall_parts
from harness.analysis.explain.timeline import link_uses, trial_links
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.words import visible
from harness.model.network_metrics import MESH_GOODPUT
from harness.model.probe import Measurement
from harness.model.run import Ending, InputReader, Phase
from harness.model.task_metrics import DiskBytes
from harness.present import comparison_json, text
from harness.present.comparison_table import comparison_table
from harness.present.quantities import time_text
from harness.present.report import chart, page
from harness.present.report.answer import Answer, Tone, answers
from harness.present.report.chart import labels
from harness.present.report.environment import fact_rows
from harness.present.report.figure import Evidence, Figure, sections
from harness.present.report.figures import change, disk_use, link_use, mesh, time_spent, trials
from harness.present.report.outcome import outcomes
from harness.present.use_table import link_table
from tests.tracked import ROOT
from tests.unit import report_data
from tests.unit.builders import (
    SIX,
    a_run,
    column,
    configured,
    failed,
    in_runs,
    known,
    ok,
    recorded,
    scaled,
)
from tests.unit.metrics_builders import task_metrics
from tests.unit.present.test_tables import NAMES, SCENARIOS
from tests.unit.svg import elements_of, texts_of
from tests.unit.timeline_builders import a_node, a_timeline, a_trial

every_scenario = pytest.mark.parametrize(
    "scenario", ["enough", "troubled", "unequal", "beyond-controls"]
)


@pytest.fixture(scope="module")
def rich() -> Comparison:
    return compare(report_data.columns())


@pytest.fixture(scope="module")
def measured() -> dict[str, list[Measurement]]:
    return report_data.measured()


def cells_of(comparison: Comparison) -> dict[tuple[str, str], Mapping[str, Any]]:
    """Return the cells of `compare --format json` by workload and configuration."""
    whole = json.loads(comparison_json.render(comparison))
    return {
        (row["workload"], cell["configuration"]): cell
        for row in whole["workloads"]
        for cell in row["cells"]
    }


def footnotes_of(comparison: Comparison) -> list[str]:
    """Return the footnotes of `compare --format json`."""
    footnotes: list[str] = json.loads(comparison_json.render(comparison))["footnotes"]
    return footnotes


class TestTheReportAgreesWithCompare:
    @every_scenario
    def test_every_measured_time_is_a_mark(self, scenario: str) -> None:
        comparison = SCENARIOS[scenario]()
        marks = trials.marks(comparison)
        for (workload, configuration), cell in cells_of(comparison).items():
            of_cell = [
                mark.trial
                for mark in marks.get(workload, ())
                if mark.configuration == configuration and mark.trial.counts
            ]
            times_s = [trial.wall_s for trial in of_cell if trial.wall_s is not None]
            by_run = cell["times_s_by_run"]
            assert sorted(times_s) == sorted(time_s for of_run in by_run for time_s in of_run)
            assert len(of_cell) - len(times_s) == cell["trials_failed"]


class TestChangeFigure:
    def test_it_shows_every_workload_and_change(self, rich: Comparison) -> None:
        figure = known(change.figure.draw(Evidence(rich)))
        texts = texts_of(figure.pictures[0].svg)
        for outcome in outcomes(rich):
            assert outcome.workload in texts
            assert outcome.text in texts

    def test_a_workload_of_a_single_run_is_a_cross_without_an_interval(self) -> None:
        before = in_runs(column("1g", {"enough": SIX, "few": SIX[:1]}))
        after = in_runs(column("2.5g", {"enough": scaled(0.5), "few": scaled(0.5, SIX[:1])}))
        figure = known(change.figure.draw(Evidence(compare([before, after]))))
        rows = {row[0]: row for row in figure.numbers.rows}
        assert rows["few"] == ("few", "2.5g", "-50.0% ?", "-", "-", "")
        enough, cross = shapes_of(figure.pictures[0].svg)
        assert enough != cross
        assert "Crosses, marked ?, are single runs, which prove nothing." in figure.remarks

    def test_an_immense_interval_does_not_flatten_the_rest(self) -> None:
        wild = [1.0, 1.0, 1.0, 90.0, 95.0, 99.0]
        before = in_runs(column("1g", {"calm": SIX, "wild": SIX}))
        after = in_runs(column("2.5g", {"calm": scaled(0.5), "wild": wild}))
        figure = known(change.figure.draw(Evidence(compare([before, after]))))
        assert "900%" not in "".join(texts_of(figure.pictures[0].svg))


def marks_of(svg: str) -> list[ET.Element]:
    """Return dots, filled and hollow, and crosses."""
    groups = [
        group
        for group in elements_of(svg)
        if group.get("class", "").startswith("mark-symbol role-mark")
    ]
    return [mark for group in groups for mark in group]


def shapes_of(svg: str) -> list[str]:
    return [mark.get("d", "") for mark in marks_of(svg)]


class TestTrialsFigure:
    def test_trials_of_profile_rounds_are_left_out(self) -> None:
        tried = [ok("w", 1.0), ok("w", 7.0, phase=Phase.PROFILE)]
        comparison = compare([configured(name, tried) for name in ("a", "b")])
        assert [mark.text for mark in trials.marks(comparison)["w"]] == ["1.00 s", "1.00 s"]

    def test_failed_and_warm_up_trials_are_marked(self) -> None:
        tried = [ok("w", 9.0, phase=Phase.WARM_UP), ok("w", 1.0), failed("w"), ok("w", 2.0)]
        columns = [configured(name, tried) for name in ("a", "b")]
        figure = known(trials.figure.draw(Evidence(compare(columns))))
        assert figure.numbers.rows[0][3] == "(9.00 s), 1.00 s, failed, 2.00 s"
        assert texts_of(figure.pictures[0].svg).count(chart.FAILED) == 2
        assert len(marks_of(figure.pictures[0].svg)) == 6

    def test_a_disturbed_trial_is_hollow_does_not_stretch_the_axis_and_is_not_counted(self) -> None:
        disturbed = replace(ok("w", 100.0), disturbed="n2: processors slower than usual (by 31 %)")
        tried = [ok("w", 1.0), disturbed, ok("w", 2.0), failed("w")]
        comparison = compare([configured(name, tried) for name in ("a", "b")])
        figure = known(trials.figure.draw(Evidence(comparison)))
        assert figure.numbers.rows[0][3] == "1.00 s, (100.0 s), 2.00 s, failed"
        assert trials.domain(trials.marks(comparison)["w"])[1] < 3
        hollow = [
            mark for mark in marks_of(figure.pictures[0].svg) if mark.get("fill") == chart.PAPER
        ]
        assert len(hollow) == 2
        words = " ".join(Page(page.render(Evidence(comparison))).text.split())
        assert "8 measured trials, 6 count, in 2 runs" in words


class TestTimeSpentFigure:
    def test_the_parts_are_the_medians_of_the_trials_parts(self, rich: Comparison) -> None:
        columns = {column.name: column for column in rich.columns}
        for workload, found in time_spent.parts_by_workload(rich).items():
            for name, parts_s in found.items():
                of_trials = [
                    wall_parts(trial)
                    for recorded_run in columns[name].runs
                    for trial in recorded_run.trials
                    if trial.workload == workload and trial.phase is Phase.MEASURED
                ]
                assert parts_s == {
                    part: median(parts[part] for parts in of_trials if parts) for part in parts_s
                }

    def test_changes_of_workloads_other_than_controls_are_explained(self, rich: Comparison) -> None:
        figure = known(time_spent.figure.draw(Evidence(rich)))
        assert [line.split(": ")[:2] for line in figure.lines] == [
            [configuration, workload]
            for configuration in ("2.5g-rs", "2.5g-2x")
            for workload in report_data.BEFORE_S
            if workload not in report_data.CONTROLS
        ]


class TestLinkFigure:
    def test_it_has_the_numbers_that_explain_prints(
        self, rich: Comparison, measured: dict[str, list[Measurement]]
    ) -> None:
        before, after, _ = rich.columns
        uses = [link_uses(trial_links(c, measured[c.name])) for c in (before, after)]
        printed = " ".join(text.render(link_table([before.name, after.name], uses)).split())
        for link in link_use.used_links(rich, measured):
            assert link.use.busiest == "node2"
            assert link.use.full_share == 0.25
            assert link.use.stage == "2: reads shuffle"
            if link.configuration in {before.name, after.name}:
                full_s = known(link.use.full_s)
                assert time_text(full_s) in printed

    def test_it_names_where_the_limit_is_known_from(
        self, rich: Comparison, measured: dict[str, list[Measurement]]
    ) -> None:
        figure = known(link_use.figure.draw(Evidence(rich, measured)))
        assert "Links carry in 1g-rs: 940.0 Mbit/s (measured by probes)." in figure.remarks
        without_probes = known(link_use.figure.draw(Evidence(rich)))
        in_theory = "Links carry in 1g-rs: 941.5 Mbit/s (in theory, at 1gbit as declared)."
        assert in_theory in without_probes.remarks


class TestDiskFigure:
    def test_it_says_what_disks_moved_where_input_came_from_and_how_long_one_was_full(self) -> None:
        timeline = a_timeline(a_node("n1", disk_busy=[100, 0], busiest_disk="sdb"), slices=2)
        half_cold: dict[str, Any] = {
            "disk": DiskBytes(30_000_000, 5_000_000),
            "input_read_by": InputReader.STORAGE,
        }
        tasks = task_metrics(input_bytes_by_locality={"ANY": 60_000_000})
        trial = a_trial("sort", timeline, tasks=tasks, **half_cold)
        older = ok("sort", 2.0)
        comparison = compare([configured("hdd", [trial]), configured("old", [older])])
        figure = known(disk_use.figure.draw(Evidence(comparison)))
        assert figure.numbers.rows == (
            (
                *("sort", "hdd", "30 MB", "5.0 MB", "mixed (50 % from disks)"),
                *("n1: sdb", "1.00 s", "50%", "between stages"),
            ),
        )

    def test_it_says_what_disks_moved_where_a_control_group_limits_them(self) -> None:
        timeline = a_timeline(a_node("n1", disk_busy=[100, 0]), slices=2)
        trial = a_trial("sort", timeline, disk=DiskBytes(0, 5_000_000))
        columns = [configured(n, [trial], facts={"disk_limited": n}) for n in ("a", "b")]
        figure = known(disk_use.figure.draw(Evidence(compare(columns))))
        assert [row[2:] for row in figure.numbers.rows] == [("0", "5.0 MB", *["-"] * 5)] * 2

    def test_there_is_none_without_disks(self, rich: Comparison) -> None:
        assert disk_use.figure.draw(Evidence(rich)) is None


class TestMeshFigure:
    def test_each_configuration_has_its_typical_and_its_slowest_throughput(self) -> None:
        some = [
            *(MESH_GOODPUT.of(pair, rate) for pair, rate in ((("a", "b"), 1e9), (("b", "a"), 9e8))),
            MESH_GOODPUT.failed(("c", "a"), "no route"),
        ]
        figure = mesh.figure.draw(Evidence(SCENARIOS["enough"](), {"1g": some, "unprobed": []}))
        assert known(figure).numbers.rows == (
            ("1g", "3", "1.00 Gbit/s", "900.0 Mbit/s", "b -> a", "1"),
        )


def answer_of(before: ConfigurationRuns, after: ConfigurationRuns) -> Answer:
    [answer] = answers(compare([before, after]))
    return answer


def topics(answer: Answer) -> dict[str, tuple[str, ...]]:
    return {remark.topic: remark.items for remark in answer.remarks}


class TestAnswer:
    def test_less_and_more_time(self) -> None:
        before = in_runs(column("1g", {"a": SIX, "b": SIX, "c": SIX, "d": SIX}))
        factors = {"a": 0.5, "b": 0.8, "c": 1.3, "d": 1.0}
        after = in_runs(column("2.5g", {name: scaled(factors[name]) for name in factors}))
        answer = answer_of(before, after)
        assert (
            answer.headline
            == "2 of 4 workloads take less time (-20.0% to -50.0%); 1 takes more time (+30.0%)."
        )
        assert [item.split()[0] for item in topics(answer)["Less time"]] == ["a", "b"]
        assert [item.split()[0] for item in topics(answer)["More time"]] == ["c"]
        assert [item.split()[:3] for item in topics(answer)["Within noise"]] == [["d", "0.0%", "~"]]

    def test_what_was_not_tested_is_not_said_to_be_unchanged(self) -> None:
        before, after = (in_runs(column(name, {"a": SIX, "b": SIX[:1]})) for name in ("1g", "2.5g"))
        headline = "No workload that was tested changed by more than chance can explain."
        assert answer_of(before, after).headline == headline

    def test_single_runs_claim_nothing_however_many_trials_they_have(self) -> None:
        answer = answer_of(column("1g", {"w": SIX}), column("2.5g", {"w": scaled(0.1)}))
        assert answer.headline == "Unknown: a claim needs 2 runs or more on either side."
        assert topics(answer)["Too few runs"] == ("w -90.0% ?",)
        assert not topics(answer).keys() & {"Less time", "More time", "Within noise"}

    def test_a_failed_workload_is_listed_as_not_compared(self) -> None:
        before = column("1g", {"w": SIX})
        after = configured("2.5g", [failed("w")])
        answer = answer_of(before, after)
        assert answer.headline == "Unknown: no workload has times both before and after."
        assert topics(answer)["Not compared"] == ("w (10.2 s before, failed after)",)

    def test_controls_that_moved_are_an_alarm(self) -> None:
        [answer] = answers(SCENARIOS["drifting"]())
        [remark] = [remark for remark in answer.remarks if remark.topic == "Controls moved"]
        assert remark.tone is Tone.ALARM
        assert remark.items[0].startswith("+3.0%")

    def test_other_differences_are_reported(self) -> None:
        environments = [{"spark": version, "java": "17"} for version in ("3.5.0", "4.3.0")]
        before, after = (
            column(name, {"w": SIX}, environment=environment)
            for name, environment in zip(("1g", "2.5g"), environments, strict=True)
        )
        assert topics(answer_of(before, after))["Also different"] == (
            "Spark version: 4.3.0 here, 3.5.0 in 1g",
        )

    def test_what_a_configuration_costs_is_summarized(self, rich: Comparison) -> None:
        _, *others = (column.name for column in rich.columns)
        given = Costs(None, dict.fromkeys(others, Money(90, "USD")))
        for answer in answers(rich, cost_benefits(rich, given)):
            [item] = topics(answer)["Cost"]
            assert re.fullmatch(
                r"90 USD for the change, \d+\.\d\d USD for each second saved in every round", item
            )


class TestEnvironments:
    def test_hosts_are_named_where_their_links_differ(self) -> None:
        fast, slow = (
            {"speed_mbit_s": speed, "mtu_bytes": 1500, "driver": "r8152", "bus": "usb"}
            | {"state": "up"}
            for speed in (2500, 100)
        )
        nodes = {"node1": {"eth0": fast}, "node2": {"eth0": slow}}
        column = configured("1g", environment={"nodes": nodes})
        rows = {row.name: row.values[0] for row in fact_rows([column])}
        assert rows["rate of eth0"] == "2.5gbit (node1), 100mbit (node2)"
        assert rows["MTU of eth0"] == "1,500"
        assert rows["driver of eth0"] == "r8152 (usb)"

    def test_a_fact_is_unknown_if_one_configuration_lacks_it_and_omitted_if_all_do(self) -> None:
        before = configured("1g", environment={"spark": "4.3.0", "java": None})
        rows = {row.name: row.values for row in fact_rows([before, configured("2.5g")])}
        assert rows["Spark version"] == ("4.3.0", "unknown")
        assert "Java version" not in rows

    @pytest.mark.parametrize(
        "name", ["spark.speculation", "fs.s3a.readahead.range", "ozone.client.read.timeout"]
    )
    def test_a_property_that_one_configuration_does_not_set_is_not_set(self, name: str) -> None:
        before, after = (
            configured(
                configuration,
                environment={"spark_conf": {"spark.a": "1", **own}},
                dataset={"client": {"fs.s3a.input.stream.type": "classic", **own}},
            )
            for configuration, own in (("1g", {}), ("2.5g", {name: "2"}))
        )
        rows = {row.name: row.values for row in fact_rows([before, after])}
        assert rows[name] == ("not set", "2")


class TestCommands:
    def test_are_those_that_the_runs_recorded_each_once(self) -> None:
        commands = (
            "spark-submit jobs/benchmark.py --trials 3 '--fact=a=b & c'",
            "clusterlift program",
            None,
        )
        runs = [a_run("1g", str(n), parameters={"command": c}) for n, c in enumerate(commands * 2)]
        before = ConfigurationRuns("1g", tuple(recorded(run, [ok("w", 1.0)]) for run in runs))
        parsed = Page(page.render(Evidence(compare([before, column("2.5g", {"w": SIX})]))))
        shown = map(str.strip, parsed.text.partition("How to measure this again")[2].splitlines())
        assert [line for line in shown if line in commands] == list(commands[:2])


class TestLabelsAndSeries:
    @given(st.lists(NAMES), st.integers(3, 40))
    def test_different_names_stay_different(self, names: list[str], width: int) -> None:
        short = labels(names, width)
        assert set(short) == set(names)
        assert len(set(short.values())) == len(set(names))


class Page(HTMLParser):
    """A parsed page: elements with their attributes, and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


REFERRING_ATTRIBUTES = {
    *("src", "href", "action", "data", "poster", "srcset", "xlink:href", "background", "formaction")
}


def assert_self_contained(html: str) -> Page:
    """Check that the page has no script but its own, loads nothing, and has no event handler."""
    parsed = Page(html)
    [policy] = [a["content"] or "" for _, a in parsed.elements if a.get("http-equiv")]
    assert policy.startswith("default-src 'none'")
    [script] = re.findall("<script>(.*?)</script>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert script == (page.DIRECTORY / "search.js").read_text(encoding="utf-8")
    assert re.findall("script-src ([^;]*);", policy) == [f"'sha256-{digest}'"]
    for tag, attributes in parsed.elements:
        assert tag not in {
            "iframe",
            "object",
            "embed",
            "img",
            "base",
            "form",
            "audio",
            "video",
        }
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in REFERRING_ATTRIBUTES:
                assert (value or "").startswith("#") or value == "data:,"
            assert "url(" not in (value or "")
    return parsed


class TestPage:
    @pytest.mark.parametrize("scenario", ["troubled", "unequal"])
    def test_it_loads_nothing_and_has_every_word_of_the_table(self, scenario: str) -> None:
        comparison = SCENARIOS[scenario]()
        html = page.render(Evidence(comparison))
        parsed = assert_self_contained(html)
        for line in comparison_table(comparison).lines:
            assert visible(line.name) in parsed.text
            for cell in line.cells:
                words_of_cell = [cell.value, cell.interval, cell.marked_change, cell.p, cell.n]
                for words in words_of_cell:
                    assert words in parsed.text
        notes = re.findall(r'<li id="note-\d+">(.*?)</li>', html)
        assert list(map(unescape, notes)) == list(map(visible, footnotes_of(comparison)))

    def test_hostile_names_are_escaped(self) -> None:
        name = "<script>alert(1)</script>"
        evil = '"><img src=x onerror=alert(1)>'
        facts = {"emulated": evil, name: evil}
        before, after = (
            configured(
                configuration,
                [*(ok(evil, time) for time in scaled(factor)), failed(name, evil)],
                Ending.INTERRUPTED,
                warnings=(evil,),
                facts=facts,
                environment={"spark": evil, "kernel": configuration},
                dataset={"placement": {evil: 10, name: 20}, "layout": {"observed": evil}},
            )
            for configuration, factor in ((name, 1), (evil, 0.5))
        )
        comparison = compare([before, after])
        given = Costs(None, {evil: Money(1, "USD")})
        probed = {
            name: [MESH_GOODPUT.of((evil, name), 1e9), MESH_GOODPUT.failed((name, "a"), evil)]
        }
        html = page.render(
            Evidence(comparison, probed),
            cost_benefits(comparison, given),
            presenting_commands=[evil],
        )
        parsed = assert_self_contained(html)
        assert parsed.text.count(name) > 5
        assert parsed.text.count(evil) > 5

    def test_a_full_report_has_every_section(
        self, rich: Comparison, measured: dict[str, list[Measurement]]
    ) -> None:
        given = Costs(None, {rich.columns[1].name: Money(350, "USD")})
        html = page.render(
            Evidence(rich, measured),
            cost_benefits(rich, given),
            presenting_commands=["clusterlift compare"],
        )
        parsed = assert_self_contained(html)
        ids = [a["id"] or "" for _, a in parsed.elements if a.get("id")]
        anchors = [name for name in ids if not name.startswith("note-")]
        anchors = [name for name in anchors if name not in {"search", "found"}]
        evidence = Evidence(rich, measured)
        first, *others = [s.anchor for s in sections() if s.draw(evidence)]
        assert anchors == [*("answer", first, "table", "cost", *others, "environment", "reproduce")]
        assert len(html.encode()) < 3_000_000

    def test_every_figure_is_in_the_table_of_the_documentation_in_its_order(self) -> None:
        table = (ROOT / "docs" / "report.md").read_text().partition("## Read the report")[2]
        documented = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
        titles = [section.title for section in sections()]
        assert [title for title in documented if title in titles] == titles

    def test_every_figure_has_numbers_and_every_picture_a_text(
        self, rich: Comparison, measured: dict[str, list[Measurement]]
    ) -> None:
        for figure in figures_of(rich, measured):
            assert not figure.pictures or len(figure.alternative) > 40
            assert figure.numbers.rows
            assert all(len(row) == len(figure.numbers.headings) for row in figure.numbers.rows)

    def test_emulation_is_announced_above_the_answer(self) -> None:
        columns = [
            column(name, {"w": SIX}, facts={"emulated": "4 nodes on one host"})
            for name in ("a", "b")
        ]
        html = page.render(Evidence(compare(columns)))
        assert html.index("4 nodes on one host") < html.index('id="answer"')

    def test_changes_relative_to_controls_are_announced(self) -> None:
        html = page.render(Evidence(SCENARIOS["beyond-controls"]()))
        assert "Changes are relative to the changes of the controls." in Page(html).text

    @pytest.mark.slow
    def test_the_same_runs_make_the_same_page_in_every_process(self, tmp_path: Path) -> None:
        """The order of sets depends on the seed of the process, so one process cannot show a difference."""
        command = (
            "report",
            "1g-rs",
            "2.5g-2x",
            "--results",
            "results/ethernet-upgrade",
            "--output",
        )
        file, pages = tmp_path / "page.html", []
        for seed in ("1", "2"):
            environment = os.environ | {"PYTHONHASHSEED": seed}
            program = [sys.executable, "-m", "harness", *command, str(file)]
            subprocess.run(program, cwd=ROOT, env=environment, capture_output=True, check=True)
            pages.append(file.read_bytes())
        assert b'id="mesh"' in pages[0]
        assert pages[0] == pages[1]


def figures_of(comparison: Comparison, measured: dict[str, list[Measurement]]) -> list[Figure]:
    evidence = Evidence(comparison, measured)
    return [figure for section in sections() if (figure := section.draw(evidence))]
