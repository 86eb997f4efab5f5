"""Users' own queries: their answers are observed while they run, and tables are found in what they are."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from datagen.table import open_table
from harness.base.errors import BadInput
from harness.model.answer import VARIES, Likeness, RowsDigest, at_ties, likeness, why_different
from harness.model.run import RecordedRun, Status, answers_of
from harness.records.reader import load
from jobs.configuration_side import build_context
from jobs.measuring import benchmark
from jobs.options import parse
from jobs.queries import Query
from jobs.sinks import SINKS
from tests.unit.builders import known

QUERIES = {
    "join": "SELECT c_name, count(*) AS n FROM customer JOIN orders USING (c_id) GROUP BY c_name",
    "sums": "SELECT flag, avg(price) AS mean, sum(price) AS sum FROM items GROUP BY flag",
    "random": "SELECT rand() > 0.5 AS coin FROM items",
    "wrong": "SELECT no_such_column FROM items",
}
Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables in several formats, of several files, one of them with partitions."""
    root = tmp_path_factory.mktemp("tables")
    items = spark.sql("SELECT id, int(id % 3) AS flag, id * 0.1D AS price FROM range(1000)")
    items.write.partitionBy("flag").parquet(str(root / "items"))
    spark.sql("SELECT id, id % 7 AS c_id FROM range(50)").write.orc(str(root / "orders"))
    customer = spark.sql("SELECT id AS c_id, concat('c', id) AS c_name FROM range(7)")
    customer.write.csv(str(root / "customer"), header=True)
    return root


@pytest.fixture
def run_queries(spark: SparkSession, tables: Path, tmp_path: Path) -> Callable[..., RecordedRun]:
    """A function that runs queries of QUERIES, two rounds, and returns what is recorded."""

    def run_queries(*names: str, code: int = 0) -> RecordedRun:
        directory = tmp_path / "queries"
        directory.mkdir(exist_ok=True)
        for name, text in QUERIES.items():
            (directory / f"{name}.sql").write_text(text)
        arguments = [f"--table={name}={tables / name}" for name in ("items", "orders", "customer")]
        arguments += [f"--sql={directory}", f"--workloads={','.join(names)}", "--pi-samples=1000"]
        arguments += ["--trials=2", "--warmup=0", "--proof=trials", f"--results={tmp_path}"]
        assert benchmark(spark, parse(arguments)) == code
        [file] = (tmp_path / "default").glob("*.jsonl")
        return load(file)

    return run_queries


def answer_of(
    spark: SparkSession, text: str, sink: str = "noop", before: tuple[str, ...] = ()
) -> RowsDigest:
    query = Query("q", text, before)
    context = build_context(spark, None, parse(["--trials=1"]))
    ready = SINKS[sink](query, context, 1, proving=True)
    ready.run()
    [answer] = ready.answers()
    return query.check(answer, context)


def test_a_run_records_queries_tables_and_answers(run_queries: Callable[..., RecordedRun]) -> None:
    recorded = run_queries("join", "sums", "calc-pi-dataframe")
    parameters = recorded.run.parameters
    assert list(parameters["queries"]) == ["join", "sums"]
    facts = {
        name: (each["format"], each["files"] > 0, each["bytes"] > 20, each["layout"])
        for name, each in parameters["tables"].items()
    }
    assert facts == {
        "items": ("parquet", True, True, "unknown"),
        "orders": ("orc", True, True, "unknown"),
        "customer": ("csv", True, True, "unknown"),
    }
    rows = {
        name: [each.rows for each in answers_of(trials)]
        for name, trials in recorded.by_workload.items()
    }
    assert rows == {"join": [7], "sums": [3], "calc-pi-dataframe": []}


def test_an_answer_that_varies_is_said_and_its_times_count(
    run_queries: Callable[..., RecordedRun], capsys: Captured
) -> None:
    recorded = run_queries("random")
    assert {trial.status for trial in recorded.trials} == {Status.OK}
    assert len(answers_of(recorded.trials)) > 1
    assert VARIES in capsys.readouterr().out


