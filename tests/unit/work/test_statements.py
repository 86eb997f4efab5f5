"""A text is divided into statements as Spark reads it; the next case is a line."""

import pytest

from harness.work.statements import (
    is_before_a_query,
    key_of_set,
    left_to_chance,
    limits_in,
    statements_in,
    with_values,
    words_of,
)


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", []),
        (" ;\n;; ", []),
        ("-- nothing", []),
        ("/* nothing; */ ; -- nothing", []),
        ("SELECT 1", ["SELECT 1"]),
        ("SELECT 1;", ["SELECT 1"]),
        ("SELECT 1;\r\n;SELECT 2;\r\n", ["SELECT 1", "SELECT 2"]),
        ("SELECT ';', \";\", `;`; SELECT 2", ["SELECT ';', \";\", `;`", "SELECT 2"]),
        ("SELECT 1 -- it's; done\n+ 1; SELECT 2", ["SELECT 1 -- it's; done\n+ 1", "SELECT 2"]),
        (
            "SELECT 1 -- goes on \\\n; here\n; SELECT 2",
            ["SELECT 1 -- goes on \\\n; here", "SELECT 2"],
        ),
        ("/* a; /* b; */ c; */ SELECT 1; SELECT 2", ["/* a; /* b; */ c; */ SELECT 1", "SELECT 2"]),
        ("SELECT 1 /* never closed; SELECT 2", ["SELECT 1 /* never closed; SELECT 2"]),
        ("SELECT /*+ BROADCAST(t) */ 1; SELECT 2", ["SELECT /*+ BROADCAST(t) */ 1", "SELECT 2"]),
        ("SELECT 'it''s; one'; SELECT 2", ["SELECT 'it''s; one'", "SELECT 2"]),
        (r"SELECT 'it\'s; one'; SELECT 2", [r"SELECT 'it\'s; one'", "SELECT 2"]),
        (r"SELECT '\\'; SELECT 2", [r"SELECT '\\'", "SELECT 2"]),
        (r"SELECT r'\'; SELECT 2", [r"SELECT r'\'", "SELECT 2"]),
        ('SELECT R"\\"; SELECT 2', ['SELECT R"\\"', "SELECT 2"]),
        (r"SELECT 'a\;b'; SELECT 2", [r"SELECT 'a\;b'", "SELECT 2"]),
        (r"SELECT 1 \; SELECT 2", ["SELECT 1 ; SELECT 2"]),
        ("SELECT `a``;b`; SELECT 2", ["SELECT `a``;b`", "SELECT 2"]),
        ("SELECT 'never closed; SELECT 2", ["SELECT 'never closed", "SELECT 2"]),
        ("SELECT 5 / 2 - -1; SELECT 2", ["SELECT 5 / 2 - -1", "SELECT 2"]),
        ("SELECT 'ü;ß'; SELECT 'Ω'", ["SELECT 'ü;ß'", "SELECT 'Ω'"]),
    ],
)
def test_statements_end_at_semicolons_that_are_neither_quoted_nor_in_comments(
    text: str, statements: list[str]
) -> None:
    assert statements_in(text) == statements


@pytest.mark.parametrize(
    "statement",
    [
        "SET spark.sql.shuffle.partitions=7",
        "-- a comment\nset x = 1",
        "/* a */ USE tpcds",
        "CREATE TEMPORARY VIEW v AS SELECT 1",
        "create or replace\ttemp\nview v as select 1",
        "CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1",
        "CREATE VIEW v AS SELECT 1",
        "DROP VIEW IF EXISTS v",
    ],
)
def test_what_may_stand_before_a_query_is_no_query(statement: str) -> None:
    assert is_before_a_query(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT 1",
        "(SELECT 1)",
        "SETTINGS",
        "CREATE TABLE t AS SELECT 1",
        "DROP TABLE t",
        "FROM t |> SET a = 1",
    ],
)
def test_anything_else_is_taken_for_a_query(statement: str) -> None:
    assert not is_before_a_query(statement)


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        ("SET a.b=c", "a.b"),
        ("-- x\nset /* y */ hivevar:day = 1", "day"),
        ("SET `a b`=1", None),
        ("SET TIME ZONE 'UTC'", None),
        ("SELECT 1 AS a=1", None),
    ],
)
def test_the_key_of_set(statement: str, key: str | None) -> None:
    assert key_of_set(statement) == key


def test_values_stand_in_the_place_of_placeholders_but_not_in_comments() -> None:
    values = {"day": "2026-01-31", "hivevar:db": "x"}
    text = "SELECT '${day}' FROM ${hivevar:db}.t -- ${day}\n/* ${day} */ WHERE `${day}` > ${own}"
    assert with_values(text, values.get) == (
        "SELECT '2026-01-31' FROM x.t -- ${day}\n/* ${day} */ WHERE `2026-01-31` > ${own}"
    )


def test_words_have_neither_comments_nor_what_is_quoted() -> None:
    assert (
        words_of("select 'limit 1' -- limit 2\n, `rand()` /* x */ from t")
        == "SELECT '' , '' FROM T"
    )


@pytest.mark.parametrize(
    ("text", "chance"),
    [
        ("SELECT sum(a) FROM t GROUP BY b", ()),
        ("SELECT 'rand()' -- first(x)\n", ()),
        ("SELECT first(a), rand() FROM t", ("first()", "rand()")),
        ("SELECT first AS last FROM t", ()),
        ("SELECT collect_list (a) FROM t", ("collect_list()",)),
        ("SELECT row_number() OVER (ORDER BY a) FROM t", ("row_number()",)),
        ("SELECT sum(a) OVER (ORDER BY b ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM t",
         ("rows of a window that tie",)),
        ("SELECT current_date, a FROM t TABLESAMPLE (1 PERCENT)", ("TABLESAMPLE", "the time of the query")),
    ],
)  # fmt: skip
def test_what_leaves_an_answer_to_chance_is_named(text: str, chance: tuple[str, ...]) -> None:
    assert left_to_chance(text) == chance


def test_limits_are_counted() -> None:
    assert limits_in("SELECT (SELECT 1 LIMIT 1) FROM t -- LIMIT 2\nLIMIT 3") == 2
    assert limits_in("SELECT 1 FROM t LIMIT ALL") == 0
