"""Probe measurements are compared like workloads, in a table for each metric."""

import random
from collections.abc import Mapping, Sequence

import pytest

from harness.analysis.compare.probe_comparison import MetricComparison, compare_probes
from harness.commands.compare import FORMATS
from harness.model.probe import HIGHER, LOWER, Measurement, Metric
from harness.present import text
from harness.present.probe_table import probe_table
from harness.statistics.change import Verdict
from tests.unit.builders import assert_golden
from tests.unit.probe_builders import probed

GOODPUT = Metric("mesh", "goodput_bit_s", "bit/s", HIGHER)
LATENCY = Metric("latency", "p99_us", "µs", LOWER)
BEFORE = [941.0e6, 940.2e6, 941.3e6, 940.9e6, 939.8e6, 941.1e6]
RUNS = 2


def measured(factor: float = 1.0) -> list[list[Measurement]]:
    """Return the measurements of two probe runs; only the goodput in one direction has the factor."""
    return [
        [
            *(GOODPUT.of(("a", "b"), value * factor) for value in BEFORE[run::RUNS]),
            *(GOODPUT.of(("a", "b"), value * 0.9, "both ways") for value in BEFORE[run::RUNS]),
            *(LATENCY.of(("a", "b"), value / 1e7) for value in BEFORE[run::RUNS]),
        ]
        for run in range(RUNS)
    ]


def compared(
    columns: Mapping[str, Sequence[Sequence[Measurement]]],
) -> tuple[MetricComparison, ...]:
    """Compare probe runs that measured this."""
    return compare_probes(
        {name: [probed(measurements=own) for own in runs] for name, runs in columns.items()}
    )


def test_each_metric_has_a_table_with_a_row_for_each_subject_and_case() -> None:
    goodput, latency = compared({"1g": measured(), "2.5g": measured(2.5)})
    assert (goodput.metric, latency.metric) == ("goodput_bit_s", "p99_us")
    assert [name for name, _ in goodput.rows] == ["a -> b", "a -> b, both ways"]
    changes = [cells[1].change for _, cells in goodput.rows]
    assert [change.verdict for change in changes if change] == [Verdict.CHANGED, Verdict.NOISE]
    assert [change.verdict for change in latency.changes] == [Verdict.NOISE]


def test_failed_and_missing_measurements_are_marked() -> None:
    after = [[GOODPUT.failed(("a", "b"), "node b: iperf3 is not there")]]
    [table, latency] = compared({"1g": measured(), "2.5g": after})
    printed = text.render([probe_table(table)])
    assert "failed¹" in printed
    assert "¹ 1 failed, the first with: node b: iperf3 is not there" in printed
    assert "missing" in text.render([probe_table(latency)])


def test_many_values_of_a_single_probe_run_claim_nothing() -> None:
    before, after = ([[m for run in runs for m in run]] for runs in (measured(), measured(2.5)))
    for table in compared({"1g": before, "2.5g": after}):
        assert {change.verdict for change in table.changes} == {Verdict.TOO_FEW}


def test_a_value_of_0_has_no_ratio_and_is_shown_as_a_median() -> None:
    retransmits = Metric("mesh", "retransmits", "segments", LOWER)
    runs = [
        [retransmits.of(("a", "b"), value) for value in values] for values in ((0, 0, 3), (2, 4))
    ]
    [table] = compared({"1g": runs, "2.5g": runs})
    [(_, cells)] = table.rows
    assert [cell.value for cell in cells] == [2, 2]
    assert table.changes == ()


def test_a_value_of_0_in_one_subject_leaves_the_others_as_they_are() -> None:
    broken = [[*run, GOODPUT.of(("a", "c"), 0.0)] for run in measured(2.5)]
    with_0, _ = compared({"1g": measured(), "2.5g": broken})
    without, _ = compared({"1g": measured(), "2.5g": measured(2.5)})
    assert with_0.changes == without.changes


