"""A recipe stored at a URI: `open_dataset` proves that it is complete before anything reads it."""

from __future__ import annotations  # for Python 3.8

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from datagen import recipe as recipes
from datagen.filesystem import Directory, FileStatus
from datagen.manifest import FILE_NAME, Format, Manifest
from datagen.marker import MARKER, writer_of
from datagen.observed_layout import StoredFiles
from datagen.spark import spark_errors_as_one_line
from datagen.storage import Storage, locate
from harness.base.errors import BadInput
from harness.base.words import count_of


def is_data(entry: FileStatus) -> bool:
    """Return whether Spark would read rows from it: the rule of its HadoopFSUtils for names.

    Files that are not data: hidden files, files about the data, and files that are still copied.
    """
    name = entry.name
    is_about_data = name.startswith("_") and "=" not in name  # `_day=1` is a partition
    return not (is_about_data or name.startswith(".") or name.endswith("._COPYING_"))


@dataclass(frozen=True)
class Dataset:
    """A dataset with its manifest and with all the files that the manifest names, which are in `directory`.

    `stored` is how the files are stored now; `drift` describes how that differs from the layout in the
    manifest, None if it does not. `fingerprint` is another one if a file was changed meanwhile.
    `first_use_s` is how long a run took to generate it, if it did, and to read its rows; None if it need not.
    """

    directory: Directory
    manifest: Manifest
    stored: StoredFiles
    drift: str | None = None
    fingerprint: str = ""
    first_use_s: float | None = None

    @property
    def uri(self) -> str:
        """The URI of the directory."""
        return self.directory.uri

    @property
    def digests(self) -> Mapping[tuple[str, ...], str]:
        """The digests of the rows, each by the columns that it covers."""
        return {
            recipes.COLUMNS: self.manifest.digest,
            recipes.COLUMNS_WITHOUT_VALUE: self.manifest.digest_without_value,
        }

    def frame(self, spark: SparkSession) -> DataFrame:
        """Return the rows, with the six columns of the recipe. Every action reads the files again."""
        return stored_rows(spark, self.directory.uri, self.manifest.format)

    def as_facts(self) -> dict[str, Any]:
        """Return what a run records: the manifest, and how the files were stored when it began."""
        facts = self.manifest.as_facts()
        layouts = [str(layout) for layout in self.stored.layouts]
        facts["layout"]["observed"] = ", ".join(layouts) or None
        facts["layout"]["drift"] = self.drift
        return {
            "uri": self.uri,
            **facts,
            "fingerprint": self.fingerprint,
            "first_use_s": self.first_use_s,
            **self.stored.as_facts(),
        }


def stored_rows(spark: SparkSession, uri: str, format_: Format) -> DataFrame:
    """Return the rows in the files of a directory. Every action reads them again."""
    reader = spark.read.schema(recipes.SCHEMA)
    if format_ is Format.PARQUET:
        return reader.parquet(uri)
    return reader.csv(uri, header=True)


def open_dataset(spark: SparkSession, uri: str, *, accept_layout_drift: bool = False) -> Dataset:
    """Return the dataset at a URI after comparing its files with its manifest.

    Raises BadInput if there is no dataset, if files differ from the manifest in name or length, and,
    unless `accept_layout_drift`, if a file has another layout or missing or excess parts.
    """
    directory, storage = locate_existing(spark, uri)
    entries = directory.entries()
    manifest = _require_manifest(directory)
    differences = file_differences(manifest, entries)
    if differences:
        raise BadInput(
            f"{directory.uri} differs from its manifest: {differences}; "
            "generate it again with --overwrite"
        )
    stored = observe_files(storage, directory, manifest.files)
    drift = stored.problem(manifest.observed_layout)
    if drift and not accept_layout_drift:
        raise BadInput(
            f"{directory.uri} differs from its manifest, {manifest.observed_layout}: {drift}"
            f"{in_brackets(storage.explain(manifest.observed_layout, stored))}. Repair it, generate it "
            "again with --overwrite, or benchmark it as it is with --accept-layout-drift"
        )
    return Dataset(directory, manifest, stored, drift, fingerprint(manifest, entries))


def locate_existing(spark: SparkSession, uri: str) -> tuple[Directory, Storage]:
    """Return the directory at a URI, and its storage. Raise BadInput if there is nothing."""
    directory, storage = locate(spark, uri)
    if not directory.exists():
        raise BadInput(f"{directory.uri} does not exist; write it with datagen/generate.py")
    return directory, storage


def read_manifest(directory: Directory) -> Manifest:
    """Return the manifest of a directory. Raise BadInput if it cannot be read or is invalid."""
    try:
        return Manifest.from_json(directory.read(FILE_NAME))
    except ValueError as error:
        raise BadInput(
            f"{directory.uri}/{FILE_NAME}: {error}; generate the dataset again with --overwrite"
        ) from error


