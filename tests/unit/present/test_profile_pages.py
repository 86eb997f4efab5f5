"""Profiles as a table and as icicles: every second is shown once, names are escaped, pages stay small."""

import re
from collections.abc import Mapping
from xml.etree import ElementTree as ET

import pytest

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.explain import profile as analysis
from harness.analysis.explain.attribution import explain
from harness.model.profile import Profile, Seen, SeenTask, Stack, TaskSpan
from harness.model.run import Phase, Trial
from harness.present import explanation
from harness.present.report import page
from harness.present.report.figure import Evidence
from harness.present.report.figures import tasks
from harness.present.report.icicle import MAX_FRAMES, difference, icicle
from tests.unit.builders import configured, known, ok
from tests.unit.metrics_builders import task_metrics
from tests.unit.svg import elements_of

CSV = ("Task.run", "org.apache.spark.sql.catalyst.csv.UnivocityParser.parse")
STRIPES = ("Task.run", "hdfs.util.StripedBlockUtil.getNextCompletedStripedRead")
HOSTILE = ("Task.run", "com.<script>alert(1)</script>.x.y")


def trials(workload: str, seen: Seen, lasted_ms: int | None = None) -> list[Trial]:
    metrics = task_metrics(cpu_s=6.0, unattributed_s=4.0)
    span = TaskSpan(1, 1, 500, 500, lasted_ms) if lasted_ms else None
    profile = Profile.of(0.1, ["0 on n1"], {}, [SeenTask(1, seen, span)] * 2)
    return [
        *(ok(workload, 5.0 + number / 10, number, tasks=metrics) for number in range(1, 7)),
        ok(workload, 5.0, 1, phase=Phase.PROFILE, tasks=metrics, profile=profile),
    ]


def comparison() -> Comparison:
    return compare(
        [
            configured("rs", trials("join", {CSV: (40, 0), STRIPES: (2, 58)})),
            configured("2x", trials("join", {CSV: (40, 0), STRIPES: (0, 8), HOSTILE: (2, 0)})),
        ]
    )


def rects(svg: str) -> list[ET.Element]:
    return [element for element in elements_of(svg) if element.tag.endswith("}rect")]


def test_the_table_names_what_took_the_task_seconds_on_both_sides() -> None:
    text = explanation.render(explain(comparison()))
    [stripes] = re.findall(r"^reading from HDFS: waiting for stripes .*$", text, re.MULTILINE)
    cells = re.split(
        r"  +| (?=\d+ %)", stripes.removeprefix("reading from HDFS: waiting for stripes").strip()
    )
    assert cells == ["6.00", "60 % ±44 %", "97 %", "1.60", "16 % ±47 %", "100 %", "-4.40"]
    assert "? <script>alert(1)</script>.x.y" not in text
    assert "? x.y" in text


def test_samples_stand_beside_sparks_metrics_and_what_is_apart_is_marked() -> None:
    text = explanation.render(explain(comparison()))
    [line] = re.findall(r"^running or ready to run +(.*)$", text, re.MULTILINE)
    assert line.split() == ["4.20", "6.00", "-30%!", "8.40", "6.00", "+40%!"]
    assert "before: 200 samples, 0 % of them in unknown frames" in text
    assert "after: 100 samples, 4 % of them in unknown frames" in text


def test_what_a_workload_gains_at_most_is_in_the_sentence_the_table_and_the_report() -> None:
    before, after = (
        configured(
            name, trials("join", {CSV: (4_000, 0), STRIPES: (0, 100 * waits)}, lasted_ms=4_000)
        )
        for name, waits in (("rs", 60), ("2x", 10))
    )
    compared = compare([before, after])
    text = " ".join(explanation.render(explain(compared)).split())
    assert "an infinitely fast network gains at most 16 % (" in text
    assert "before: without any wait for the network, it takes at most 48 % (" in text
    assert "Replayed with their waits, the tasks take 100 % of the real time" in text
    html = page.render(Evidence(compared))
    assert "join in 2x: without any wait for the network, it takes at most 16 % (" in html


def test_a_report_replays_the_tasks_of_each_side_once(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = [
        configured(name, trials("join", {STRIPES: (0, 9)}, lasted_ms=900)) for name in ("rs", "2x")
    ]
    asked, bound = [], analysis.bound
    monkeypatch.setattr(analysis, "bound", lambda profiled: asked.append(1) or bound(profiled))
    assert page.render(Evidence(compare(columns))).count("join in 2x: without any wait") == 1
    assert len(asked) == 2


def test_icicles_are_as_wide_as_the_seconds_and_the_rows_below_fill_those_above() -> None:
    weights: Mapping[Stack, float] = {("a", "b"): 6.0, ("a", "c"): 3.0, ("d",): 1.0}
    by_row: dict[str, float] = {}
    for rect in rects(icicle(weights, lambda _: "red")):
        by_row[rect.attrib["y"]] = by_row.get(rect.attrib["y"], 0) + float(rect.attrib["width"])
    assert list(by_row.values()) == [1000, 1000, 900]


def test_frames_that_only_call_another_share_a_row_and_rare_ones_are_put_together() -> None:
    weights = {("a", "b", "c", f"rare {number}"): 0.001 for number in range(9)}
    svg = icicle({**weights, ("a", "b", "c", "d"): 9.0}, lambda _: "red")
    titles = [element.text for element in elements_of(svg) if element.tag.endswith("}title")]
    assert titles == [
        "9.01 s: all tasks",
        "9.01 s: a, b, c",
        "9.00 s: d",
        "0.009 s: less than 0.5% each",
    ]


def test_a_difference_is_warm_where_more_is_spent_and_says_how_much() -> None:
    svg = difference({("a",): 5.0, ("b",): 5.0}, {("a",): 9.0, ("b",): 2.0})
    assert "+4.00 s (5.00 s before, 9.00 s after): a" in svg
    assert [rect.attrib["fill"] for rect in rects(svg)][1:] == ["var(--warm-3)", "var(--cool-3)"]


def test_a_picture_has_a_bounded_number_of_frames() -> None:
    weights = {
        (f"a{one}", *(f"f{one} {depth} {two % (depth + 1)}" for depth in range(60))): 1.0
        for one in range(40)
        for two in range(5)
    }
    assert len(rects(icicle(weights, lambda _: "red"))) <= 3 * MAX_FRAMES


def test_a_report_of_many_profiles_whose_frames_are_all_rare_stays_small() -> None:
    def many(frame: str) -> Seen:
        deep = [tuple(f"org.example.Deep{n}.f{depth}" for depth in range(40)) for n in range(400)]
        return {
            (f"org.example.{frame * 9}.a{number % 9}", *below): (number, 1)
            for number, below in enumerate(deep)
        }

    columns = [
        configured(
            name, [trial for workload in ("join", "sort") for trial in trials(workload, many(name))]
        )
        for name in ("rs", "2x")
    ]
    html = page.render(Evidence(compare(columns)))
    assert html.count('class="icicle"') == 6
    assert len(html) < 1_500_000


def test_the_figure_has_an_icicle_of_each_side_and_of_the_difference() -> None:
    figure = known(tasks.figure.draw(Evidence(comparison())))
    assert [picture.heading for picture in figure.pictures] == [
        "join in rs",
        "join in 2x",
        "join: the difference from rs to 2x",
    ]
    assert all(rects(picture.wide) for picture in figure.pictures)


def test_the_page_has_the_figure_and_nothing_from_a_name() -> None:
    html = page.render(Evidence(comparison()))
    assert 'id="profile"' in html
    assert "alert(1)</script>" not in html
    assert "svg.icicle" in html