def test_a_query_that_fails_has_the_reason_of_spark_and_the_others_go_on(
    run_queries: Callable[..., RecordedRun],
) -> None:
    recorded = run_queries("wrong", "sums", code=1)
    assert {trial.status for trial in recorded.by_workload["sums"]} == {Status.OK}
    for trial in recorded.by_workload["wrong"]:
        assert trial.error is not None
        assert "no_such_column" in trial.error
        assert "\n" not in trial.error


SAME = [
    ("SELECT id, id * 0.1D AS x FROM range(99)", "SELECT id, id * 0.1D AS x FROM range(99) ORDER BY x"),
    ("SELECT sum(id / 9D) FROM range(0, 999, 1, 1)", "SELECT sum(id / 9D) FROM range(0, 999, 1, 7)"),
    ("SELECT cast('NaN' AS double) AS x, null AS y", "SELECT cast('NaN' AS double) AS x, null AS y"),
]  # fmt: skip
DIFFERENT = [
    ("SELECT 1 AS a, 2.5D AS x", "SELECT 1 AS a, 2.500001D AS x"),
    ("VALUES (1, 2.5D), (2, 3.5D)", "VALUES (1, 3.5D), (2, 2.5D)"),  # the same numbers elsewhere
    ("SELECT 1 AS a, null AS b", "SELECT null AS a, 1 AS b"),
    ("SELECT 'x' AS a", "SELECT 'y' AS a"),
    ("SELECT cast('NaN' AS double) AS x", "SELECT cast('inf' AS double) AS x"),
    ("SELECT cast('NaN' AS double) AS x", "SELECT cast(null AS double) AS x"),
    ("SELECT array(struct(1 AS a, 1D AS b)) AS x", "SELECT array(struct(1 AS a, 2D AS b)) AS x"),
    ("SELECT array(struct(1 AS a, 1D AS b)) AS x", "SELECT array(struct(2 AS a, 1D AS b)) AS x"),
    ("SELECT map('a', array(1F)) AS x", "SELECT map('a', array(2F)) AS x"),
    ("SELECT map('a', 1F) AS x", "SELECT map('b', 1F) AS x"),
    ("SELECT 1 AS a, 1 AS a", "SELECT 1 AS a, 2 AS a"),
    ("SELECT 1 AS a", "SELECT 1 AS a WHERE false"),
    ("SELECT X'01' AS a, date'2026-01-01' AS d", "SELECT X'02' AS a, date'2026-01-01' AS d"),
]  # fmt: skip


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize(("one", "other"), SAME)
def test_rows_in_another_order_are_the_same(
    spark: SparkSession, one: str, other: str, sink: str
) -> None:
    assert not answer_of(spark, one).difference(answer_of(spark, other, sink))


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_another_value_anywhere_is_another_answer(
    spark: SparkSession, one: str, other: str
) -> None:
    first, second = answer_of(spark, one), answer_of(spark, other)
    assert first.difference(second)
    assert not first.difference(answer_of(spark, one))


def test_sums_that_are_not_finite_are_none(spark: SparkSession) -> None:
    [found] = answer_of(spark, "VALUES (1.7e308D), (1.7e308D)").sums
    assert (found.total, found.magnitude) == (None, None)


def test_a_query_runs_in_a_session_of_its_own_after_what_stands_before_it(
    spark: SparkSession,
) -> None:
    spark.range(9).createOrReplaceTempView("numbers")
    before = (
        "SET spark.sql.session.timeZone=Asia/Tokyo",
        "CREATE TEMPORARY VIEW small AS SELECT id FROM numbers WHERE id < 4",
    )
    assert (
        answer_of(spark, "SELECT current_timezone() AS zone, id FROM small", before=before).rows
        == 4
    )
    assert spark.conf.get("spark.sql.session.timeZone") != "Asia/Tokyo"
    assert not spark.catalog.tableExists("small")


