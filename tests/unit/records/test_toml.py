"""TOML files have a schema: a mistake is one line that names file, table and key."""

import os
from pathlib import Path
from typing import Annotated, Literal

import pytest
from msgspec import Meta, Struct

from harness.model.errors import BadInput
from harness.records.toml import MAX_BYTES, convert, read_toml


class Inner(Struct, forbid_unknown_fields=True):
    number: Annotated[int, Meta(ge=1, le=9)]
    choice: Literal["a", "b"] = "a"

    def __post_init__(self) -> None:
        if self.number == 7:
            raise ValueError("number is seven")


class Outer(Struct, forbid_unknown_fields=True):
    inner: dict[Annotated[str, Meta(max_length=3, description="short")], Inner]
    optional: Annotated[float, Meta(ge=0, le=1)] | None = None


def converted(directory: Path, text: str) -> Outer:
    file = directory / "file.toml"
    file.write_text(text)
    return convert(read_toml(file), Outer, file)


def refusal(directory: Path, text: str) -> str:
    with pytest.raises(BadInput) as caught:
        converted(directory, text)
    return str(caught.value).removeprefix(str(directory / "file.toml"))


def test_values_are_converted_in_one_step(tmp_path: Path) -> None:
    read = converted(tmp_path, "inner.x = {number = 5}\noptional = 1")
    assert read == Outer({"x": Inner(5)}, 1.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ", inner.x: number is missing"),
        ('number = "1"', ", inner.x: number: Expected `int`, got `str`"),
        ("number = true", ", inner.x: number: Expected `int`, got `bool`"),
        ("number.a = 1", ", inner.x: number: Expected `int`, got `table`"),
        ("number = 10", ", inner.x: number has to be from 1 to 9, not 10"),
        (f"number = 1{'0' * 400}", ", inner.x: number has to be from 1 to 9, not a number of 1329 bits"),
        (f"number = 0x{'F' * 5000}", ", inner.x: number has to be from 1 to 9, not a number of 20000 bits"),
        ("number = 1\nchoice = 'c'", ", inner.x: choice has to be a or b, not 'c'"),
        ("number = 7", ", inner.x: number is seven"),
        ("number = 1\nb = 2", ", inner.x: unknown key b"),
        (f"number = 1\n{'k' * 300} = 2", f", inner.x: unknown key {'k' * 30}…{'k' * 29}"),
        ("number = 1\n[inner.long]", ", inner: a name has to be short, not 'long'"),
        ("number = 1\n[inner.y]\nnumber = 0", ", inner.y: number has to be from 1 to 9, not 0"),
        ("number = 1\n[other]", ": unknown key other"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_table_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, f"[inner.x]\n{text}") == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ": inner is missing"),
        ("inner = 5", ": inner: Expected `table`, got `int`"),
        ("inner.x = 5", ", inner: x: Expected `table`, got `int`"),
        ("inner = {}\noptional = nan", ": optional has to be from 0 to 1, not nan"),
        ("inner = {}\noptional = inf", ": optional has to be from 0 to 1, not inf"),
        ("inner = {}\noptional = 1979-05-27", ": optional: Expected `float`, got `date`"),
        (f"{'a.' * 5000}a = 1", ": unknown key a"),
    ],
)
def test_a_mistake_outside_of_tables_is_named(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a = ", "not TOML: Invalid value"),
        ("a = 1\0", "not TOML: "),
        ("[a]\n[a]", "not TOML: Cannot declare"),
        (f"a = 1{'0' * 5000}", "a number has too many digits"),
        (f"a = {'[' * 3000}", "values are nested too deeply"),
        ("#" * (MAX_BYTES + 1), "it is larger than 1,000,000 bytes"),
    ],
)
def test_a_file_that_is_not_toml_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(tmp_path, text).startswith(f": {message}")


def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file.toml"
    file.write_bytes(b'name = "\xff"')
    with pytest.raises(BadInput, match=r"file\.toml: not TOML: it is not UTF-8 text"):
        read_toml(file)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    for file in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(BadInput, match="it is not a regular file"):
            read_toml(file)


@pytest.mark.parametrize("name", ["nowhere.toml", "x" * 300])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"nowhere.toml: No such file|File name too long"):
        read_toml(tmp_path / name)
