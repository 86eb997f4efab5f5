"""A directory of queries: each file is one query, and what cannot be timed is one line."""

from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.runtime.queries import MAX_BYTES, read_queries, text_digest


def read(directory: Path, text: str, name: str = "q1.sql") -> str:
    (directory / name).write_text(text)
    [found] = read_queries(str(directory)).values()
    return found


def test_queries_are_named_like_their_files_and_in_the_order_of_their_numbers(
    tmp_path: Path,
) -> None:
    for name in ("q10.sql", "q2.sql", "q1.sql", "top.sql", ".hidden.sql", "notes.txt"):
        (tmp_path / name).write_text("SELECT 1")
    assert list(read_queries(str(tmp_path))) == ["q1", "q2", "q10", "top"]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1",
        "  -- a comment; with a semicolon\n select ';' AS `;`; \n",
        "/* one; two */ WITH x AS (SELECT 1) SELECT * FROM x; -- the end; really",
        "(SELECT 1) UNION ALL (SELECT 2)",
        "FROM orders SELECT count(*)",
        "VALUES (1), (2)",
        "TABLE orders",
        r"""SELECT r'\', 'it\'s; fine', "a;" FROM t""",
        "SELECT 'INSERT INTO x' AS insert, \"DELETE FROM y\"",
    ],
)
def test_one_statement_that_returns_rows_is_a_query(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).strip("; \n") in text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1; SELECT 2", "q1.sql has several statements; give each query a file of its own"),
        ("SET x = 1;\nSELECT 1", "q1.sql has several statements"),
        (
            "DROP TABLE orders",
            "q1.sql is no query: it begins with DROP; a query begins with SELECT",
        ),
        ("INSERT INTO t SELECT 1", "is no query"),
        ("WITH x AS (SELECT 1) INSERT OVERWRITE t SELECT * FROM x", "is no query"),
        ("FROM a INSERT INTO b SELECT 1", "is no query"),
        ("WITH x AS (SELECT 1) DELETE FROM t", "is no query"),
        ("EXPLAIN SELECT 1", "is no query"),
        ("SELEC 1", "is no query: it begins with SELEC;"),
        ("-- nothing\n", "is no query: it begins with nothing"),
        ("", "is no query"),
        ("SELECT 1".ljust(MAX_BYTES) + "--", "it is no file of up to 1,048,576 bytes"),
    ],
)
def test_anything_else_is_one_line(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_directory_without_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no file \*.sql"):
        read_queries(str(tmp_path))
    with pytest.raises(BadInput, match=r"nowhere is no directory"):
        read_queries(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["a,b.sql", "a\x1b.sql", " a.sql"])
def test_a_file_whose_name_is_none_of_a_workload_is_to_be_renamed(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(BadInput, match=r"must be printable|rename it"):
        read(tmp_path, "SELECT 1", name)


def test_bytes_that_are_no_text_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "q1.sql").write_bytes(b"SELECT '\xff'")
    with pytest.raises(BadInput, match=r"q1.sql: .*utf-8"):
        read_queries(str(tmp_path))


def test_another_text_has_another_digest_but_not_for_a_semicolon(tmp_path: Path) -> None:
    one, same, other = (
        text_digest(read(tmp_path, text)) for text in ("SELECT 1", "SELECT 1;\n", "SELECT 2")
    )
    assert one == same != other
