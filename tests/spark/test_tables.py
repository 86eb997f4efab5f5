"""Tables of users: which files Spark reads, which tables are no plain files, and CSV as people have it."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest
from pyspark.sql import SparkSession

from datagen.table import Table, open_table
from harness.base.errors import BadInput

NAMES = {
    "files of one directory": [
        *("a.parquet", "_b.parquet", ".c.parquet", "d.parquet._COPYING_", "_e=1.parquet", "_SUCCESS"),
        *("sub/a.parquet", "metadata/b.parquet", "_tmp/a.parquet"),
    ],
    "partitions": [
        *("x=1/a.parquet", "x=3/_skip.parquet", "_tmp/a.parquet", ".x=4/a.parquet", "x=5/sub/a.parquet"),
        *("x=6._COPYING_/a.parquet", "x=7/a.parquet._COPYING_", "x=8/y/z.parquet"),
    ],
    "partitions by a name with an underscore": ["_x=1/a.parquet", "_x=2/b.parquet", "_y/a.parquet"],
    "partitions below another directory": ["w/x=1/a.parquet", "w/x=2/a.parquet"],
}  # fmt: skip


@pytest.fixture(scope="module")
def part(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A file of Parquet with one row."""
    directory = tmp_path_factory.mktemp("parquet") / "rows"
    spark.range(1).coalesce(1).write.parquet(str(directory))
    [file] = directory.glob("*.parquet")
    return file.read_bytes()


def write(directory: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(content)


def refusal(spark: SparkSession, given: str) -> str:
    with pytest.raises(BadInput) as error:
        open_table(spark, "t", given)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith("--table t: ")
    return str(error.value)


@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES.keys())
def test_the_files_of_a_table_are_those_that_spark_reads(
    spark: SparkSession, tmp_path: Path, part: bytes, names: list[str]
) -> None:
    write(tmp_path, dict.fromkeys(names, part))
    table = open_table(spark, "t", f"parquet:{tmp_path}")
    places = table.places or ()
    listed = [f"{place.directory.uri}/{name}" for place in places for name in place.stored.files]
    found = [unquote(uri).replace("file:///", "file:/") for uri in table.frame.inputFiles()]
    assert sorted(listed) == sorted(found)
    assert table.files == len(found) == table.frame.count() > 0


def test_files_about_the_data_have_no_rows(
    spark: SparkSession, tmp_path: Path, part: bytes
) -> None:
    write(tmp_path, {"a.parquet": part, "_metadata": part, "_common_metadata": part})
    table = open_table(spark, "t", str(tmp_path))
    assert table.files == table.frame.count() == 1


WHOLE = {
    "delta": ["_delta_log/0.json", "day=1/a.parquet"],
    "iceberg": ["metadata/v1.metadata.json", "day=1/a.parquet"],
    "hudi": [".hoodie/hoodie.properties", "day=1/a.parquet"],
    "paimon": ["snapshot/snapshot-1", "manifest/m", "schema/schema-0", "day=1/bucket-0/a.parquet"],
}


@pytest.mark.parametrize(("format_", "names"), WHOLE.items())
def test_a_table_of_versions_is_read_by_its_own_format_alone(
    spark: SparkSession, tmp_path: Path, part: bytes, format_: str, names: list[str]
) -> None:
    write(tmp_path / "rows", dict.fromkeys(names, part))
    (tmp_path / "link").symlink_to(tmp_path / "rows/day=1")
    assert f"cannot be read as {format_} (submit with" in refusal(spark, f"{tmp_path}/rows")
    assert f"write t={format_}:URI" in refusal(spark, f"parquet:{tmp_path}/rows")
    for inside in ("rows/day=1", "link", f"rows/{names[-1]}"):
        assert f"lies in file:{tmp_path}/rows, a table of the format {format_}" in refusal(
            spark, f"parquet:{tmp_path}/{inside}"
        )


@pytest.mark.parametrize(
    ("names", "given", "reason"),
    [
        (["_spark_metadata/0", "x=1/a.parquet"], "x=1", "which a stream of Spark writes"),
        (["x=1/delta_0000001_0000001_0000/a.parquet"], "", "as transactional tables of Hive have"),
        (["x=1/base_0000002/a.parquet"], "x=1/base_0000002", "has base_0000002, as transactional"),
        (["_delta_log/0", "metadata/1.metadata.json"], "", "of the formats delta and iceberg, so its"),
        (["bucket-0/a.parquet"], "", "has no files that Spark reads"),
    ],
)  # fmt: skip
def test_what_has_more_rows_than_it_should_is_refused(
    spark: SparkSession, tmp_path: Path, part: bytes, names: list[str], given: str, reason: str
) -> None:
    write(tmp_path, dict.fromkeys(names, part))
    assert reason in refusal(spark, str(tmp_path / given))


