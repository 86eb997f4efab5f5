"""Spark's parser decides what a query is, wherever in the text something else hides."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from harness.base.errors import BadInput
from harness.work.queries import QueryText
from jobs.reading_plans import require_queries

SCRIPT = "(SELECT TRANSFORM(id) USING 'sh -c true' FROM t)"


def require(spark: SparkSession, *texts: str, before: tuple[str, ...] = ()) -> None:
    queries = {}
    for number, text in enumerate(texts, 1):
        queries[f"q{number}"] = QueryText(Path(f"q{number}.sql"), text, before)
    require_queries(spark, queries)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "  -- a comment; with a semicolon\n select ';' AS `;`; \n",
        "/* one; two */ WITH x AS (SELECT 1) SELECT * FROM x; -- the end; really",
        "/* report /* old condition: AND a > 3 */ kept for later */ SELECT count(*) FROM t",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "(SELECT 1 EXCEPT SELECT 2) INTERSECT SELECT 3",
        "FROM orders SELECT count(*)",
        "VALUES (1), (2)",
        "TABLE orders",
        r"""SELECT r'\', 'it\'s; fine', "a;" FROM t""",
        "SELECT 'INSERT INTO x' AS insert, \"DELETE FROM y\"",
        "SELECT is_active, delete, update FROM t WHERE set IN (SELECT merge FROM u)",
        "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY b ORDER BY c)",
        "SELECT a FROM t GROUP BY GROUPING SETS ((a), ()) HAVING max(b) > 1 ORDER BY 1 LIMIT 3 OFFSET 1",
        "SELECT /*+ BROADCAST(u) */ * FROM t JOIN u USING (a) LEFT JOIN LATERAL (SELECT t.a + 1) ON true",
        "SELECT * FROM t TABLESAMPLE (10 PERCENT) LATERAL VIEW explode(a) x AS y DISTRIBUTE BY y SORT BY y",
        "SELECT * FROM t PIVOT (sum(b) FOR a IN (1, 2)) UNPIVOT (v FOR k IN (c, d))",
        "SELECT * FROM range(10) AS r(id), parquet.`/data` AS p, t VERSION AS OF 1",
    ],
)
def test_one_statement_that_reads_is_a_query(spark: SparkSession, text: str) -> None:
    require(spark, text)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1; SELECT 2", "q1.sql has a statement that Spark cannot parse: "),
        ("SELEC 1", "q1.sql has a statement that Spark cannot parse: .*SELEC"),
        ("-- nothing", "q1.sql has a statement that Spark cannot parse: .*end of input"),
        ("DROP TABLE orders", "q1.sql is no query: Spark parses it as DropTable"),
        ("INSERT INTO t SELECT 1", "InsertIntoStatement"),
        ("WITH x AS (SELECT 1) INSERT OVERWRITE t SELECT * FROM x", "InsertIntoStatement"),
        ("FROM a INSERT INTO b SELECT 1 INSERT INTO c SELECT 2", "InsertIntoStatement"),
        ("FROM t INSERT /* a /* b */ c */ OVERWRITE LOCAL DIRECTORY 'd' USING csv SELECT 1", "InsertInto"),
        ("WITH x AS (SELECT 1) DELETE FROM t", "DeleteFromTable"),
        ("WITH a AS (SELECT 1) UPDATE t SET x = 1", "UpdateTable"),
        ("WITH a AS (SELECT 1) MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE", "MergeIntoTable"),
        ("INSERT INTO IDENTIFIER('t') SELECT 1", "IDENTIFIER|InsertIntoStatement"),
        ("SELECT * FROM IDENTIFIER('t' || 'u')", "IDENTIFIER|PlanWithUnresolvedIdentifier"),
        ("SELECT TRANSFORM(id) USING 'sh -c true' FROM t", "ScriptTransformation"),
        ("FROM (FROM t MAP a USING 'x') SELECT 1", "ScriptTransformation"),
        ("EXPLAIN SELECT 1", "ExplainCommand"),
        ("USE x", "SetCatalogAndNamespace"),
        ("CACHE TABLE t AS SELECT 1", "CacheTableAsSelect"),
        ("CREATE TEMPORARY VIEW v AS SELECT 1", "CreateViewCommand"),
        ("ADD JAR x", "AddJarsCommand"),
    ],
)  # fmt: skip
def test_anything_else_is_one_line_that_names_the_file(
    spark: SparkSession, text: str, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        require(spark, text)
    assert "q1.sql" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT {} AS a",
        "SELECT 1 FROM t WHERE a IN {}",
        "SELECT 1 FROM t WHERE EXISTS {}",
        "SELECT a FROM t GROUP BY a HAVING max(b) > {}",
        "SELECT 1 FROM t GROUP BY ROLLUP (a, {})",
        "SELECT 1 FROM t ORDER BY {}",
        "SELECT 1 FROM t DISTRIBUTE BY {}",
        "SELECT 1 FROM t LIMIT {}",
        "SELECT 1 FROM t JOIN u ON t.a = {}",
        "SELECT 1 FROM t, LATERAL {}",
        "SELECT 1 FROM {} AS x",
        "VALUES (1), ({})",
        "SELECT * FROM range({})",
        "SELECT * FROM f(TABLE {})",
        "SELECT /*+ REPARTITION({}) */ 1 FROM t",
        "SELECT * FROM t PIVOT (sum(b) FOR a IN ({}))",
        "SELECT sum(a) OVER (PARTITION BY {}) FROM t",
        "SELECT sum(a) OVER w FROM t WINDOW w AS (PARTITION BY {})",
        "SELECT sum(a) OVER w FROM t WINDOW w AS (v), v AS (ORDER BY {})",
        "SELECT count(*) FILTER (WHERE a = {}) FROM t",
        "SELECT CASE {} WHEN 1 THEN 2 END",
        "SELECT transform(a, x -> x + {}) FROM t",
        "SELECT * FROM t TIMESTAMP AS OF {}",
        "WITH x AS (WITH y AS {} SELECT 1) SELECT 1",
        "SELECT (WITH x AS {} SELECT 1)",
        "SELECT 1 FROM t LATERAL VIEW explode({}) x AS y",
        "SELECT 1 EXCEPT {}",
    ],
)
def test_a_script_is_found_wherever_a_query_may_have_another_one(
    spark: SparkSession, text: str
) -> None:
    require(spark, text.format("(SELECT max(id) FROM t)"))
    with pytest.raises(BadInput, match="ScriptTransformation"):
        require(spark, text.format(SCRIPT))


@pytest.mark.parametrize(
    "text",
    [
        "FROM t |> SET a = {}",
        "FROM t |> EXTEND {} AS a |> DROP a",
        "SELECT * FROM f(TABLE(t) PARTITION BY {})",
        "SELECT IDENTIFIER('f')({})",
    ],
)
def test_a_script_is_refused_in_what_only_newer_versions_parse(
    spark: SparkSession, text: str
) -> None:
    with pytest.raises(BadInput):
        require(spark, text.format(SCRIPT))


def test_all_files_are_looked_at(spark: SparkSession) -> None:
    with pytest.raises(BadInput, match=r"q3\.sql is no query"):
        require(spark, "SELECT 1", "SELECT 2", "DROP TABLE t", "SELECT 3")


VIEW = "CREATE TEMPORARY VIEW v AS SELECT 1"


@pytest.mark.parametrize(
    "before",
    [
        ("SET spark.sql.shuffle.partitions = 7", "SET a=1", "SET hive.exec.parallel=true"),
        ("SET TIME ZONE 'UTC'",),
        ("USE nowhere", "USE a.b", "USE NAMESPACE a"),
        (VIEW, "-- why\nCREATE OR REPLACE TEMP VIEW w AS WITH x AS (SELECT 1) SELECT * FROM x, v"),
        (VIEW, "DROP VIEW V", VIEW),
        ("CREATE TEMPORARY VIEW v USING parquet OPTIONS (path '/data/v')", "DROP VIEW IF EXISTS v"),
    ],
)
def test_what_changes_its_session_alone_may_stand_before_a_query(
    spark: SparkSession, before: tuple[str, ...]
) -> None:
    require(spark, "SELECT 1", before=before)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("SET", "q1.sql: SET without a value sets nothing"),
        ("SET spark.sql.shuffle.partitions", "SET without a value sets nothing"),
        ("SET -v", "SET without a value sets nothing"),
        ("SET spark.sql.shuffle.partitions=many", "q1.sql: Spark refuses a SET: "),
        ("SET spark.sql.warehouse.dir=x", "q1.sql: Spark refuses a SET: "),
        ("SET spark.executor.memory=1g", "q1.sql: Spark refuses a SET: "),
        ("SET spark.scheduler.pool=x", "SET spark.scheduler.pool is refused: it would change what is mea"),
        ("SET spark.sql.maxPlanStringLength=9", "it would change what is recorded of the plan"),
        ("SET parquet.hadoop.vectored.io.enabled=true", "would no longer count the bytes"),
        ("SET spark.sql.catalog.x=y.Z", "which classes Spark loads; give it to spark-submit by --conf"),
        ("SET fs.s3a.impl=y.Z", "which classes Spark loads"),
        ("SET fs.s3a.secret.key=sesame", "SET fs.s3a.secret.key is refused: it is a credential"),
        ("RESET", "Spark parses it as ResetCommand; SET, USE and CREATE TEMPORARY VIEW can stand before"),
        ("CREATE VIEW v AS SELECT 1", "create a view for good: write CREATE TEMPORARY VIEW"),
        ("CREATE GLOBAL TEMP VIEW v AS SELECT 1", "would reach other queries: leave out GLOBAL"),
        ("CREATE GLOBAL TEMPORARY VIEW v USING csv OPTIONS (path 'x')", "leave out GLOBAL"),
        ("DROP VIEW v", "q1.sql: DROP VIEW v would drop what the file has not created"),
        ("DROP TABLE t", "Spark parses it as DropTable"),
        ("CREATE TEMPORARY VIEW v AS SELECT TRANSFORM(id) USING 'sh -c true' FROM t", "ScriptTransf"),
        ("CREATE TEMPORARY VIEW v AS SELECT (WITH x AS (FROM (FROM t MAP a USING 'x') SELECT 1) SELECT 1)",
         "ScriptTransformation"),
        ("CREATE TEMPORARY VIEW v AS SELECT * FROM IDENTIFIER('t' || 'u')", "(?i)identifier"),
    ],
)  # fmt: skip
def test_anything_else_before_a_query_is_one_line_that_names_the_file(
    spark: SparkSession, before: str, reason: str
) -> None:
    with pytest.raises(BadInput, match=reason) as error:
        require(spark, "SELECT 1", before=(before,))
    assert "q1.sql" in str(error.value)
    assert "\n" not in str(error.value)
    assert "sesame" not in str(error.value)


def test_the_parser_obeys_what_is_set_before_a_query_and_no_other_query(
    spark: SparkSession,
) -> None:
    quoted = 'SELECT "a b" FROM t AS "t 2"'
    ansi = ("SET spark.sql.ansi.enabled=true", "SET spark.sql.ansi.doubleQuotedIdentifiers=true")
    require(spark, quoted, before=ansi)
    with pytest.raises(BadInput, match="cannot parse"):
        require(spark, quoted)
    require(spark, "SELECT ${day}", before=("SET day=1",))
