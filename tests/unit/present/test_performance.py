"""Workloads that count their work: tables show performance, and more of it is better."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.compare.comparison import Comparison, compare
from harness.analysis.cost.benefit import cost_benefits, performances_for_cost
from harness.analysis.cost.costs import Costs, Money
from harness.analysis.observed.configuration import ConfigurationRuns
from harness.base.errors import BadInput
from harness.base.words import quantity_text
from harness.model.run import RecordedRun
from harness.model.work import Work
from harness.present import comparison_json, quantities
from harness.present.costs import performance_table
from harness.present.report import page
from harness.present.report.answer import Tone, answers
from harness.present.report.figure import Evidence
from harness.statistics.change import Change, Verdict
from harness.statistics.interval import Interval
from tests.unit.builders import a_run, configured, ok, recorded
from tests.unit.printed import printed_table

CONTROL_HPL = {"controls": ["hpl"]}
STEADY = (1.0, 1.004, 0.996, 1.002)


def column(
    name: str, gflops: float, spark_s: float = 10.0, *, unit: str = "flop", **peaks: float
) -> ConfigurationRuns:
    """Return four runs of HPL, and of a workload of Spark beside it."""

    def run(number: int, factor: float) -> RecordedRun:
        work = Work(7e9, unit, peaks)
        trials = [ok("hpl", 7 / gflops * factor, work=work), ok("group-by", spark_s * factor)]
        known = {"workloads": ("hpl", "group-by"), "facts": {"nodes": name[-1]}}
        return recorded(a_run(name, f"{name}-{number}", **known), trials)

    return ConfigurationRuns(name, tuple(run(*each) for each in enumerate(STEADY)))


def upgrade(before: float = 20.0, after: float = 25.0, **fields: Any) -> Comparison:
    return compare([column("1g", before, **fields), column("2.5g", after, spark_s=8.0, **fields)])


class TestQuantities:
    @pytest.mark.parametrize(
        ("value", "shown"),
        [
            (21.24e9, "21.24 Gflop/s"),
            (999_960, "1 Mflop/s"),
            (999_940, "999.9 kflop/s"),
            (3.5, "3.5 flop/s"),
            (0.001, "0.001 flop/s"),
            (2.5e15, "2.5 Pflop/s"),
        ],
    )
    def test_a_performance_has_four_digits_and_a_prefix(self, value: float, shown: str) -> None:
        assert quantity_text(value, f"{'flop'}/s") == shown

    def test_a_latency_is_in_microseconds(self) -> None:
        assert quantities.time_text(45.31e-6) == "45.31 µs"
        assert quantities.time_text(-2e-6) == "-2 µs"
        assert quantities.time_text(0.0006) == "0.001 s"


class TestChange:
    @given(st.floats(-0.9, 10), st.floats(0, 0.09), st.floats(0, 5))
    def test_that_of_performance_is_that_of_the_reciprocal(
        self, change: float, below: float, above: float
    ) -> None:
        time = Change(change, Interval(change - below, change + above), 0.01, 0.02)
        performance = time.of_performance
        assert (1 + performance.relative_change) * (1 + change) == pytest.approx(1)
        assert performance.interval is not None
        assert performance.interval.low <= performance.relative_change * (1 + 1e-9) + 1e-9
        assert performance.interval.high >= performance.relative_change * (1 - 1e-9) - 1e-9
        assert performance.of_performance.relative_change == pytest.approx(change)
        assert performance.verdict is Verdict.CHANGED


class TestTable:
    def test_shows_performance_and_its_change_beside_times(self) -> None:
        shown = printed_table(upgrade())
        hpl, group_by = (
            next(x for x in shown.split("\n") if x.startswith(n)) for n in ("hpl", "group")
        )
        assert "19.99 Gflop/s" in hpl or "20 Gflop/s" in hpl
        assert "+25.0%" in hpl
        assert "-20.0%" in group_by
        assert "time or performance" in shown
        assert "More work a second is better." in shown.replace("\n", " ")

    def test_shows_the_efficiency_of_the_declared_peak_and_says_so(self) -> None:
        shown = printed_table(upgrade(declared=40e9, dgemm=30e9))
        assert "Gflop/s (50.0%)" in shown
        assert "as a share of the declared peak." in shown.replace("\n", " ")

    def test_else_that_of_the_peak_that_dgemm_reached(self) -> None:
        shown = printed_table(upgrade(dgemm=40e9))
        assert "Gflop/s (50.0%)" in shown
        assert "that dgemm reached" in shown.replace("\n", " ")

    def test_units_that_differ_are_not_compared(self) -> None:
        with pytest.raises(BadInput, match=r"hpl counts flop in '1g' and event in '2.5g'"):
            compare([column("1g", 20.0), column("2.5g", 25.0, unit="event")])
        times = configured("2.5g", [ok("hpl", 9.0)])
        with pytest.raises(BadInput, match=r"hpl counts flop in '1g' and no work in '2.5g'"):
            compare([column("1g", 20.0), times])

    def test_more_performance_is_a_gain(self) -> None:
        assert '<td class="number gain">+25.0%' in page.render(Evidence(upgrade()))
        [answer] = answers(upgrade())
        gains = next(remark for remark in answer.remarks if remark.tone is Tone.GAIN)
        assert any(item.startswith("hpl +25.0% flop/s") for item in gains.items)

    def test_controls_that_count_their_work_move_as_the_table_shows_them(self) -> None:
        def controls(name: str, gflops: float) -> ConfigurationRuns:
            runs = column(name, gflops).runs
            return ConfigurationRuns(
                name, tuple(replace(r, run=replace(r.run, parameters=CONTROL_HPL)) for r in runs)
            )

        comparison = compare([controls("1g", 20.0), controls("2.5g", 25.0)])
        assert "+25.0%" in printed_table(comparison).partition("hpl¹ ")[2].partition("\n")[0]
        assert "The controls (hpl) moved in 2.5g: +25.0 % (" in printed_table(comparison)
        [answer] = answers(comparison)
        [moved] = [remark for remark in answer.remarks if remark.topic == "Controls moved"]
        assert moved.items[0].startswith("+25.0% (")

    def test_machine_formats_have_it_in_full(self) -> None:
        comparison = upgrade(declared=40e9)
        hpl = json.loads(comparison_json.render(comparison))["workloads"][0]["cells"][1]
        assert hpl["performance"]["unit"] == "flop/s"
        assert hpl["performance"]["value"] == pytest.approx(25e9, rel=0.01)
        assert hpl["performance"]["efficiencies"] == {"declared": pytest.approx(0.625, rel=0.01)}
        assert hpl["performance"]["relative_change"] == pytest.approx(0.25)
        assert hpl["change"]["relative_change"] == pytest.approx(-0.2)


def costs(after: float, baseline: float | None = None) -> Costs:
    of_baseline = None if baseline is None else Money(baseline, "USD")
    return Costs(of_baseline, {"2.5g": Money(after, "USD")})


class TestCost:
    @pytest.mark.parametrize(("after", "order"), [(2200, ["2.5g", "1g"]), (4000, ["1g", "2.5g"])])
    def test_configurations_are_ranked_by_performance_for_their_cost(
        self, after: float, order: list[str]
    ) -> None:
        ranked = performances_for_cost(upgrade(), costs(after, baseline=2000))
        assert [found.configuration for found in ranked] == order
        [of_25g] = [found for found in ranked if found.configuration == "2.5g"]
        assert of_25g.per_cost == pytest.approx(25e12 / after, rel=0.01)
        assert [row[1] for row in performance_table(ranked).rows] == order

    def test_a_workload_without_work_and_what_costs_nothing_are_left_out(self) -> None:
        found = performances_for_cost(upgrade(), costs(1, baseline=1))
        assert {one.workload for one in found} == {"hpl"}
        assert not performances_for_cost(upgrade(), costs(0, baseline=0))

    def test_costs_of_the_change_alone_are_not_those_of_a_cluster(self) -> None:
        assert not performances_for_cost(upgrade(), costs(1))

    def test_performance_saves_no_seconds(self) -> None:
        [benefit] = cost_benefits(upgrade(), costs(100))
        assert benefit.saving is not None
        assert benefit.saving.workloads == ("group-by",)
        assert benefit.saving.seconds == pytest.approx(2, rel=0.02)


class TestPage:
    def test_shows_performance_for_the_cost_if_that_is_known(self) -> None:
        given = costs(2500, baseline=2000)
        html = page.render(
            Evidence(upgrade()),
            benefits=cost_benefits(upgrade(), given),
            performances=performances_for_cost(upgrade(), given),
        )
        assert "Performance for the cost" in html
        html = page.render(Evidence(upgrade()))
        assert '<th scope="col" class="number first">time or performance</th>' in html
        assert "Performance for the cost" not in html
