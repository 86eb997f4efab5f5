"""Probe measurements are compared like workloads, in a table for each metric."""

from __future__ import annotations

from harness.analysis.probe_comparison import compare_probes
from harness.model.probe import HIGHER, LOWER, Measurement, Metric
from harness.present import markdown, text
from harness.present.probe_comparison import probe_table
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


def test_each_metric_has_a_table_with_a_row_for_each_subject_and_case() -> None:
    goodput, latency = compare_probes({"1g": measured(), "2.5g": measured(2.5)})
    assert (goodput.metric, latency.metric) == ("goodput_bit_s", "p99_us")
    assert [name for name, _ in goodput.rows] == ["a -> b", "a -> b, both ways"]
    changes = [cells[1].change for _, cells in goodput.rows]
    assert [change.verdict for change in changes if change] == [
        Verdict.CHANGED,
        Verdict.NOISE,
    ]
    assert [change.verdict for change in latency.changes] == [Verdict.NOISE]


def test_failed_and_missing_measurements_are_marked() -> None:
    after = [GOODPUT.failed("a -> b", "node b: iperf3 is not there")]
    [table, latency] = compare_probes({"1g": measured(), "2.5g": after})
    printed = text.render_table(probe_table(table))
    assert "failed¹" in printed
    assert "¹ 1 failed, first with: node b: iperf3 is not there" in printed
    assert "missing" in text.render_table(probe_table(latency))


def test_the_printed_tables() -> None:
    after = [*measured(2.5), GOODPUT.failed("a -> c", "no route to c")]
    tables = compare_probes({"1g": measured(), "2.5g": after})
    for name, render in (("text", text.render_table), ("markdown", markdown.render_table)):
        whole = "\n".join(render(probe_table(table)) for table in tables)
        assert_golden(f"probes-{name}.txt", whole)
