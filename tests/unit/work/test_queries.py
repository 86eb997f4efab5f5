"""A directory of queries: each file is one; what else is there, or cannot be read, is named in one line."""

from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.work.queries import (
    MAX_BYTES,
    QueryText,
    SqlFile,
    queries_in,
    read_definitions,
    read_query_directory,
    read_setup,
    text_digest,
)


def queries(directory: Path, setup: SqlFile | None = None, **values: str) -> dict[str, QueryText]:
    return queries_in(read_query_directory(str(directory)), setup, values)


def read_queries(directory: str) -> dict[str, str]:
    return {name: query.query for name, query in queries(Path(directory)).items()}


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
    "content",
    [
        b"SELECT 1",
        b"\xef\xbb\xbfSELECT 1",
        "SELECT 1".encode("utf-16"),
        b"\xfe\xff" + "SELECT 1".encode("utf-16-be"),
        b"\r\n SELECT 1 ;\r\n;\n",
    ],
)
def test_a_text_is_read_without_marks_of_its_encoding_and_without_a_semicolon_at_its_end(
    tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "q1.sql").write_bytes(content)
    assert read_queries(str(tmp_path)) == {"q1": "SELECT 1"}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "q1.sql: it is empty"),
        (b"\xef\xbb\xbf ;\n", "q1.sql: it is empty"),
        (b"-- nothing\n;/* more */", "q1.sql: it has nothing but comments"),
        (b"SELECT 1".ljust(MAX_BYTES) + b"--", "it is no file of up to 1,048,576 bytes"),
        (b"SELECT '\xff'", "q1.sql: it is no text in UTF-8"),
        (b"\xff\xfeS", "q1.sql: it is no text in UTF-8"),
    ],
)
def test_what_cannot_be_read_as_text_is_one_line(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    (tmp_path / "q1.sql").write_bytes(content)
    with pytest.raises(BadInput) as error:
        read_queries(str(tmp_path))
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_what_is_not_run_is_named(tmp_path: Path) -> None:
    for name in ("q1.sql", "q2.SQL", "q3.hql", "q4.sql.bak", ".hidden.sql"):
        (tmp_path / name).write_text("SELECT 1")
    (tmp_path / "more.sql").mkdir()
    found = read_query_directory(str(tmp_path))
    assert list(found.files) == ["q1", "q2"]
    assert found.files["q2"].path == tmp_path / "q2.SQL"
    assert found.left_out == ["more.sql/", "q3.hql", "q4.sql.bak"]


def test_two_files_with_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("q1.sql", "q1.SQL"):
        (tmp_path / name).write_text("SELECT 1")
    with pytest.raises(BadInput, match="have one name: rename one of them"):
        read_queries(str(tmp_path))


def test_a_link_is_read_within_its_directory_and_else_named_without_what_it_has(
    tmp_path: Path,
) -> None:
    queries = tmp_path / "queries"
    (queries / "..data").mkdir(parents=True)
    (queries / "..data" / "q1.sql").write_text("SELECT 1")
    (queries / "q1.sql").symlink_to("..data/q1.sql")  # as Kubernetes mounts them
    assert read_queries(str(queries)) == {"q1": "SELECT 1"}
    (tmp_path / "secret").write_text("sesame")
    for target in (tmp_path / "secret", tmp_path / "nowhere"):
        link = queries / "q2.sql"
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        with pytest.raises(BadInput, match=r"q2.sql: it is a link to a file outside") as error:
            read_queries(str(queries))
        assert "sesame" not in str(error.value)


@pytest.mark.parametrize("target", ["q1.sql", "nowhere.sql"])
def test_a_link_that_leads_nowhere_is_one_line(tmp_path: Path, target: str) -> None:
    (tmp_path / "q1.sql").symlink_to(target)
    with pytest.raises(BadInput, match=r"q1.sql: ") as error:
        read_queries(str(tmp_path))
    assert "\n" not in str(error.value)


def test_a_directory_without_queries_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"has no file \*.sql"):
        read_queries(str(tmp_path))
    (tmp_path / "q3.hql").touch()
    with pytest.raises(BadInput, match=r"has no file \*.sql \(it has q3.hql\)"):
        read_queries(str(tmp_path))
    with pytest.raises(BadInput, match=r"nowhere is no directory"):
        read_queries(str(tmp_path / "nowhere"))


