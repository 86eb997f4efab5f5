"""A dataset is complete, or it is not a dataset."""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from datagen import recipe as recipes
from datagen import writer
from datagen.dataset import open_dataset, verify_content
from datagen.filesystem import MAX_READ_BYTES, Directory
from datagen.manifest import FILE_NAME, Format
from datagen.marker import DATASET, MARKER, Marker
from datagen.observing import observe
from datagen.recipe import Recipe, rows
from datagen.writer import Request, write_dataset
from harness.base.errors import BadInput, ClusterliftError
from harness.model.layout import UNKNOWN, Layout

from .conftest import Write

EDGES = [
    *((0, 3), (1, 4), (257, 5)),
    *(pytest.param(*edge, marks=pytest.mark.slow) for edge in ((0, 1), (1, 1), (3, 8), (1000, 2))),
]


def written_totals(totals: recipes.Totals) -> tuple[object, ...]:
    """The totals that the writer computes: all but the distinct prefixes."""
    return (totals.rows, totals.integer_sum, totals.float_sum_e9, dict(totals.rows_per_prefix2))


@pytest.mark.parametrize("format_", Format)
@pytest.mark.parametrize(("count", "partitions"), EDGES)
def test_the_files_have_the_rows_of_the_recipe(
    spark: SparkSession, write: Write, count: int, partitions: int, format_: Format
) -> None:
    recipe = Recipe(count, seed=11)
    written = write(recipe, partitions, format_)
    dataset = open_dataset(spark, written.uri)
    verify_content(spark, dataset)
    assert dataset.manifest == written.manifest
    assert sorted(map(tuple, dataset.frame(spark).collect())) == sorted(rows(recipe))
    assert written_totals(dataset.manifest.totals) == written_totals(recipes.totals(recipe))
    assert open_dataset(spark, written.uri).fingerprint == dataset.fingerprint
    os.utime(Path(written.uri.removeprefix("file:")) / next(iter(dataset.manifest.files)), (1, 1))
    assert open_dataset(spark, written.uri).fingerprint != dataset.fingerprint


def test_the_digest_depends_only_on_the_rows(write: Write) -> None:
    same = {
        write(Recipe(500, seed=3), partitions, format_, f"{format_}-{partitions}").manifest.digest
        for partitions, format_ in ((1, Format.CSV), (2, Format.PARQUET), (7, Format.CSV))
    }
    assert len(same) == 1
    assert same != {write(Recipe(500, seed=4), name="other seed").manifest.digest}
    assert same != {write(Recipe(499, seed=3), name="fewer rows").manifest.digest}


def test_every_csv_file_has_the_header_of_the_original_benchmark(
    write: Write, tmp_path: Path
) -> None:
    write(Recipe(100), 3, Format.CSV)
    files = sorted((tmp_path / "dataset").glob("part-*"))
    heads = [file.read_text().splitlines()[0] for file in files]
    assert heads == ["value,prefix2,prefix4,prefix8,float_val,integer_val"] * 3


@pytest.mark.parametrize(("format_", "row_bytes"), [(Format.CSV, 75), (None, 61)])
def test_a_row_takes_as_many_bytes_as_the_documentation_says(
    write: Write, format_: Format | None, row_bytes: int
) -> None:
    manifest = write(Recipe(100_000), 1, format_).manifest
    assert manifest.bytes / 100_000 == pytest.approx(row_bytes, abs=2)


# A dataset is replaced as a whole, or nothing is left of it.


