"""What `--table` gives, and which directories of a user's table have rows."""

from typing import Any

import pytest

from datagen.table import FORMATS, Listed, open_table, parsed_table, without_metadata
from harness.base.errors import BadInput


@pytest.mark.parametrize(
    ("formats", "with_rows"),
    [
        ([], ["", "/metadata", "/data/day=1", "/snapshot", "/day=1/metadata"]),
        (["iceberg"], ["", "/data/day=1", "/snapshot", "/day=1/metadata"]),
        (["paimon"], ["", "/metadata", "/data/day=1", "/day=1/metadata"]),
    ],
)
def test_directories_about_the_versions_of_a_table_have_no_rows(
    formats: list[str], with_rows: list[str]
) -> None:
    anywhere: Any = None
    below = ["", "/metadata", "/data/day=1", "/snapshot", "/day=1/metadata"]
    listed = [Listed(anywhere, each, ["a"]) for each in below]
    assert [place.below for place in without_metadata(listed, formats)] == with_rows


@pytest.mark.parametrize(
    ("given", "parsed"),
    [
        ("rows", ("", {}, "rows")),
        ("parquet", ("", {}, "parquet")),
        ("data/rows:2026", ("", {}, "data/rows:2026")),
        ("hdfs://host:9820/rows", ("", {}, "hdfs://host:9820/rows")),
        ("hdfs:/rows", ("", {}, "hdfs:/rows")),
        ("abfss://rows@store/t", ("", {}, "abfss://rows@store/t")),
        ("orc:rows", ("orc", {}, "rows")),
        ("Parquet:hdfs://host:9820/rows", ("parquet", {}, "hdfs://host:9820/rows")),
        ("CSV,header=false:s3a://rows/t", ("csv", {"header": "false"}, "s3a://rows/t")),
        ("DELTA:/rows", ("delta", {}, "/rows")),
    ],
)
def test_a_format_stands_before_the_uri_in_any_letters(
    given: str, parsed: tuple[str, dict[str, str], str]
) -> None:
    assert parsed_table("t", given) == parsed


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ("json:hdfs://host:9820/rows", "json"),
        ("JSON:rows", "JSON"),
        ("text:", "text"),
        ("json,multiLine=true:/rows", "json"),
        ("parqet:s3a://rows/t", "parqet"),
        ("hdfs:hdfs://host:9820/rows", "hdfs"),
    ],
)
def test_a_format_that_is_not_known_is_no_part_of_a_uri(given: str, word: str) -> None:
    known = ", ".join(FORMATS)
    with pytest.raises(BadInput) as error:
        parsed_table("t", given)
    assert str(error.value) == (
        f"--table t: '{word}' before the colon is no format; "
        f"write t=FORMAT:URI with a FORMAT of {known}, or t=URI"
    )


def test_what_may_be_a_scheme_or_a_format_is_neither_if_hadoop_does_not_know_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_spark: object, uri: str) -> None:
        raise BadInput(f'{uri}: No FileSystem for scheme "json"')

    monkeypatch.setattr("datagen.table.Directory", refuse)
    anything: Any = None
    message = (
        "^--table t: json:/rows: No FileSystem for scheme \"json\"; if 'json' is meant as a format, "
        "it is not known: write t=FORMAT:URI with a FORMAT of parquet, "
    )
    with pytest.raises(BadInput, match=message):
        open_table(anything, "t", "json:/rows")
