"""Samples, summaries and comparisons of recorded runs, and the caveats of their results."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.analysis.comparison import Cell, Comparison, compare, overview
from harness.analysis.configuration import find_configuration
from harness.analysis.sample import Outcome, Sample, summarize, take_sample
from harness.model.errors import BadInput
from harness.model.run import Ending, Phase
from harness.records.writer import Recording
from harness.statistics.change import Change, Verdict
from harness.statistics.median import Interval
from tests.unit.builders import a_run, column, configured, failed, known, ok, recorded

SIX = [10.0, 10.1, 10.2, 10.3, 10.4, 10.5]
TIMES_S = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=30)


def only_cell(comparison: Comparison, workload: str, index: int) -> Cell:
    return next(row for row in comparison.rows if row.workload == workload).cells[index]


def only_change(comparison: Comparison, workload: str) -> Change:
    """Return the change of a workload in the second column."""
    return known(only_cell(comparison, workload, 1).change)


class TestSample:
    def test_warm_up_trials_never_count(self) -> None:
        run = recorded(
            a_run(),
            [ok("pi", 29.0, phase=Phase.WARM_UP), failed("pi", phase=Phase.WARM_UP), ok("pi", 10)],
        )
        assert take_sample("pi", [run]) == Sample("pi", times_s=(10,))

    def test_trials_of_several_runs_are_pooled_in_order(self) -> None:
        runs = [recorded(a_run(), [ok("pi", 3), ok("sha", 9)]), recorded(a_run(), [ok("pi", 1)])]
        assert take_sample("pi", runs).times_s == (3, 1)

    @pytest.mark.parametrize(
        ("sample", "outcome"),
        [
            (Sample("w", (1.0,), ("boom",), ("no data",)), Outcome.MEASURED),
            (Sample("w", (), ("boom",), ("no data",)), Outcome.FAILED),
            (Sample("w", (), (), ("no data",)), Outcome.OMITTED),
            (Sample("w"), Outcome.MISSING),
        ],
    )
    def test_outcome_is_measured_before_failed_before_omitted(
        self, sample: Sample, outcome: Outcome
    ) -> None:
        assert sample.outcome is outcome


class TestSummary:
    def test_median_of_an_even_number_is_midway(self) -> None:
        assert summarize(Sample("w", (4, 1, 2, 3))).median_s == 2.5

    def test_interval_of_six_trials_is_their_whole_range(self) -> None:
        summary = summarize(Sample("w", (10, 9, 12, 10, 10, 11)))
        assert summary.interval_s == Interval(9, 12)
        assert summary.uncertainty == pytest.approx(0.2)

    def test_interval_of_ten_trials_excludes_the_lowest_and_the_highest(self) -> None:
        times_s = (1, *range(10, 18), 99)
        assert summarize(Sample("w", times_s)).interval_s == Interval(10, 17)

    def test_five_trials_have_no_interval(self) -> None:
        summary = summarize(Sample("w", (10, 9, 12, 10, 10)))
        assert (summary.n, summary.interval_s, summary.uncertainty) == (5, None, None)

    def test_a_median_of_zero_has_no_relative_uncertainty(self) -> None:
        assert summarize(Sample("w", (0, 0, 0, 0, 0, 0, 1))).uncertainty is None

    def test_a_sample_without_times_has_no_summary(self) -> None:
        with pytest.raises(ValueError, match="w has no measured times"):
            summarize(Sample("w", errors=("boom",)))

    @given(TIMES_S)
    def test_half_of_the_times_are_on_either_side_of_the_median(self, times_s: list[float]) -> None:
        median_s = summarize(Sample("w", tuple(times_s))).median_s
        assert min(times_s) <= median_s <= max(times_s)
        assert sum(time < median_s for time in times_s) * 2 <= len(times_s)
        assert sum(time > median_s for time in times_s) * 2 <= len(times_s)

    @given(TIMES_S, st.randoms())
    def test_order_does_not_matter(self, times_s: list[float], random: Random) -> None:
        shuffled = list(times_s)
        random.shuffle(shuffled)
        assert summarize(Sample("w", tuple(shuffled))) == summarize(Sample("w", tuple(times_s)))

    @given(st.lists(st.floats(min_value=0, allow_infinity=False, allow_nan=False), min_size=1))
    def test_is_finite_for_any_times(self, times_s: list[float]) -> None:
        summary = summarize(Sample("w", tuple(times_s)))
        assert math.isfinite(summary.median_s)
        assert summary.uncertainty is None or math.isfinite(summary.uncertainty)


class TestComparison:
    def test_a_change_is_that_of_the_median_relative_to_the_first_column(self) -> None:
        before, after = column("1g", {"join": [100, 90, 200]}), column("2.5g", {"join": [80]})
        row = compare([before, after]).rows[0]
        assert row.cells[0].change is None
        assert row.cells[1].change is not None
        assert row.cells[1].change.relative_change == pytest.approx(-0.2)

    def test_p_values_are_adjusted_for_the_number_of_comparisons(self) -> None:
        times_s = ([10.0, 11, 12, 13], [1.0, 2, 3, 4])
        alone = [column(name, {"x": times}) for name, times in zip("ab", times_s, strict=True)]
        among = [
            column(name, {"x": times} | {f"y{n}": [1.0, 2, 3, 4] for n in range(7)})
            for name, times in zip("ab", times_s, strict=True)
        ]
        assert only_change(compare(alone), "x").verdict is Verdict.CHANGED
        assert only_change(compare(among), "x").verdict is Verdict.TOO_FEW
        assert only_change(compare(among), "x").trials_needed == 6

    def test_a_shift_of_the_controls_is_reported_and_can_be_subtracted(self) -> None:
        slower = [time * 1.1 for time in SIX]
        controls = {"controls": ["pi", "pi-2"]}
        sides = [
            column("a", {"join": SIX, "pi": SIX, "pi-2": SIX}, parameters=controls),
            column("b", {"join": slower, "pi": slower, "pi-2": slower}, parameters=controls),
        ]
        plain = compare(sides)
        assert plain.control_shifts[0] is None
        shift = known(plain.control_shifts[1])
        assert (shift.workloads, shift.moved) == (("pi", "pi-2"), True)
        assert only_change(plain, "join").verdict is Verdict.CHANGED
        beyond = compare(sides, relative_to_controls=True)
        assert only_change(beyond, "join").verdict is Verdict.NOISE
        assert only_change(beyond, "join").relative_change == pytest.approx(0, abs=0.01)

    def test_a_control_must_be_declared_on_both_sides(self) -> None:
        sides = [
            column("a", {"pi": SIX}, parameters={"controls": ["pi"]}),
            column("b", {"pi": [time * 2 for time in SIX]}, parameters={}),
        ]
        assert compare(sides).control_shifts == (None, None)
        with pytest.raises(BadInput, match="--adjust controls: 'b' and 'a' have too few trials"):
            compare(sides, relative_to_controls=True)

    def test_rows_are_in_the_order_of_the_baseline_then_of_the_others(self) -> None:
        comparison = compare(
            [
                column("a", {"z": [1], "m": [1]}),
                column("b", {"new": [1], "m": [1]}),
                column("c", {"z": [1], "newer": [1]}),
            ]
        )
        assert [row.workload for row in comparison.rows] == ["z", "m", "new", "newer"]

    def test_the_requested_order_precedes_the_order_of_trials(self) -> None:
        requested = configured("a", [ok("x", 1), ok("y", 1)], workloads=("y", "x"))
        assert [row.workload for row in overview(requested).rows] == ["y", "x"]

    def test_a_workload_of_one_side_only_is_missing_on_the_other(self) -> None:
        comparison = compare([column("a", {"x": [1], "y": [2]}), column("b", {"x": [1], "z": [3]})])
        assert only_cell(comparison, "y", 1).sample.outcome is Outcome.MISSING
        assert only_cell(comparison, "z", 0).sample.outcome is Outcome.MISSING
        assert only_cell(comparison, "z", 1).change is None

    def test_failed_trials_are_counted_in_a_note(self) -> None:
        after = configured("b", [ok("x", 1), failed("x", "OSError: gone"), ok("x", 1)])
        cell = only_cell(compare([column("a", {"x": [1]}), after]), "x", 1)
        assert cell.summary is not None
        assert cell.summary.n == 2
        assert cell.notes == ("1 of 3 trials failed, the first with: OSError: gone",)

    def test_a_workload_whose_trials_all_failed_has_no_summary_and_no_change(self) -> None:
        after = configured("b", [failed("x"), failed("x")])
        cell = only_cell(compare([column("a", {"x": [1]}), after]), "x", 1)
        assert (cell.summary, cell.change) == (None, None)
        assert cell.sample.outcome is Outcome.FAILED
        assert cell.notes == ("2 of 2 trials failed, the first with: WrongAnswer: 3 is not 4",)

    def test_an_omission_gives_its_reason(self) -> None:
        omitting = configured("b", [ok("x", 1)], omitted={"arrow": "pyarrow is not installed"})
        cell = only_cell(compare([column("a", {"x": [1]}), omitting]), "arrow", 1)
        assert cell.sample.outcome is Outcome.OMITTED
        assert cell.notes == ("omitted: pyarrow is not installed",)

    def test_equal_names_are_numbered(self) -> None:
        pair = [column("1g", {"x": [1]}, run_id=run_id) for run_id in ("r1", "r2", "r3")]
        assert [c.name for c in compare(pair).columns] == ["1g", "1g #2", "1g #3"]

    def test_a_numbered_name_never_equals_an_existing_one(self) -> None:
        names = ["1g", "1g #2", "1g"]
        columns = [column(name, {"x": [1]}, run_id=str(i)) for i, name in enumerate(names)]
        assert [c.name for c in compare(columns).columns] == ["1g", "1g #2", "1g #3"]

    def test_a_run_cannot_be_in_two_columns(self) -> None:
        both = r"results/1g/r\.jsonl and results/2\.5g/r\.jsonl"
        with pytest.raises(BadInput, match=f"^{both} have the same run r; name only one"):
            compare([column("1g", {"x": [1]}, run_id="r"), column("2.5g", {"x": [1]}, run_id="r")])


class TestCaveats:
    @pytest.mark.parametrize(
        ("ending", "description"),
        [
            (None, "did not finish (killed, or still running)"),
            (Ending.INTERRUPTED, "was interrupted"),
            (Ending.SPARK_LOST, "lost its Spark application"),
        ],
    )
    def test_a_run_that_did_not_complete_is_named(
        self, ending: Ending | None, description: str
    ) -> None:
        [column] = overview(configured("a", [ok("x", 1)], ending, run_id="r1")).columns
        assert column.notes == (f"run r1 {description}: trials may be missing",)

    def test_a_complete_run_has_no_caveats(self) -> None:
        assert overview(column("a", {"x": [1]})).columns[0].notes == ()

    def test_damaged_files_failed_warm_ups_and_emulation_are_caveats(self) -> None:
        facts = {"emulated": "links by tbf at 100 Mbit/s"}
        warm_up = failed("x", phase=Phase.WARM_UP)
        odd = configured("a", [warm_up], warnings=("f:9: cut off",), facts=facts)
        assert overview(odd).columns[0].notes == (
            "f:9: cut off",
            "1 warm-up trial failed: x",
            "emulated: links by tbf at 100 Mbit/s",
        )

    def test_notes_of_trials_and_layout_drift_are_caveats(self) -> None:
        layout = {"requested": "replicated:2", "drift": "of 3 files, 1 are replicated:3"}
        tried = [ok("x", 1), ok("x", 9, 2, note="executors lost: worker-2")]
        assert overview(configured("a", tried, dataset={"layout": layout})).columns[0].notes == (
            "1 measured trial had an unusual event: x, round 2 (executors lost: worker-2)",
            "the data's layout differed from the manifest: of 3 files, 1 are replicated:3",
        )

    def test_links_other_than_expected_are_a_caveat(self) -> None:
        line = "node1: eth0 is 1gbit, expected 2.5gbit"
        parameters = {"expected_link_mbit_s": 2500.0, "unexpected_links": [line]}
        comparison = compare(
            [column("a", {"x": [1]}), column("b", {"x": [1]}, parameters=parameters)]
        )
        assert (
            comparison.columns[1].notes[0]
            == f"the links were not what --expect-link requires: {line}"
        )


class TestBadInput:
    @pytest.mark.parametrize("number", [0, 1])
    def test_fewer_than_two_configurations(self, number: int) -> None:
        with pytest.raises(BadInput, match="two configurations or more"):
            compare([column("1g", {"x": [1]})] * number)

    def test_no_workload_in_common(self) -> None:
        with pytest.raises(BadInput, match="no workload in common: 'a' has x, y; 'b' has z"):
            compare([column("a", {"x": [1], "y": [1]}), column("b", {"z": [1]})])

    def test_nothing_measured_at_all(self) -> None:
        killed = configured("b", ending=None, workloads=("x",))
        with pytest.raises(BadInput, match="'b' has no measured trial"):
            compare([column("a", {"x": [1]}), killed])

    def test_different_data_unless_it_is_allowed(self) -> None:
        sides = [
            column(name, {"x": [1]}, dataset={"rows": rows, "digest": f"digest-{name}"})
            for name, rows in (("a", 1000), ("b", 2000))
        ]
        with pytest.raises(
            BadInput, match=r"'a' and 'b' ran on different data: 1,000 rows of .* 2,"
        ):
            compare(sides)
        assert compare(sides, allow_different_data=True).rows

    def test_confounders_if_strict(self) -> None:
        sides = [
            column(name, {"x": [1]}, parameters={"sink": sink, "warmup": warmup})
            for name, sink, warmup in (("a", "noop", 1), ("b", "rdd-count", 2))
        ]
        assert compare(sides).columns[1].notes[0] == "sink: rdd-count here, noop in a"
        with pytest.raises(
            BadInput,
            match="--strict: 'a' and 'b' have confounders: sink: rdd-count here, noop in a; and 1 more",
        ):
            compare(sides, strict=True)

    def test_a_contradicted_name_if_strict(self) -> None:
        links = {"eth0": {"speed_mbit_s": 1000, "driver": "r8169", "state": "up"}}
        sides = [
            column(name, {"x": [1]}, environment={"links": links, "kernel": "6.1"})
            for name in ("1g", "2.5g")
        ]
        with pytest.raises(
            BadInput, match=r"the name 2\.5g says 2500 Mbit/s, but the run observed"
        ):
            compare(sides, strict=True)


class TestConfounders:
    def test_of_all_workloads_are_notes_of_the_column_and_others_of_cells(self) -> None:
        sides = [
            column(
                name,
                {"repartition": [1], "pi": [1]},
                parameters={
                    "sink": sink,
                    "repartition": partitions,
                    "data_workloads": ["repartition"],
                },
            )
            for name, sink, partitions in (("a", "noop", 16), ("b", "rdd-count", 32))
        ]
        comparison = compare(sides)
        assert comparison.columns[0].notes == ()
        assert comparison.columns[1].notes == ("sink: rdd-count here, noop in a",)
        assert [row.cells[1].confounders for row in comparison.rows] == [
            ("--repartition: 32 here, 16 in a",),
            (),
        ]


class TestRunsOfDifferentWork:
    @pytest.mark.parametrize(
        ("change", "what"),
        [
            ({"parameters": {"sink": "rdd-count"}}, "sink"),
            ({"parameters": {"sink": "noop", "pi_samples": 5}}, "pi_samples"),
            ({"dataset": {"uri": "file:/d", "layout": {}, "digest": "b"}}, "dataset digest"),
        ],
    )
    def test_are_not_pooled(self, tmp_path: Path, change: dict[str, Any], what: str) -> None:
        dataset = {"uri": "file:/d", "layout": {}, "digest": "a"}
        first = {"parameters": {"sink": "noop"}, "dataset": dataset}
        for run_id, fields in (("one", first), ("other", first | change)):
            with Recording(tmp_path, a_run("1g", run_id, **fields)) as recording:
                recording.trial(ok("pi", 1.0))
        with pytest.raises(BadInput, match=f"mixes runs that differ in {what}"):
            find_configuration("1g", tmp_path)
