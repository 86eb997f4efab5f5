"""What else changed in each execution is a confounder by name."""

from pathlib import Path
from typing import Any

import pytest

from harness.analysis.compare.comparison import compare
from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.configuration import ConfigurationRuns, find_configuration
from harness.base.errors import BadInput
from harness.model.plan import Plan
from harness.model.run import Ending, Trial
from harness.records.reader import load
from harness.records.writer import Recording
from tests.unit.analysis.observed.test_plans import BROADCAST, SORT_MERGE, plan
from tests.unit.builders import a_run, column, configured, ok
from tests.unit.metrics_builders import task_metrics


def lines(before: ConfigurationRuns, after: ConfigurationRuns) -> list[str]:
    return [each.describe(before.name) for each in confounders(Sides(before, after))]


def with_plans(name: str, spark: str = "4.0.1", **plans: Plan | None) -> ConfigurationRuns:
    trials = [ok(workload, 9.0, plan=each) for workload, each in plans.items()]
    return configured(name, trials, workloads=tuple(plans), environment={"spark": spark})


def reading(
    name: str, *files: int, rows: int = 100, spark: str = "4.0.1", **more: Any
) -> ConfigurationRuns:
    """One trial for each number of files."""
    metrics: dict[str, Any] = {
        "input_rows": rows,
        "input_bytes_by_locality": {"ANY": 10 * rows},
        **more,
    }
    trials: list[Trial] = []
    for number, count in enumerate(files, 1):
        trials.append(ok("q1", 9.0, number, tasks=task_metrics(input_files=count, **metrics)))
    return configured(name, trials, workloads=("q1",), environment={"spark": spark})


SORTED, HASHED = plan(*SORT_MERGE), plan(*BROADCAST)


def test_a_changed_plan_is_named_with_its_query() -> None:
    before = with_plans("old", q1=SORTED, q2=SORTED)
    after = with_plans("new", q1=SORTED, q2=HASHED)
    [line] = lines(before, after)
    assert line.startswith("q2: SortMergeJoin became BroadcastHashJoin")
    rows = {row.workload: row.cells[1].notes for row in compare([before, after]).rows}
    assert rows == {"q1": (), "q2": (line,)}
    with pytest.raises(BadInput, match="q2: SortMergeJoin became BroadcastHashJoin"):
        compare([before, after], strict=True)


def test_the_same_change_of_many_queries_is_one_line() -> None:
    names = [f"q{number}" for number in range(1, 7)]
    sorted_: dict[str, Any] = dict.fromkeys(names, SORTED)
    hashed: dict[str, Any] = dict.fromkeys(names, HASHED)
    before = with_plans("old", **sorted_)
    after = with_plans("new", **hashed)
    [line] = lines(before, after)
    assert line.startswith("q1, q2, q3, q4 and 2 more: SortMergeJoin became BroadcastHashJoin")


def test_between_versions_of_spark_less_counts() -> None:
    before = with_plans("old", "3.5.9", q1=plan("Project||[a]", *SORT_MERGE))
    after = with_plans("new", "4.0.1", q1=plan("Project||[a AS a]", *SORT_MERGE))
    assert lines(before, after) == ["Spark version: 4.0.1 here, 3.5.9 in old"]


@pytest.mark.parametrize(
    ("uris", "scans", "line"),
    [
        (("hdfs://a/rs/rows-rs", "s3a://b/rows-2x"), ("rows-rs", "rows-2x"), ""),
        (
            ("hdfs://a/orders-rs/data", "hdfs://a/orders/data"),
            ("orders-rs/data", "orders/data"),
            "",
        ),
        (
            ("hdfs://a/rows-rs", "hdfs://a/rows-2x"),
            ("rows-rs", "returns"),
            "q1: Scan parquet t pushed [a] became parquet returns",
        ),
    ],
)
def test_a_table_that_is_stored_elsewhere_has_the_same_plan(
    uris: tuple[str, str], scans: tuple[str, str], line: str
) -> None:
    sides = [
        configured(
            name,
            [ok("q1", 9.0, plan=plan("Filter||(a > 5)", f"Scan|parquet {scan} pushed [a]"))],
            workloads=("q1",),
            parameters={"tables": {"t": {"uri": uri}, "other": {"uri": "hdfs://a/other"}}},
        )
        for name, uri, scan in zip(("old", "new"), uris, scans, strict=True)
    ]
    found = [each for each in lines(*sides) if "Scan" in each]
    assert found == ([f"{line} pushed [a]"] if line else [])


