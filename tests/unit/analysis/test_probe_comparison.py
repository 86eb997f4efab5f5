"""Probes are compared like workloads: a table for each metric, with the same words."""

from __future__ import annotations

from harness.analysis.probe_comparison import compare_probes
from harness.model.probe import HIGHER, LOWER, Measurement, Metric
from harness.present import markdown, text
from harness.present.comparison_table import probe_table
from harness.statistics.change import Verdict
from tests.unit.builders import assert_golden

GOODPUT = Metric("mesh", "goodput_bit_s", "bit/s", HIGHER)
LATENCY = Metric("latency", "p99_us", "µs", LOWER)
BEFORE = [941.0e6, 940.2e6, 941.3e6, 940.9e6, 939.8e6, 941.1e6]


def measured(factor: float = 1.0) -> list[Measurement]:
    return [
        *(GOODPUT.of("a -> b", value * factor) for value in BEFORE),
        *(GOODPUT.of("a -> b", value * 0.9, "both ways") for value in BEFORE),  # the same in both
        *(LATENCY.of("a -> b", value / 1e7) for value in BEFORE),
    ]


def test_a_table_for_each_metric_and_a_line_for_each_subject_and_case() -> None:
    goodput, latency = compare_probes({"1g": measured(), "2.5g": measured(2.5)})
    assert (goodput.metric, latency.metric) == ("goodput_bit_s", "p99_us")
    assert [name for name, _ in goodput.rows] == ["a -> b", "a -> b, both ways"]
    changes = [cells[1].change for _, cells in goodput.rows]
    assert [change.verdict for change in changes if change] == [
        Verdict.CHANGED,
        Verdict.NOISE,
    ]
    assert [change.verdict for change in latency.changes] == [Verdict.NOISE]


def test_what_failed_or_is_missing_says_so() -> None:
    after = [GOODPUT.failed("a -> b", "node b: iperf3 is not there")]
    [table, latency] = compare_probes({"1g": measured(), "2.5g": after})
    written = text.render_table(probe_table(table))
    assert "failed¹" in written
    assert "¹ 1 failed, first with: node b: iperf3 is not there" in written
    assert "missing" in text.render_table(probe_table(latency))


def test_as_people_see_it() -> None:
    after = [*measured(2.5), GOODPUT.failed("a -> c", "no route to c")]
    tables = compare_probes({"1g": measured(), "2.5g": after})
    for name, render in (("text", text.render_table), ("markdown", markdown.render_table)):
        whole = "\n".join(render(probe_table(table)) for table in tables)
        assert_golden(f"probes-{name}.txt", whole)
