"""A directory of queries: each file is one; what else is there, or cannot be read, is named in one line."""

from pathlib import Path

import pytest

from harness.base.errors import BadInput
from harness.work.queries import (
    MAX_BYTES,
    read_queries,
    read_query_directory,
    text_digest,
)


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
    assert list(found.texts) == ["q1", "q2"]
    assert found.files["q2"] == tmp_path / "q2.SQL"
    assert found.left_out == ["more.sql", "q3.hql", "q4.sql.bak"]


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