def test_a_plan_that_one_side_did_not_record_is_unknown() -> None:
    before = with_plans("old", q1=None)
    assert lines(before, with_plans("new", q1=SORTED)) == ["plans: recorded here, unknown in old"]
    assert lines(before, with_plans("new", q1=None)) == []


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (reading("a", 9, 9), reading("b", 9, 9), None),
        (
            reading("a", 9, 9),
            reading("b", 10, 10),
            "input of q1: 10 files, 100 rows, 1 kB here, 9 files, 100 rows, 1 kB in a",
        ),
        (reading("a", 9, 11), reading("b", 10, 10), None),
        (reading("a", 9, rows=1000), reading("b", 9, rows=1010), None),
        (
            reading("a", 9, rows=1000),
            reading("b", 9, rows=1100),
            "input of q1: 9 files, 1,100 rows, 11 kB here, 9 files, 1,000 rows, 10 kB in a",
        ),
        (
            reading("a", 9, input_file_bytes=90_000_000),
            reading("b", 9, input_file_bytes=50_000_000),
            "input of q1: 9 files, 100 rows, 50 MB here, 9 files, 100 rows, 90 MB in a",
        ),
        (reading("a", 9, input_file_bytes=90_000_000), reading("b", 9), None),
        (
            reading("a", 9, output_bytes=100),
            reading("b", 9, output_bytes=900),
            "output of q1: 900 B here, 100 B in a",
        ),
        (reading("a", 9), reading("b", 9, disk_spilled_bytes=9_000_000), None),
        (
            reading("a", 9),
            reading("b", 9, disk_spilled_bytes=5_000_000_000),
            "bytes spilled to disks of q1: 5 GB here, none in a",
        ),
    ],
)
def test_what_tasks_read_wrote_and_spilled_is_a_confounder_if_it_differs_by_more_than_noise(
    before: ConfigurationRuns, after: ConfigurationRuns, line: str | None
) -> None:
    assert lines(before, after) == ([line] if line else [])


def test_versions_of_spark_count_the_bytes_of_the_same_rows_differently() -> None:
    before = reading("a", 9, spark="3.5.9")
    after = reading("b", 9, spark="4.0.1", input_bytes_by_locality={"ANY": 70})
    assert lines(before, after) == ["Spark version: 4.0.1 here, 3.5.9 in a"]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ({}, {}, None),
        (None, {"spark.sql.shuffle.partitions": "8"}, None),
        (
            {},
            {"spark.sql.shuffle.partitions": "8", "spark.app.name": "x"},
            "spark.sql.shuffle.partitions of q1, q2: 8 here, not set in a",
        ),
    ],
)
def test_what_a_session_set_for_a_query_is_a_confounder_of_it(
    before: dict[str, str] | None, after: dict[str, str] | None, line: str | None
) -> None:
    def with_properties(name: str, properties: dict[str, str] | None) -> ConfigurationRuns:
        trials = [ok(workload, 9.0, properties=properties) for workload in ("q1", "q2")]
        return configured(
            name, [*trials, ok("q3", 9.0, properties={})], workloads=("q1", "q2", "q3")
        )

    found = lines(with_properties("a", before), with_properties("b", after))
    assert found == ([line] if line else [])


def test_older_results_say_nothing_of_it() -> None:
    assert lines(column("a", {"q1": [9.0]}), column("b", {"q1": [8.0]})) == []


def test_a_file_has_the_operators_of_a_plan_once(tmp_path: Path) -> None:
    recording = Recording(tmp_path, a_run("new", workloads=("q1", "q2")))
    with recording:
        for number in (1, 2, 3):
            recording.trial(ok("q1", 9.0, number, plan=SORTED))
            recording.trial(ok("q2", 9.0, number, plan=SORTED if number == 1 else HASHED))
        recording.end(Ending.COMPLETED)
    assert recording.path.read_text().count("SortMergeJoin") == 1
    assert load(recording.path, samples=False).plans == {
        SORTED.digest: SORTED,
        HASHED.digest: HASHED,
    }
    found = find_configuration("new", tmp_path)
    assert [(use.plan, use.trials) for use in found.samples["q1"].plans] == [(SORTED, 3)]
    assert sorted(use.trials for use in found.samples["q2"].plans) == [1, 2]
