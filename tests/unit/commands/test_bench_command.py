"""`clusterlift bench`, with a spark-submit that records runs without Spark."""

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from harness.commands.cli import main
from harness.model.run import Phase
from harness.records.writer import record_all
from harness.trials.time_budget import TimeBudget
from tests.refusal import refusal
from tests.tracked import ROOT
from tests.unit.builders import a_run, ok
from tests.unit.commands.fake_spark import FakeSpark

BENCHMARK = str(ROOT / "jobs/benchmark.py")


@pytest.fixture(autouse=True)
def _each_run_takes_two_minutes(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a clock go on by two minutes at each submission."""
    budget = partial(TimeBudget, clock=lambda: 120.0 * len(spark.calls()))
    monkeypatch.setattr("harness.commands.run.TimeBudget", budget)


def test_generates_and_runs_within_the_time_and_prints_a_table(
    spark: FakeSpark, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench"]) == 0
    runs = spark.calls()
    assert len(runs) == 3
    assert runs[0][runs[0].index(BENCHMARK) :][1:] == [
        *("--dataset=data/rows-1000000", "--generate=--rows=1000000"),
        *("--configuration=default", "--results=results", "--repartition=8"),
        *("--warmup=2", "--trials=2"),
        "--default-workloads=group-by,inner-join,calc-pi-python-udf,sha-512,write,repartition",
    ]
    output = capfd.readouterr().out
    assert "w         1.00 s" in output
    assert "3 runs of 1 trial each" in output


def test_a_table_of_minutes_says_what_the_same_time_would_bring(
    capfd: pytest.CaptureFixture[str],
) -> None:
    main(["bench"])
    last = capfd.readouterr().err.splitlines()[-1]
    assert "makes about 3 more runs: the intervals of times are then about 42 % as wide" in last
    main(["bench", "--runs", "3"])
    assert "as much time" not in capfd.readouterr().err


def test_a_table_of_minutes_that_was_interrupted_has_too_few_runs(
    spark: FakeSpark, capfd: pytest.CaptureFixture[str]
) -> None:
    spark.plan("complete", "killed")
    assert main(["bench"]) == 130
    shown = " ".join(capfd.readouterr().out.split())
    assert "w 1.00 s too few runs" in shown
    assert "too few runs: fewer than 3 runs, or an interval" in shown


def test_a_second_configuration_has_the_rounds_and_workloads_of_the_first(
    spark: FakeSpark,
) -> None:
    manifest = {"digest": "d1", "format": "parquet"}
    Path("data/rows-1000000").mkdir(parents=True)
    Path("data/rows-1000000/_dataset.json").write_text(json.dumps(manifest))
    dataset = {"uri": "d", "layout": {}, "rows": 10**6, **manifest}
    for number in range(4):
        parameters = {"repartition": 8, "warmup": 1, "trials": 1}
        run = a_run("before", f"run-{number}", parameters=parameters, dataset=dataset)
        trials = [
            ok("group-by", 2.0, 1, Phase.WARM_UP),
            ok("inner-join", 2.0, 1, Phase.WARM_UP),
            ok("group-by", 1.0, 1, Phase.MEASURED),
            ok("inner-join", 1.0, 1, Phase.MEASURED),
        ]
        record_all(Path("results"), run, trials)
    main(["bench", "--configuration", "after"])
    assert spark.calls()[0][-3:] == [
        *("--warmup=1", "--trials=1"),
        "--default-workloads=group-by,inner-join",
    ]


def test_on_a_cluster_partitions_rounds_and_java_are_the_user_s_choice(spark: FakeSpark) -> None:
    assert main(["bench", "--master", "yarn", "--runs", "1", "--trials", "2"]) == 0
    [run] = spark.calls()
    assert run[:2] == ["--master", "yarn"]
    assert not [word for word in run if re.search("partitions|-XX|--warmup|--trials=", word)]
    assert run[-2:] == ["--trials", "2"]


def test_a_user_s_queries_take_the_place_of_the_workloads(spark: FakeSpark) -> None:
    Path("queries").mkdir()
    Path("queries/one.sql").write_text("SELECT 1")
    assert main(["bench", "--sql", "queries", "--runs", "1"]) == 0
    assert not [word for call in spark.calls() for word in call if "workloads" in word]


@pytest.mark.parametrize("options", [["--properties-file", "conf/spark-defaults.conf"], []])
def test_a_properties_file_names_a_cluster_too(
    spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """Without the option, it is that of Spark's own configuration."""
    Path("conf").mkdir()
    Path("conf/spark-defaults.conf").write_text("# spark.master local\nspark.master = yarn\n")
    monkeypatch.setenv("SPARK_CONF_DIR", "conf" if not options else "no-such")
    assert main(["bench", *options, "--runs", "1"]) == 0
    assert not [word for call in spark.calls() for word in call if "partitions" in word]


def test_an_option_that_nobody_has_is_refused_before_anything_is_run(spark: FakeSpark) -> None:
    refused = refusal("bench", "--workload", "group-by")
    assert "--workload is no option of clusterlift, " in refused
    assert "did you mean --workloads" in refused
    assert not spark.calls()


def test_the_same_command_adds_runs() -> None:
    assert main(["bench"]) == main(["bench"]) == 0
    assert len(list(Path("results/default").glob("*.jsonl"))) == 5


def test_compares_with_the_configuration_before(capfd: pytest.CaptureFixture[str]) -> None:
    main(["bench", "--configuration", "before", "--runs", "2"])
    capfd.readouterr()
    assert main(["bench", "--configuration", "after", "--runs", "2"]) == 0
    table = capfd.readouterr().out
    assert "before" in table
    assert "after" in table
    assert "change" in table


def test_the_table_is_of_its_own_results_whatever_is_beside_them(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A directory where the command runs that is called like the configuration hid them."""
    for name in ("before", "after"):
        record_all(Path(), a_run(name, f"other-{name}", workloads=("other",)), [ok("other", 9.0)])
    main(["bench", "--configuration", "before", "--runs", "2"])
    assert "w         1.00 s" in capfd.readouterr().out
    assert main(["bench", "--configuration", "after", "--runs", "2"]) == 0
    table = capfd.readouterr().out
    assert "change" in table
    assert "other" not in table


def test_a_run_without_data_is_the_last(spark: FakeSpark) -> None:
    spark.plan("refused")
    assert main(["bench"]) == 2
    assert len(spark.calls()) == 1


def test_an_interrupted_run_leaves_a_table(
    spark: FakeSpark, capfd: pytest.CaptureFixture[str]
) -> None:
    spark.plan("complete", "killed")
    assert main(["bench"]) == 130
    assert "w         1.00 s" in capfd.readouterr().out


@pytest.mark.parametrize(
    ("before", "arguments", "difference"),
    [
        ({"dataset": {"uri": "d", "layout": {}, "rows": 10}}, ["--rows", "5"], "rows 10, "),
        ({"parameters": {"sink": "noop"}}, ["--sink", "rdd-count"], "sink noop, "),
        ({"parameters": {"repartition": 16}}, [], "repartition 16, "),
        ({"parameters": {}}, ["--streams", "4"], "streams 1, "),
        ({"parameters": {"streams": 4}}, [], "streams 4, "),
    ],
)
def test_work_that_no_table_could_pool_is_refused_before_anything_is_run(
    spark: FakeSpark,
    before: dict[str, Any],
    arguments: list[str],
    difference: str,
) -> None:
    record_all(Path("results"), a_run("default", **before), [])
    assert difference in refusal("bench", *arguments)
    assert not spark.calls()


@pytest.mark.parametrize("rows", ["1000", "1,000", "1_000", "1e3"])
def test_the_same_work_is_the_same_however_its_numbers_are_written(
    spark: FakeSpark, rows: str
) -> None:
    dataset = {"uri": "d", "layout": {}, "rows": 1000}
    parameters = {"repartition": 1000, "pi_samples": 10**6}
    done = a_run("default", parameters=parameters, dataset=dataset)
    record_all(Path("results"), done, [])
    main(["bench", "--rows", rows, "--repartition", rows, "--pi-samples", "1e6", "--runs", "1"])
    assert f"--generate=--rows={rows}" in spark.calls()[-1]


def test_a_dataset_may_be_generated_with_options_of_the_user(spark: FakeSpark) -> None:
    assert main(["bench", "--runs", "1", "--generate=--rows 7 --seed 1"]) == 0
    assert "--generate=--rows 7 --seed 1" in spark.calls()[-1]


def test_a_number_that_is_none_is_refused_before_anything_is_run(spark: FakeSpark) -> None:
    assert "--rows: 'many' is not a whole number" in refusal("bench", "--rows", "many")
    assert not spark.calls()


def test_results_that_cannot_be_written_are_refused_before_any_run(spark: FakeSpark) -> None:
    Path("file").touch()
    assert "--results: cannot write to file/default" in refusal("bench", "--results", "file")
    assert not spark.calls()