@pytest.mark.parametrize("error", [ClusterliftError("disk full"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["_save", "data_files"])
def test_a_failed_overwrite_leaves_nothing(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    def fail(*_: object) -> None:
        raise error

    write(Recipe(100, seed=1))
    with monkeypatch.context() as patch:
        patch.setattr(writer, step, fail)
        with pytest.raises(type(error)):
            write(Recipe(100, seed=2), overwrite=True)
    assert not list((tmp_path / "dataset").iterdir())
    write(Recipe(100, seed=2))


def test_an_overwritten_dataset_keeps_its_permissions_and_its_symbolic_link(
    spark: SparkSession, write: Write, tmp_path: Path
) -> None:
    disk = tmp_path / "other disk"
    disk.mkdir(0o750)
    (tmp_path / "dataset").symlink_to(disk)
    write(Recipe(10, seed=1))
    write(Recipe(10, seed=2), overwrite=True)
    verify_content(spark, open_dataset(spark, str(tmp_path / "dataset")))
    assert (tmp_path / "dataset").is_symlink()
    assert disk.stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("option", ["overwrite", "reuse"])
def test_what_a_killed_generator_left_is_refused_and_replaced(
    spark: SparkSession, write: Write, tmp_path: Path, option: str
) -> None:
    Marker.put(Directory(spark, str(tmp_path / "dataset")), DATASET)
    with pytest.raises(BadInput, match=r"is not finished: process \d+ on .* writes it, or was kil"):
        open_dataset(spark, str(tmp_path / "dataset"))
    with pytest.raises(BadInput, match=r"is not finished.*--overwrite starts again"):
        write(Recipe(100))
    assert write(Recipe(100), **{option: True}).manifest.recipe.rows == 100
    assert not (tmp_path / "dataset" / MARKER).exists()


def test_a_dataset_is_replaced_only_with_overwrite(write: Write) -> None:
    first = write(Recipe(100, seed=1))
    with pytest.raises(BadInput, match="is a dataset already; --overwrite replaces it"):
        write(Recipe(100, seed=2))
    assert first.directory.read(FILE_NAME) == first.manifest.to_json()
    assert write(Recipe(100, seed=2), overwrite=True).manifest.digest != first.manifest.digest


def test_observing_reports_missing_files(spark: SparkSession, write: Write) -> None:
    dataset = write(Recipe(100))
    assert observe(spark, dataset.uri)["problem"] is None
    gone, *_ = sorted(dataset.manifest.files)
    dataset.directory.delete(gone)
    assert observe(spark, dataset.uri)["problem"] == f"of 2 files, 1 missing (first: {gone})"


@pytest.mark.parametrize("name", ["rows*", "br[1]", "cu{a,b}", "back\\slash", "line\nbreak"])
def test_a_name_that_spark_would_take_for_a_pattern_is_refused(write: Write, name: str) -> None:
    with pytest.raises(BadInput, match="cannot be the name of a dataset"):
        write(Recipe(1), name=name)


@pytest.mark.parametrize("name", ["with space", "per%20cent", "ümläut", "ha#sh", "trailing/"])
def test_a_name_with_other_special_characters_is_accepted(
    spark: SparkSession, write: Write, tmp_path: Path, name: str
) -> None:
    verify_content(spark, open_dataset(spark, write(Recipe(10), name=name).uri))
    assert (tmp_path / name / FILE_NAME).is_file()


@pytest.mark.parametrize("uri", ["", "file://host/p", "file://[x/a"])
def test_an_invalid_uri_is_refused_in_one_line(spark: SparkSession, uri: str) -> None:
    with pytest.raises(BadInput) as refused:
        open_dataset(spark, uri)
    assert "\n" not in str(refused.value)


def test_a_failed_write_is_reported_in_one_line(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = ["cast(raise_error('disk full') as long) as n"]
    monkeypatch.setattr(writer, "PAYLOADS", {Format.PARQUET: payload})
    with pytest.raises(ClusterliftError, match=r"cannot be written: .*disk full") as failed:
        write(Recipe(10))
    assert "\n" not in str(failed.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("others_bytes", [0, 2**20])
def test_a_full_disk_is_one_line_and_nothing_is_left(
    spark: SparkSession, small_disk: Path, others_bytes: int
) -> None:
    """Files of others may leave no space, not even for the marker."""
    others = small_disk / "others"
    others.write_bytes(bytes(others_bytes))
    request = Request(str(small_disk / "rows"), Recipe(20_000), Format.CSV, 2)
    with pytest.raises(ClusterliftError, match=r"^file:.*: No space left on device$"):
        write_dataset(spark, request)
    assert list(small_disk.iterdir()) == [others]


def test_a_dataset_cannot_replace_a_file(write: Write, tmp_path: Path) -> None:
    (tmp_path / "dataset").write_text("")
    with pytest.raises(BadInput, match="is a file, not a directory; name a directory"):
        write(Recipe(1))


def test_reuse_keeps_only_a_dataset_that_meets_the_request(write: Write) -> None:
    first = write(Recipe(100))
    assert write(Recipe(100), reuse=True, partitions=5).manifest == first.manifest
    with pytest.raises(
        BadInput, match="is a dataset already, of 100 rows with the seed 0: name anot"
    ):
        write(Recipe(101), reuse=True)


def test_reuse_keeps_a_dataset_in_csv_unless_the_request_names_a_format(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write(Recipe(100), format_=Format.CSV)
    assert write(Recipe(100), reuse=True).manifest == first.manifest
    assert capsys.readouterr().err.endswith("is kept in csv; for parquet, name another directory\n")
    with pytest.raises(BadInput, match="is a dataset already, in csv: name another directory"):
        write(Recipe(100), format_=Format.PARQUET, reuse=True)
    assert first.directory.read(FILE_NAME) == first.manifest.to_json()


# Changes after the dataset was written.


def first_part(tmp_path: Path) -> Path:
    return min((tmp_path / "dataset").glob("part-*"))


def lengthen(part: Path) -> None:
    part.write_bytes(part.read_bytes() + b"x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (Path.unlink, r"of 2 files, 1 missing \(first: part-.*-00000-"),
        (
            lambda part: part.with_name("part-99999.csv").write_text("value\n"),
            r"1 not in the manifest \(first: part-99999.csv",
        ),
        (lengthen, "1 of another length"),
    ],
    ids=["missing", "additional", "longer"],
)
def test_a_changed_file_is_noticed(
    spark: SparkSession,
    write: Write,
    tmp_path: Path,
    change: Callable[[Path], object],
    message: str,
) -> None:
    uri = write(Recipe(100)).uri
    change(first_part(tmp_path))
    with pytest.raises(BadInput, match=message):
        open_dataset(spark, uri)


@pytest.mark.parametrize("checksum", ["kept", "deleted"])
@pytest.mark.parametrize("format_", Format)
def test_changed_content_of_the_same_length_is_noticed(
    spark: SparkSession, write: Write, tmp_path: Path, checksum: str, format_: Format
) -> None:
    """Hadoop's own checksum of a local file notices it, or the digest."""
    dataset = write(Recipe(100), format_=format_)
    data = bytearray(first_part(tmp_path).read_bytes())
    middle = len(data) // 2
    data[middle] = ord("0") if data[middle] != ord("0") else ord("1")
    first_part(tmp_path).write_bytes(data)
    if checksum == "deleted":
        (tmp_path / "dataset" / f".{first_part(tmp_path).name}.crc").unlink()
    spark.catalog.clearCache()
    with pytest.raises(BadInput) as refused:
        verify_content(spark, open_dataset(spark, dataset.uri))
    assert str(refused.value).startswith(f"{dataset.uri} ")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "message"), [("{", "Expecting"), ("{}", "it is no manifest of clusterlift: KeyError")]
)
def test_an_invalid_manifest_is_refused(
    spark: SparkSession, write: Write, tmp_path: Path, text: str, message: str
) -> None:
    uri = write(Recipe(10)).uri
    (tmp_path / "dataset" / FILE_NAME).write_text(text)
    with pytest.raises(BadInput, match=f"{FILE_NAME}: {message}"):
        open_dataset(spark, uri)


@pytest.mark.parametrize("kind", ["a pipe", "a device that never ends"])
def test_a_manifest_that_is_no_regular_file_is_refused(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "dataset").mkdir()
    manifest = tmp_path / "dataset" / FILE_NAME
    os.mkfifo(manifest) if kind == "a pipe" else manifest.symlink_to("/dev/zero")
    with pytest.raises(BadInput, match=f"dataset: {FILE_NAME} is not a regular file"):
        open_dataset(spark, str(tmp_path / "dataset"))


def test_a_manifest_that_is_too_large_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    os.truncate(
        os.open(tmp_path / "dataset" / FILE_NAME, os.O_CREAT | os.O_WRONLY), MAX_READ_BYTES + 1
    )
    with pytest.raises(BadInput, match=f"dataset: {FILE_NAME} is too large: 268,435,457 bytes"):
        open_dataset(spark, str(tmp_path / "dataset"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"recipe": Recipe(100, seed=2)}, "no row 0 of seed 2"),
        ({"integer_sum": 1}, "integer_sum is [0-9]+, not [0-9]+"),
        ({"float_sum_e9": 1}, "float_sum_e9 is [0-9]+, not [0-9]+"),
    ],
)
def test_a_manifest_of_other_rows_is_refused(
    spark: SparkSession, write: Write, change: dict[str, Any], message: str
) -> None:
    """Its checksum fits, as if somebody had computed it anew."""
    dataset = write(Recipe(100, seed=1))
    if "recipe" in change:
        changed = replace(dataset.manifest, **change)
    else:
        totals = dataset.manifest.totals
        [(name, more)] = change.items()
        changed = replace(
            dataset.manifest, totals=replace(totals, **{name: getattr(totals, name) + more})
        )
    with pytest.raises(BadInput, match=f"differs from its manifest: .*{message}"):
        verify_content(spark, replace(dataset, manifest=changed))


def test_a_dataset_that_does_not_exist_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere does not exist; write it with"):
        open_dataset(spark, str(tmp_path / "nowhere"))
    with pytest.raises(BadInput, match=r"is not a dataset \(no _dataset.json\)"):
        open_dataset(spark, str(tmp_path))


# Storages.


def test_the_layout_of_a_local_disk_is_unknown(write: Write) -> None:
    manifest = write(Recipe(1)).manifest
    assert (manifest.requested_layout, manifest.observed_layout) == (UNKNOWN, UNKNOWN)


def test_a_layout_on_a_local_disk_is_refused(write: Write, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"--layout replicated:2: .* has no layout to choose"):
        write(Recipe(1), layout=Layout.parse("replicated:2"))
    assert not (tmp_path / "dataset").exists()


def test_a_scheme_without_a_storage_is_refused(spark: SparkSession) -> None:
    with pytest.raises(
        BadInput,
        match=r"no storage for the scheme 'nowhere:'; the known ones are .*file: \(local\)",
    ):
        open_dataset(spark, "nowhere://bucket/data")