def test_a_directory_called_metadata_makes_no_table_of_iceberg(
    spark: SparkSession, tmp_path: Path, part: bytes
) -> None:
    write(tmp_path, {"a.parquet": part, "metadata/b.parquet": part})
    assert open_table(spark, "t", str(tmp_path)).frame.count() == 1


def csv(spark: SparkSession, directory: Path, texts: list[bytes], options: str = "") -> Table:
    write(directory, {f"{number}.csv": text for number, text in enumerate(texts)})
    return open_table(spark, "t", f"csv{options}:{directory}")


@pytest.mark.parametrize(
    ("texts", "options", "recorded", "rows"),
    [
        ([b"id,n\n1,a\n", b"id,n\n2,b\n"], "", "", [(1, "a"), (2, "b")]),
        ([b"\xef\xbb\xbfid,n\r\n1,a\r\n"], "", "", [(1, "a")]),
        ([b",n\n1,a\n"], "", "", [(1, "a")]),
        ([b'id,n\n1,"a\nb"\n'], "", ",multiLine=true", [(1, "a\nb")]),
        ([b'id,n\n1,5" pipe\n2,b\n'], "", ",multiLine=true", [(1, '5" pipe'), (2, "b")]),
        ([b'id,n\n1,"a ""b"", c"\n'], "", ',escape="', [(1, 'a "b", c')]),
        ([b'id,n\n1,"a \\"b\\", c"\n'], "", "", [(1, 'a "b", c')]),
        ([b'id,n\n1,""\n'], "", "", [(1, None)]),
        ([b"0,x0\n1,x1\n"], ",header=false", ",header=false", [(0, "x0"), (1, "x1")]),
        ([b"0|a\n", b"1|b\n"], ",sep=|,header=false", ",sep=|,header=false", [(0, "a"), (1, "b")]),
        ([b"id;n\n1;a\n"], ",sep=;", ",sep=;", [(1, "a")]),
        ([b"id\tn\n1\ta\n"], ",sep=tab", ",sep=\t", [(1, "a")]),
        ([b"country,2019\nde,1\n"], ",HEADER=true", ",header=true", [("de", 1)]),
        (["id,n\n1,ä\n".encode("utf-16")], ",encoding=UTF-16", ",encoding=UTF-16,multiLine=true", [(1, "ä")]),
    ],
)  # fmt: skip
def test_csv_is_read_as_people_have_it(
    spark: SparkSession,
    tmp_path: Path,
    texts: list[bytes],
    options: str,
    recorded: str,
    rows: list[tuple[object, ...]],
) -> None:
    table = csv(spark, tmp_path, texts, options)
    assert table.format_ == f"csv{recorded}"
    assert sorted(map(tuple, table.frame.collect())) == rows


@pytest.mark.parametrize(
    ("texts", "options", "reason"),
    [
        ([b"0,x0\n1,x1\n"], "", "0, x0 in its first row; if these are values, write t=csv,header=false:URI"),
        ([b"2024-01-01,a\n2024-01-02,b\n"], "", "in its first row"),
        ([b"country,2019\nde,1\n"], "", "if they are names of columns, t=csv,header=true:URI"),
        ([b"id,n\n1,a\n", b"2,b\n"], "", "1.csv; if no file has names of columns"),
        ([b"id,n\n1,a\n2,b\n", b"n,id\nc,3\n"], "", "1.csv; if no file has names of columns"),
        ([b"id;n\n1;a\n"], "", "if ; separates columns, write t='csv,sep=;:URI'"),
        ([b"id|n\n1|a\n"], "", "if | separates columns"),
        ([b"id\tn\n1\ta\n"], "", "if tab separates columns"),
        ([b'id,n\n1,"a \\"b"\n2,"a ""b"""\n'], "", "quotes within values"),
        (["id,n\n1,a\n".encode("utf-16")], "", "is not in UTF-8"),
        ([b"id\n1\n"], ",head=true", "'head=true' is no option of CSV"),
        ([b"id\n1\n"], ",header=no", "write header=true or header=false"),
        ([b"id\n1\n"], ",sep", "'sep' is no option of CSV"),
    ],
)  # fmt: skip
def test_csv_that_could_be_read_wrong_is_refused_with_what_to_write(
    spark: SparkSession, tmp_path: Path, texts: list[bytes], options: str, reason: str
) -> None:
    with pytest.raises(BadInput) as error:
        csv(spark, tmp_path, texts, options)
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_a_first_row_that_names_the_columns_is_said(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    csv(spark, tmp_path, [b"alice,paris\nbob,rome\n"])
    assert "its first row names the columns: alice, paris" in capsys.readouterr().err


def test_another_format_has_no_options(spark: SparkSession, tmp_path: Path) -> None:
    assert "only csv has options" in refusal(spark, f"parquet,header=true:{tmp_path}")