def mesh_of(hosts: int, factor: float = 1.0) -> list[Measurement]:
    """Return the goodput of all pairs of hosts; the last host sends more slowly by the factor."""
    names = [f"n{number}" for number in range(1, hosts + 1)]
    return [
        GOODPUT.of((sender, receiver), 900e6 * (factor if sender == names[-1] else 1))
        for sender in names
        for receiver in names
        if sender != receiver
    ]


def test_pairs_of_many_hosts_are_compared_by_host_in_natural_order() -> None:
    before, after = [mesh_of(11), mesh_of(11)], [mesh_of(11, 0.5), mesh_of(11, 0.5)]
    [table] = compared({"1g": before, "2.5g": after})
    assert [name for name, _ in table.rows[:3]] == ["n1, sends", "n1, receives", "n2, sends"]
    values = {name: cells[1].value for name, cells in table.rows}
    assert len(values) == 22
    assert values["n11, sends"] == pytest.approx(450e6)
    assert values["n11, receives"] == pytest.approx(900e6)
    assert values["n1, receives"] == pytest.approx(900e6)


def test_two_samples_of_different_pairs_have_rows_in_common() -> None:
    pairs = mesh_of(11)
    random.Random(1).shuffle(pairs)  # noqa: S311  chance that can be repeated
    [table] = compared({"1g": [pairs[::2]], "2.5g": [pairs[1::2]]})
    assert all(cell.value for _, cells in table.rows for cell in cells)


def test_one_configuration_of_many_hosts_decides_for_all() -> None:
    [table] = compared({"few": [mesh_of(3)], "many": [mesh_of(11)]})
    few = {name for name, cells in table.rows if cells[0].value is not None}
    assert few == {f"n{number}, {role}" for number in (1, 2, 3) for role in ("sends", "receives")}


def test_failures_of_pairs_are_those_of_their_hosts() -> None:
    runs = [[*mesh_of(11), GOODPUT.failed(("n1", "n12"), "node n12: it does not answer")]]
    [table] = compared({"1g": runs, "2.5g": runs})
    failures = {name for name, cells in table.rows if cells[0].sample and cells[0].sample.errors}
    assert failures == {"n1, sends", "n12, receives"}


def test_the_printed_tables() -> None:
    first, second = measured(2.5)
    after = [first, [*second, GOODPUT.failed(("a", "c"), "no route to c")]]
    tables = compared({"1g": measured(), "2.5g": after})
    for name, form in FORMATS.items():
        assert_golden(f"probes-{name}.txt", form(list(map(probe_table, tables))))


class TestLoads:
    """A probe with four streams does not measure what one with one stream does."""

    ONE = probed(measurements=[GOODPUT.of(("a", "b"), 0.94e9)], parameters={"streams": "1"})
    FOUR = probed(measurements=[GOODPUT.of(("a", "b"), 1.88e9)], parameters={"streams": "4"})

    def test_of_two_configurations_that_differ_are_a_warning(self) -> None:
        [table] = compare_probes({"1g": [self.ONE], "bond": [self.FOUR]})
        warning = "Not measured alike: streams 1 in 1g, streams 4 in bond."
        assert warning in text.render([probe_table(table)])

    def test_of_one_configuration_that_differ_are_not_pooled(self) -> None:
        [table] = compare_probes({"1g": [self.FOUR], "bond": [self.ONE, self.FOUR]})
        [(_, cells)] = table.rows
        assert [cell.value for cell in cells] == pytest.approx([1.88e9, 1.88e9])
        assert table.warnings == (
            "Earlier probes of bond are left out: they did not measure as its newest one did.",
        )

    @pytest.mark.parametrize("parameters", [{"streams": "1"}, {}, {"seconds": "3"}])
    def test_that_are_equal_or_the_usual_ones_are_no_warning(
        self, parameters: Mapping[str, str]
    ) -> None:
        other = probed(measurements=self.ONE.measurements, parameters=parameters)
        [table] = compare_probes({"1g": [self.ONE], "2.5g": [other]})
        assert table.warnings == ()
