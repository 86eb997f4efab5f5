"""Profiles as a table."""

import re
from typing import Any

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.explain.attribution import explain
from harness.model.profile import Seen, SeenTask, TaskSpan
from harness.model.run import Trial
from harness.present.report import page
from harness.present.report.figure import Evidence
from tests.unit.builders import configured
from tests.unit.metrics_builders import profiled, timed
from tests.unit.printed import printed_explanation

CSV = ("Task.run", "org.apache.spark.sql.catalyst.csv.UnivocityParser.parse")
STRIPES = ("Task.run", "hdfs.util.StripedBlockUtil.getNextCompletedStripedRead")
TIME: dict[str, Any] = {"cpu_s": 6.0, "unattributed_s": 4.0}
HOSTILE = ("Task.run", "com.<script>alert(1)</script>.x.y")


def trials(workload: str, seen: Seen, lasted_ms: int | None = None) -> list[Trial]:
    span = TaskSpan(1, 1, 500, 500, lasted_ms) if lasted_ms else None
    return [
        *(timed(workload, 5.0 + number / 10, **TIME) for number in range(1, 7)),
        profiled(workload, 5.0, *[SeenTask(1, seen, span)] * 2, **TIME),
    ]


def comparison() -> Comparison:
    return compare(
        [
            configured("rs", trials("join", {CSV: (40, 0), STRIPES: (2, 58)})),
            configured("2x", trials("join", {CSV: (40, 0), STRIPES: (0, 8), HOSTILE: (2, 0)})),
        ]
    )


def test_the_table_names_what_took_the_task_seconds_on_both_sides() -> None:
    text = printed_explanation(explain(comparison()))
    [stripes] = re.findall(r"^reading from HDFS: waiting for stripes .*$", text, re.MULTILINE)
    cells = re.split(
        r"  +| (?=\d+ %)", stripes.removeprefix("reading from HDFS: waiting for stripes").strip()
    )
    assert cells == ["6.00", "60 % ±44 %", "97 %", "1.60", "16 % ±47 %", "100 %", "-4.40"]
    assert "? <script>alert(1)</script>.x.y" not in text
    assert "? x.y" in text


def test_it_says_how_many_samples_there_are_and_what_stacks_do_not_show() -> None:
    text = " ".join(printed_explanation(explain(comparison())).split())
    assert "before: 200 samples, 0 % of them in unknown frames, of 10.00 task seconds" in text
    assert "after: 100 samples, 4 % of them in unknown frames" in text


def test_what_a_workload_gains_at_most_is_in_the_sentence_and_the_table_and_in_the_report() -> None:
    before, after = (
        configured(
            name, trials("join", {CSV: (4_000, 0), STRIPES: (0, 100 * waits)}, lasted_ms=4_000)
        )
        for name, waits in (("rs", 60), ("2x", 10))
    )
    compared = compare([before, after])
    text = " ".join(printed_explanation(explain(compared)).split())
    assert "an infinitely fast network gains at most 16 % (" in text
    assert "before: without any wait for the network, it takes at most 48 % (" in text
    assert "Replayed with their waits, the tasks take 100 % of the real time" in text
    html = page.render(Evidence(compared))
    assert "2x: join: " in html
    assert "an infinitely fast network gains at most 16 % (" in html