TOP = "SELECT id AS i, id % 3 AS k, id * 0.5D AS half FROM range(9)"


@pytest.mark.parametrize(
    ("text", "limit", "sorted_by"),
    [
        ("{TOP} ORDER BY k, i LIMIT 4", 4, ["i", "k"]),
        ("{TOP} ORDER BY 2 DESC LIMIT 4", 4, ["k"]),
        ("WITH t AS ({TOP}) SELECT *, k AS same FROM t ORDER BY k LIMIT 4", 4, ["k"]),
        ("SELECT k, count(*) AS n FROM ({TOP}) GROUP BY k ORDER BY count(*), k LIMIT 4", 4, ["k", "n"]),
        ("SELECT k AS renamed FROM ({TOP} ORDER BY k LIMIT 4)", 4, ["renamed"]),
        ("{TOP} ORDER BY k + i LIMIT 4", None, []),
        ("SELECT i FROM ({TOP}) ORDER BY half LIMIT 4", None, []),
        ("{TOP} LIMIT 4", None, []),
        ("{TOP} ORDER BY k", None, []),
        ("SELECT count(*) FROM ({TOP} ORDER BY k LIMIT 4)", None, []),
    ],
)  # fmt: skip
def test_a_limit_of_sorted_rows_is_known_with_the_columns_that_sort_them(
    spark: SparkSession, text: str, limit: int | None, sorted_by: list[str]
) -> None:
    answer = answer_of(spark, text.replace("{TOP}", TOP))
    assert answer.limit == limit
    assert [each.column for each in answer.columns if each.is_sorted] == sorted_by
    assert ("LIMIT" in known(answer.chance)) == ("LIMIT" in text and limit is None)


def test_rows_that_tie_at_a_limit_are_told_from_other_data(spark: SparkSession) -> None:
    one, tied, other = (
        answer_of(spark, f"{TOP} WHERE id {where} ORDER BY k LIMIT 2")
        for where in ("< 6", "> 0", "% 3 = 1")
    )
    assert likeness([one], [tied]) is Likeness.TIES
    assert at_ties(one, tied) == (
        "other rows of those that tie at LIMIT 2 (they differ in i, half; the number of rows and the columns "
        "of ORDER BY are the same)"
    )
    assert likeness([one], [other]) is Likeness.DIFFERENT
    assert "they differ in i, k, half" in why_different(one, other)


def test_a_table_may_be_one_file_and_its_format_may_be_given(
    spark: SparkSession, tables: Path, tmp_path: Path
) -> None:
    [file, *_] = sorted((tables / "orders").glob("*.orc"))
    assert open_table(spark, "orders", str(file)).format_ == "orc"
    unnamed = tmp_path / "hive"
    unnamed.mkdir()
    shutil.copy(file, unnamed / "000000_0")
    assert open_table(spark, "orders", f"orc:{unnamed}").frame.count() > 0


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("nowhere", r"--table t: file:/.*/nowhere does not exist"),
        (".", r"--table t: .* has .*, so its format is not clear; write t=FORMAT:URI"),
        ("empty", r"--table t: .* has no files that Spark reads, so its format"),
        ("delta:items", r"cannot be read as delta \(submit with its --packages or --jars\): "),
        ("orc:items", r"--table t: file:/.*/items cannot be read as orc: "),
    ],
)
def test_what_is_no_table_is_one_line(
    spark: SparkSession, tables: Path, given: str, reason: str
) -> None:
    (tables / "empty").mkdir(exist_ok=True)
    format_, colon, name = given.rpartition(":")
    with pytest.raises(BadInput, match=reason) as error:
        open_table(spark, "t", f"{format_}{colon}{tables / name}")
    assert "\n" not in str(error.value)