def _require_manifest(directory: Directory) -> Manifest:
    if directory.has(FILE_NAME):
        return read_manifest(directory)
    if directory.has(MARKER):
        raise BadInput(
            f"{directory.uri} is not finished: {writer_of(directory)} writes it, or was killed; wait, or "
            "generate it again with --overwrite"
        )
    raise BadInput(
        f"{directory.uri} is not a dataset (no {FILE_NAME}); write it with datagen/generate.py"
    )


def observe_files(storage: Storage, directory: Directory, names: Collection[str]) -> StoredFiles:
    """Return how these files are stored. Raise BadInput if one of them no longer exists."""
    stored = storage.observe(directory, names)
    gone = sorted(set(names) - stored.files.keys())
    if gone:
        raise BadInput(
            f"{directory.uri} changed while it was observed: it lost {count_of(len(gone), 'file')} "
            f"(first: {gone[0]}); repeat the command when nothing writes there"
        )
    return stored


def in_brackets(explanation: str) -> str:
    """Return ` (explanation)`, or nothing for an empty explanation."""
    if not explanation:
        return ""
    return f" ({explanation})"


def data_files(entries: Mapping[str, FileStatus]) -> dict[str, int]:
    """Return the length in bytes of each file that Spark would read, by name."""
    return {entry.name: entry.bytes for entry in entries.values() if is_data(entry)}


def file_differences(manifest: Manifest, entries: Mapping[str, FileStatus]) -> str | None:
    """Return how the files differ from the manifest in name and length; None if they do not."""
    expected = manifest.files
    found = data_files(entries)
    common = expected.keys() & found.keys()
    differing = {
        "missing": expected.keys() - found.keys(),
        "not in the manifest": found.keys() - expected.keys(),
        "of another length": {name for name in common if expected[name] != found[name]},
    }
    differences = [
        f"{len(names)} {difference} (first: {min(names)})"
        for difference, names in differing.items()
        if names
    ]
    if not differences:
        return None
    return f"of {len(expected)} files, {', '.join(differences)}"


def fingerprint(manifest: Manifest, entries: Mapping[str, FileStatus]) -> str:
    """Return a digest of the manifest's, and of length and time of change of each of its files."""
    files = sorted((name, entries[name].bytes, entries[name].changed_ms) for name in manifest.files)
    return hashlib.sha256(json.dumps([manifest.digest, files]).encode()).hexdigest()[:16]


def row_hash(columns: Collection[str]) -> str:
    """Return the expression of a hash of these columns of a row, a signed integer of 40 bits.

    The sum over billions of rows fits in 64 bits, and does not depend on their order.
    """
    return f"shiftright(xxhash64({', '.join(columns)}), 24)"


def digest_expression(columns: Collection[str]) -> str:
    """Return the aggregate over all rows that `digest_text` turns into the digest in a manifest."""
    return f"try_sum({row_hash(columns)})"


def digest_text(total: int | None) -> str:
    """Return the digest of rows as it is in a manifest; None is the sum over no rows."""
    return f"{(total or 0) & (2**64 - 1):016x}"


def verify_content(spark: SparkSession, dataset: Dataset) -> None:
    """Read every row once. Raise BadInput unless their number, digest, sums and seed are the manifest's."""
    recipe = dataset.manifest.recipe
    totals = dataset.manifest.totals
    scale = recipes.SCALE
    sums = dataset.frame(spark).selectExpr(
        "count(*) as rows",
        f"{digest_expression(recipes.COLUMNS)} as digest",
        "sum(integer_val) as integers",
        # The nearest double to a draw of 15 digits, times 10^9, is less than half from the draw.
        f"sum(cast(round(float_val * {scale}D) as long) - integer_val * {scale}L) as fractions",
        f"max(value = '{recipes.row(recipe.seed, 0).value}') as has_first_row",
    )
    with spark_errors_as_one_line(f"{dataset.uri} cannot be read", BadInput):
        found = sums.collect()[0]
    integers = found["integers"] or 0
    compared = (
        ("number of rows", found["rows"], recipe.rows),
        ("digest", digest_text(found["digest"]), dataset.manifest.digest),
        ("integer_sum", integers, totals.integer_sum),
        ("float_sum_e9", integers * scale + (found["fractions"] or 0), totals.float_sum_e9),
    )
    differences = [
        f"its {name} is {value}, not {right}" for name, value, right in compared if value != right
    ]
    if not differences and recipe.rows and not found["has_first_row"]:
        differences = [f"it has no row 0 of seed {recipe.seed}"]
    if differences:
        raise BadInput(
            f"{dataset.uri} differs from its manifest: {'; '.join(differences)}; "
            "generate it again with --overwrite"
        )
