"""Samples, summaries and comparisons of recorded runs, and the caveats of their results."""

import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from harness.analysis.compare.comparison import Cell, Comparison, compare, overview
from harness.analysis.observed.configuration import find_configuration
from harness.analysis.observed.sample import Outcome, Sample, Summary, take_sample
from harness.base.errors import BadInput
from harness.model.run import MAX_WALL_S, MIN_WALL_S, Ending, Phase
from harness.records.writer import record_all
from harness.statistics.change import Change, Verdict
from tests.unit.builders import (
    SIX,
    a_run,
    column,
    configured,
    failed,
    in_runs,
    known,
    of_runs,
    ok,
    recorded,
    scaled,
)

TIMES_S = st.lists(st.floats(MIN_WALL_S, MAX_WALL_S), min_size=1, max_size=30)
RUNS_S = st.lists(TIMES_S, min_size=1, max_size=5)


def summary_of(runs_s: Sequence[Sequence[float]]) -> Summary:
    """Return the summary of a workload that is alone in its table."""
    alone = overview(of_runs("1g", [{"w": times_s} for times_s in runs_s]))
    return known(only_cell(alone, "w", 0).summary)


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
        assert take_sample("pi", [run]) == Sample("pi", ((10,),), properties=(None,))

    def test_trials_are_in_order_and_stay_with_their_run(self) -> None:
        runs = [
            recorded(a_run(), [ok("pi", 3), ok("sha", 9), ok("pi", 2)]),
            recorded(a_run(), [ok("sha", 9), failed("pi")]),
            recorded(a_run(), [ok("pi", 1)]),
        ]
        sample = take_sample("pi", runs)
        assert sample.runs_s == ((3, 2), (1,))
        assert sample.times_s == (3, 2, 1)

    @pytest.mark.parametrize(
        ("sample", "outcome"),
        [
            (Sample("w", ((1.0,),), ("boom",), ("no data",)), Outcome.MEASURED),
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
    def test_the_time_of_a_run_is_the_median_of_its_trials(self) -> None:
        assert summary_of([[10, 12, 11, 90, 1]]).time_s == pytest.approx(11)

    def test_the_time_is_the_geometric_mean_of_the_runs(self) -> None:
        summary = summary_of([[4, 4, 99], [9, 1, 9]])
        assert summary.time_s == pytest.approx(6)
        assert (summary.runs, summary.trials) == (2, 6)

    def test_the_interval_is_that_of_the_runs_however_many_trials_they_have(self) -> None:
        few, many = (summary_of([[time_s] * n for time_s in (10, 10.5, 11)]) for n in (2, 9))
        logs = np.log([10, 10.5, 11])
        margin = t.ppf(0.975, 2) * np.std(logs, ddof=1) / math.sqrt(3)
        expected = np.exp([logs.mean() - margin, logs.mean() + margin])
        assert few.interval_s == pytest.approx(expected)
        assert few.interval_s == many.interval_s
        assert few.uncertainty == pytest.approx(expected[1] / few.time_s - 1)

    def test_a_single_run_has_no_interval(self) -> None:
        summary = summary_of([[10, 9, 12, 10, 10, 11, 10]])
        assert (summary.runs, summary.interval_s, summary.uncertainty) == (1, None, None)

    @given(RUNS_S)
    def test_the_time_is_among_those_of_the_trials(self, runs_s: list[list[float]]) -> None:
        time_s = summary_of(runs_s).time_s
        every = [time_s for times_s in runs_s for time_s in times_s]
        assert min(every) * (1 - 1e-9) <= time_s <= max(every) * (1 + 1e-9)

    @given(RUNS_S, st.randoms())
    def test_order_does_not_matter(self, runs_s: list[list[float]], random: Random) -> None:
        shuffled = [random.sample(times_s, len(times_s)) for times_s in runs_s]
        random.shuffle(shuffled)
        one_way, other_way = summary_of(runs_s), summary_of(shuffled)
        assert other_way.time_s == pytest.approx(one_way.time_s)
        if one_way.interval_s:
            assert other_way.interval_s == pytest.approx(one_way.interval_s, rel=1e-6)

    @given(st.lists(TIMES_S, min_size=2, max_size=4))
    def test_is_finite_for_any_times(self, runs_s: list[list[float]]) -> None:
        summary = summary_of(runs_s)
        assert all(map(math.isfinite, (summary.time_s, *known(summary.interval_s))))
        assert summary.uncertainty is None or math.isfinite(summary.uncertainty)


class TestComparison:
    def test_a_change_is_that_of_the_time_relative_to_the_first_column(self) -> None:
        before, after = column("1g", {"join": [100, 90, 200]}), column("2.5g", {"join": [80]})
        row = compare([before, after]).rows[0]
        assert row.cells[0].change is None
        assert known(row.cells[1].change).relative_change == pytest.approx(-0.2)

    def test_the_limit_of_single_runs_is_that_of_runs_that_are_known(self) -> None:
        repeated = in_runs(column("a", {"x": SIX, "y": SIX}), 3)
        limits = [
            known(compare([baseline, column("b", {"x": SIX, "y": SIX})]).limit_of_single_runs)
            for baseline in (column("a", {"x": SIX, "y": SIX}), repeated)
        ]
        assert limits[0] == pytest.approx(math.exp(1.96 * 0.05 * math.sqrt(2)) - 1, rel=0.001)
        assert 0 < limits[1] < limits[0] / 2

    def test_there_is_no_limit_of_single_runs_if_every_change_was_tested(self) -> None:
        sides = [in_runs(column(name, {"x": SIX})) for name in "ab"]
        assert compare(sides).limit_of_single_runs is None

    def test_a_run_without_times_is_no_evidence_on_how_runs_differ(self) -> None:
        """Runs were killed at once on both sides: they do not make the others more alike."""
        times_s = [{"x": [10.0], "y": [5.0]}, {"x": [10.3], "y": [5.1]}]
        killed: list[dict[str, list[float]]] = [{}, {}]
        plain, with_killed = (
            compare([of_runs("a", runs), of_runs("b", runs)])
            for runs in (times_s, times_s + killed)
        )
        for workload in ("x", "y"):
            assert only_change(plain, workload) == only_change(with_killed, workload)

    def test_a_shift_of_the_controls_is_reported_and_can_be_subtracted(self) -> None:
        slower = scaled(1.1)
        controls = {"controls": ["pi", "pi-2"]}
        sides = [
            in_runs(column("a", {"join": SIX, "pi": SIX, "pi-2": SIX}, parameters=controls), 3),
            in_runs(
                column("b", {"join": slower, "pi": slower, "pi-2": slower}, parameters=controls), 3
            ),
        ]
        plain = compare(sides)
        assert plain.control_shifts[0] is None
        shift = known(plain.control_shifts[1])
        assert (shift.workloads, shift.moved) == (("pi", "pi-2"), True)
        assert only_change(plain, "join").verdict is Verdict.CHANGED
        beyond = compare(sides, relative_to_controls=True)
        assert only_change(beyond, "join").verdict is Verdict.NOISE
        assert only_change(beyond, "join").relative_change == pytest.approx(0, abs=0.01)

    def test_what_a_single_run_may_differ_by_is_adjusted_as_its_change_is(self) -> None:
        """The workload follows the controls, so that what remains of another run is less."""
        speeds = [1.0, 1.3, 0.8, 1.1]
        runs = [{"pi": scaled(f), "join": scaled(f), "sort": scaled(f)} for f in speeds]
        alone = [{name: t for name, t in run.items() if name != "sort"} for run in runs[1:]]
        declared = {"parameters": {"controls": ["pi"]}}
        sides = [of_runs("a", runs, **declared), of_runs("b", [runs[0], *alone], **declared)]
        plain, beyond = (
            known(compare(sides, relative_to_controls=relative).limit_of_single_runs)
            for relative in (False, True)
        )
        assert beyond < plain / 2

    def test_a_control_must_be_declared_on_both_sides(self) -> None:
        sides = [
            in_runs(column("a", {"pi": SIX}, parameters={"controls": ["pi"]})),
            in_runs(column("b", {"pi": scaled(2)}, parameters={})),
        ]
        assert compare(sides).control_shifts == (None, None)
        with pytest.raises(BadInput, match="--adjust controls: 'b' and 'a' need 2 runs each with"):
            compare(sides, relative_to_controls=True)

    def test_controls_of_a_single_run_cannot_be_adjusted_for(self) -> None:
        sides = [column(name, {"pi": SIX}, parameters={"controls": ["pi"]}) for name in "ab"]
        assert known(compare(sides).control_shifts[1]).moved is False
        with pytest.raises(BadInput, match="--adjust controls: 'b' and 'a' need 2 runs each with"):
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
        found = overview(configured("a", [ok("x", 1)], ending, run_id="r1"))
        assert found.notes == [(f"run r1 {description}",)]

    def test_damaged_files_failed_warm_ups_and_emulation_are_caveats(self) -> None:
        facts = {"emulated": "links by tbf at 100 Mbit/s"}
        warm_up = failed("x", phase=Phase.WARM_UP)
        odd = configured("a", [warm_up], warnings=("f:9: cut off",), facts=facts)
        assert overview(odd).notes[0] == (
            "f:9: cut off",
            "1 warm-up trial failed: x",
            "emulated: links by tbf at 100 Mbit/s",
        )

    def test_notes_of_trials_and_layout_drift_are_caveats(self) -> None:
        layout = {"requested": "replicated:2", "drift": "of 3 files, 1 are replicated:3"}
        tried = [ok("x", 1), ok("x", 9, 2, note="executors lost: worker-2")]
        assert overview(configured("a", tried, dataset={"layout": layout})).notes[0] == (
            "1 measured trial had an unusual event: x, round 2 (executors lost: worker-2)",
            "the data's layout differed from the manifest: of 3 files, 1 are replicated:3",
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
            BadInput,
            match=r"'a' and 'b' ran on different data: 1,000 rows of .* 2,.*`report` compare them anyway",
        ):
            compare(sides)
        assert compare(sides, allow_different_data=True).rows

    def test_confounders_if_strict(self) -> None:
        sides = [
            column(name, {"x": [1]}, parameters={"sink": sink, "warmup": warmup})
            for name, sink, warmup in (("a", "noop", 1), ("b", "rdd-count", 2))
        ]
        assert compare(sides).notes[1][0] == "sink: rdd-count here, noop in a"
        with pytest.raises(
            BadInput,
            match="--strict: 'a' and 'b' have confounders: sink: rdd-count here, noop in a; and 1 more",
        ):
            compare(sides, strict=True)

    def test_a_contradicted_fact_if_strict(self) -> None:
        links = {"eth0": {"speed_mbit_s": 1000, "driver": "r8169", "state": "up"}}
        environment = {"links": links, "kernel": "6.1"}
        sides = [
            column(link, {"x": [1]}, environment=environment, facts={"link": link})
            for link in ("1gbit", "2.5gbit")
        ]
        with pytest.raises(BadInput, match=r"the fact is link=2\.5gbit, but the run observed"):
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
        assert comparison.notes[0] == ()
        assert comparison.notes[1] == ("sink: rdd-count here, noop in a",)
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
            ({"parameters": {"sink": "noop", "streams": 4}}, "streams"),
            ({"parameters": {"sink": "noop", "cache": "cold"}}, "cache"),
            ({"parameters": {"sink": "noop", "repartition": 9}}, "repartition"),
            (
                {"dataset": {"uri": "file:/d", "layout": {}, "digest": "a", "format": "csv"}},
                "format of the dataset",
            ),
            ({"dataset": {"uri": "file:/d", "layout": {}, "digest": "b"}}, "dataset digest"),
        ],
    )
    def test_are_not_pooled(self, tmp_path: Path, change: dict[str, Any], what: str) -> None:
        dataset = {"uri": "file:/d", "layout": {}, "digest": "a"}
        first = {"parameters": {"sink": "noop"}, "dataset": dataset}
        for run_id, fields in (("one", first), ("other", first | change)):
            record_all(tmp_path, a_run("1g", run_id, **fields), [ok("pi", 1.0)])
        with pytest.raises(BadInput, match=f"mixes runs that differ in {what}"):
            find_configuration("1g", tmp_path)

    def test_nor_those_of_different_problems(self, tmp_path: Path) -> None:
        for run_id, size in (("one", 4), ("other", 5)):
            parameters = {"program": "hpl", "problem": {"n": size}}
            record_all(tmp_path, a_run("1g", run_id, parameters=parameters), [ok("hpl", 1.0)])
        with pytest.raises(BadInput, match=r"mixes runs that differ in problem \(n 4, n 5\)"):
            find_configuration("1g", tmp_path)

    def test_but_runs_that_read_no_data_are_pooled_with_those_of_a_dataset(
        self, tmp_path: Path
    ) -> None:
        """Such as runs of `--workloads calc-pi`: their dataset counted as another, and no table came."""
        data = {"uri": "file:/d", "layout": {}, "digest": "a"}
        for run_id, dataset in (("one", None), ("other", data)):
            record_all(tmp_path, a_run("1g", run_id, dataset=dataset), [ok("pi", 1.0)])
        assert len(find_configuration("1g", tmp_path).runs) == 2
