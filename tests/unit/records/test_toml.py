"""TOML files are read strictly: a mistake is one line that names file, table and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.model.errors import BadInput
from harness.records.toml import TomlTable


def table(directory: Path, text: str) -> TomlTable:
    file = directory / "file.toml"
    file.write_text(text)
    return TomlTable.read(file)


def test_values_are_taken_by_their_type(tmp_path: Path) -> None:
    read = table(tmp_path, 'a = 1\nb = ["x"]\n[c.d]\ne = true')
    assert (read.take("a", float), read.take("b", list[str])) == (1.0, ["x"])
    assert read.take("absent", int, 7) == 7
    [(name, inner)] = read.tables("c").items()
    assert (name, inner.take("e", bool)) == ("d", True)
    inner.end()
    read.end()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a is missing"),
        ('a = "1"', "a: Expected `int`, got `str`"),
        ("a = true", "a: Expected `int`, got `bool`"),
        ("a = nan", "a has to be a number up to 9223372036854775808"),
        ("a = -inf", "a has to be a number up to 9223372036854775808"),
        (f"a = 1{'0' * 400}", "a has to be a number up to 9223372036854775808"),
        ("a = 1\nb = 2\nc = 3", "unknown key b, c"),
    ],
)
def test_a_mistake_is_named_by_table_and_key(tmp_path: Path, text: str, message: str) -> None:
    [inner] = table(tmp_path, f"[outer.inner]\n{text}").tables("outer").values()
    with pytest.raises(BadInput) as caught:  # noqa: PT012  either of the two refuses
        inner.take("a", int)
        inner.end()
    assert str(caught.value) == f"{tmp_path / 'file.toml'}, outer.inner: {message}"


@pytest.mark.parametrize(
    "text", ["a = ", f"a = 1{'0' * 5000}", "a = " + "[" * 3000, "[outer]\n[outer]"]
)
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match=r"^.*file\.toml: "):
        table(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[outer]", "outer has to have 1 tables or more"),
        ("outer = 5", "outer: Expected `object`, got `int`"),
        ("[outer]\ninner = 5", "outer: Expected `object`, got `int`"),
    ],
)
def test_tables_that_are_missing_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        table(tmp_path, text).tables("outer")
