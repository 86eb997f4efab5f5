"""A recipe stored at a URI: written once, proven whole before it is read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from datagen import recipe as recipes
from datagen.manifest import FILE_NAME, Format, Manifest
from datagen.observed_layout import StoredFiles
from datagen.spark.errors import spark_errors_as_one_line
from datagen.spark.filesystem import Directory, Entry
from datagen.storage import Storage, locate
from harness.model.errors import BadInput

GENERATING = "_generating"
"""A marker that lies in a dataset's directory from before its first row until after its manifest."""

INVALID = "_invalid"
"""Lies in place of a manifest where what was written is not what was asked for, and says why not."""


def is_data(entry: Entry) -> bool:
    """Whether Spark would read it: neither hidden nor one of the files about the data."""
    return not entry.name.startswith((".", "_"))


@dataclass(frozen=True)
class Dataset:
    """A dataset that has a manifest and all the files that the manifest names.

    `stored` is how they lie now; `drift` says in what that is not what the manifest says, None if in
    nothing.
    """

    directory: Directory
    manifest: Manifest
    stored: StoredFiles
    drift: str | None = None

    @property
    def uri(self) -> str:
        return self.directory.uri

    def frame(self, spark: SparkSession) -> DataFrame:
        """The rows, as the six columns of the recipe, read anew by every action."""
        reader = spark.read.schema(recipes.SCHEMA)
        if self.manifest.format is Format.PARQUET:
            return reader.parquet(self.uri)
        return reader.csv(self.uri, header=True)

    def as_facts(self) -> dict[str, Any]:
        """What a run records of it: the manifest, and what was observed when the run began."""
        facts = self.manifest.as_facts()
        layouts = [str(layout) for layout in self.stored.layouts]
        observed = {"observed": ", ".join(layouts) or None, "drift": self.drift}
        return {
            "uri": self.uri,
            **facts,
            "layout": facts["layout"] | observed,
            **self.stored.as_facts(),
        }


def open_dataset(spark: SparkSession, uri: str, *, accept_layout_drift: bool = False) -> Dataset:
    """The dataset at a URI: its files held against its manifest by name and length, and by layout.

    Raises BadInput if there is nothing, no manifest, or other files than the manifest says; and if
    one of them lies in another layout, or lacks a part of it, unless that drift is accepted.
    """
    directory, storage = locate(spark, uri)
    if not directory.exists():
        raise BadInput(f"{directory.uri} does not exist; write it with datagen/generate.py")
    manifest = _manifest(directory)
    if other := file_differences(manifest, directory.entries()):
        raise BadInput(
            f"{directory.uri} is not what its manifest says: {other}; write it anew with --overwrite"
        )
    stored = observed(storage, directory, manifest.files)
    drift = stored.problem(manifest.observed_layout)
    if drift and not accept_layout_drift:
        raise BadInput(
            f"{directory.uri} is not what its manifest says, {manifest.observed_layout}: {drift}"
            f"{reason(storage.why(manifest.observed_layout, stored))}. Repair it, write it anew with "
            "--overwrite, or benchmark it as it is with --accept-layout-drift"
        )
    return Dataset(directory, manifest, stored, drift)


def observed(storage: Storage, directory: Directory, names: Collection[str]) -> StoredFiles:
    """How these files lie. Raises BadInput if one of them is not there any more."""
    stored = storage.observe(directory, names)
    if gone := sorted(set(names) - stored.files.keys()):
        raise BadInput(
            f"{directory.uri} changed while it was observed: {len(gone)} files are gone "
            f"(first: {gone[0]})"
        )
    return stored


def reason(why: str) -> str:
    """A known reason, to be put behind what is wrong."""
    return f" ({why})" if why else ""


def _manifest(directory: Directory) -> Manifest:
    entries = directory.entries()
    if INVALID in entries:
        raise BadInput(
            f"{directory.uri} is not valid: {directory.read(INVALID)}; write it anew with --overwrite"
        )
    if FILE_NAME not in entries:
        state = "half-written" if GENERATING in entries else f"not a dataset (no {FILE_NAME})"
        raise BadInput(f"{directory.uri} is {state}; write it with datagen/generate.py")
    try:
        return Manifest.from_json(directory.read(FILE_NAME))
    except ValueError as error:
        raise BadInput(
            f"{directory.uri}/{FILE_NAME}: {error}; write the dataset anew with --overwrite"
        ) from error


def data_files(entries: Mapping[str, Entry]) -> dict[str, int]:
    """Name and bytes of the files that Spark would read."""
    return {entry.name: entry.bytes for entry in entries.values() if is_data(entry)}


def file_differences(manifest: Manifest, entries: Mapping[str, Entry]) -> str | None:
    """In what the files differ from the manifest's by name and length; None if in nothing."""
    expected, found = manifest.files, data_files(entries)
    missing = sorted(expected.keys() - found.keys())
    extra = sorted(found.keys() - expected.keys())
    changed = sorted(n for n in expected.keys() & found.keys() if expected[n] != found[n])
    differences = [
        f"{len(names)} {what} (first: {names[0]})"
        for names, what in (
            (missing, "missing"),
            (extra, "not in the manifest"),
            (changed, "of another length"),
        )
        if names
    ]
    return f"of {len(expected)} files, {', '.join(differences)}" if differences else None


# A row's part in the digest is signed and 40 bits wide, so a sum of billions of them stays far from
# 64 bits. It is the sum that makes the digest independent of the rows' order.
ROW_HASH = f"shiftright(xxhash64({', '.join(recipes.COLUMNS)}), 24)"
DIGEST = f"try_sum({ROW_HASH})"


def digest_text(total: int | None) -> str:
    """The digest as a manifest has it; None is the sum over no rows."""
    return f"{(total or 0) & (2**64 - 1):016x}"


def verify_content(spark: SparkSession, dataset: Dataset) -> None:
    """Read every row once and hold count and digest against the manifest; raises BadInput."""
    sums = dataset.frame(spark).selectExpr("count(*) as rows", f"{DIGEST} as digest")
    with spark_errors_as_one_line(f"{dataset.uri} cannot be read", BadInput):
        found = sums.collect()[0]
    manifest = dataset.manifest
    if (found["rows"], digest_text(found["digest"])) != (manifest.recipe.rows, manifest.digest):
        raise BadInput(
            f"{dataset.uri} is not what its manifest says: it holds {found['rows']:,} rows of digest "
            f"{digest_text(found['digest'])}, not {manifest.recipe.rows:,} of {manifest.digest}; "
            "write it anew with --overwrite"
        )