@pytest.mark.parametrize("name", ["a,b.sql", "a\x1b.sql", " a.sql"])
def test_a_file_whose_name_is_none_of_a_workload_is_to_be_renamed(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(BadInput, match=r"must be printable|rename it"):
        read(tmp_path, "SELECT 1", name)


def test_another_text_has_another_digest_but_not_for_a_semicolon(tmp_path: Path) -> None:
    one, same, other = (
        text_digest(read(tmp_path, text)) for text in ("SELECT 1", "SELECT 1;\n", "SELECT 2")
    )
    assert one == same != other


def test_a_file_with_several_queries_has_workloads_with_numbers(tmp_path: Path) -> None:
    (tmp_path / "q14.sql").write_text("SELECT 1;\n-- the other\nSELECT 2;\n")
    (tmp_path / "q15.sql").write_text("SELECT 3")
    assert read_queries(str(tmp_path)) == {
        "q14-1": "SELECT 1",
        "q14-2": "-- the other\nSELECT 2",
        "q15": "SELECT 3",
    }


def test_what_stands_before_a_query_belongs_to_it_and_to_its_digest(tmp_path: Path) -> None:
    view = "CREATE TEMPORARY VIEW v AS SELECT 1"
    (tmp_path / "q1.sql").write_text(f"SET a=1;\nSELECT 1;\n{view};\nSELECT 2; DROP VIEW v")
    (tmp_path / "q2.sql").write_text("SELECT 1;")
    found = queries(tmp_path)
    assert {name: query.before for name, query in found.items()} == {
        "q1-1": ("SET a=1",),
        "q1-2": ("SET a=1", view),
        "q2": (),
    }
    assert found["q1-1"].digest == text_digest("SET a=1;\nSELECT 1")
    assert found["q2"].digest == text_digest("SELECT 1")


def test_the_digest_of_a_single_statement_is_that_of_its_whole_file(tmp_path: Path) -> None:
    text = "-- start\nSELECT 1\n;\n-- end of the query"
    (tmp_path / "q1.sql").write_text(text)
    assert queries(tmp_path)["q1"].digest == text_digest(text)


def test_a_setup_runs_before_each_query(tmp_path: Path) -> None:
    setup = tmp_path / "setup"
    setup.write_text("USE ${db};\nSET day=1")
    directory = tmp_path / "queries"
    directory.mkdir()
    (directory / "q1.sql").write_text("SET hivevar:a=1; SELECT ${hivevar:day}, ${hivevar:a}, ${a}")
    [query] = queries(directory, read_setup(str(setup)), db="tpcds").values()
    assert query.before == ("USE tpcds", "SET day=1", "SET hivevar:a=1")
    assert query.query == "SELECT ${hivevar:day}, ${hivevar:a}, ${a}"


@pytest.mark.parametrize(
    ("text", "values", "reason"),
    [
        (
            "SELECT ${day}",
            {},
            r"q1.sql: the placeholder \${day} has no value: give --sql-define day=VALUE",
        ),
        ("SELECT ${hiveconf:day}", {}, "give --sql-define day=VALUE"),
        (
            "SELECT '${env:HOME}'",
            {},
            r"\${env:HOME} has no value: write \${HOME}, and give --sql-define",
        ),
        ("SELECT ${later}; SET later=1", {}, r"\${later} has no value"),
        ("SELECT 1 -- ${day}", {"day": "1"}, r"--sql-define day: no query has the placeholder"),
        ("SET a=1", {}, "q1.sql has no query, but SET, USE and CREATE TEMPORARY VIEW alone"),
    ],
)
def test_a_text_that_cannot_be_run_as_it_is_is_named(
    tmp_path: Path, text: str, values: dict[str, str], reason: str
) -> None:
    (tmp_path / "q1.sql").write_text(text)
    with pytest.raises(BadInput, match=reason):
        queries_in(read_query_directory(str(tmp_path)), None, values)


def test_a_setup_has_no_query(tmp_path: Path) -> None:
    (tmp_path / "q1.sql").write_text("SELECT 1")
    with pytest.raises(BadInput, match=r"q1.sql may have SET, USE and CREATE TEMPORARY VIEW alone"):
        queries(tmp_path, read_setup(str(tmp_path / "q1.sql")))


def test_two_queries_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "q1.sql").write_text("SELECT 1; SELECT 2")
    (tmp_path / "q1-1.sql").write_text("SELECT 3")
    with pytest.raises(BadInput, match=r"both have a query q1-1: rename one"):
        queries(tmp_path)


@pytest.mark.parametrize("text", ["day", "=1", "a b=1", "day=${other}"])
def test_a_definition_that_cannot_be_one_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="--sql-define"):
        read_definitions([text])
