"""A table of the user's: files at a URI, read as they are; how they are stored is observed, not demanded."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession

from datagen.csv_options import csv_options, parse_csv_options, read_csv, require_names
from datagen.dataset import is_data
from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.spark import spark_errors_as_one_line
from datagen.storage import Storage, locate, storages
from datagen.table_formats import BY_DIRECTORY, formats_at, require_plain, require_whole
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import join_names
from harness.model.layout import UNKNOWN

BY_SUFFIX = ("parquet", "orc", "csv")
"""The formats that files have in their names."""
FORMATS = (*BY_SUFFIX, *BY_DIRECTORY)
MAX_DIRECTORIES = 1000
"""The storage is asked for the files of each. A table of more partitions has a layout that is not known."""


@dataclass(frozen=True)
class Listed:
    """The names of files in a directory. `below` is its path below the table's directory."""

    directory: Directory
    below: str
    files: list[str]


@dataclass(frozen=True)
class FilesIn:
    """The files of a directory, and how they were stored when the run began."""

    directory: Directory
    stored: StoredFiles


@dataclass(frozen=True)
class Table:
    """A table. `places` are the directories of its files, None if they are too many or on another storage.

    `format_` has the options of CSV, too, those that were given and those that its files need.
    """

    name: str
    uri: str
    format_: str
    frame: DataFrame
    bytes: int
    files: int | None
    places: tuple[FilesIn, ...] | None

    def register(self) -> None:
        """Let queries find it under its name."""
        self.frame.createOrReplaceTempView(self.name)

    def as_facts(self) -> dict[str, Any]:
        """Return what a run records.

        Bytes and files are all below the URI, also of old versions.
        """
        layouts: dict[str, None] = {}
        for place in self.places or ():
            layouts.update(dict.fromkeys(map(str, place.stored.layouts)))
        return {
            "uri": self.uri,
            "format": self.format_,
            "bytes": self.bytes,
            "files": self.files,
            "layout": ", ".join(layouts) or str(UNKNOWN),
        }


def open_table(spark: SparkSession, name: str, given: str) -> Table:
    """Return the table that `--table NAME=[FORMAT[,OPTION=VALUE...]:]URI` gives.

    Raise BadInput unless Spark can read it, and reads each row once.
    """
    format_, options, uri = parsed_table(name, given)
    scheme = urlsplit(uri).scheme
    storage: Storage | None = None
    if not scheme or scheme.lower() in storages():
        directory, storage = locate(spark, uri)
    else:
        directory = _elsewhere(spark, name, uri)
    context = f"--table {name}: {directory.uri}"
    if not directory.exists():
        raise BadInput(f"{context} does not exist")
    with directory.errors_as_bad_input():
        length = int(directory.fs.getContentSummary(directory.path).getLength())
        is_file = bool(directory.fs.getFileStatus(directory.path).isFile())
        parent = directory.path.getParent()
        file = str(directory.path.getName())
    formats: list[str] = []
    if is_file:
        listed = [Listed(Directory(spark, str(parent.toString())), "", [file])]
    else:
        listed = list(islice(_listed(directory), MAX_DIRECTORIES + 1))
        formats = formats_at(directory)
    is_whole = len(listed) <= MAX_DIRECTORIES
    if not formats:
        require_whole(spark, context, directory, format_)
        require_plain(context, [str(place.directory.path.getName()) for place in listed])
        listed = _read_by_spark(listed)
    listed = without_metadata(listed, formats)
    names = [file for place in listed for file in place.files]
    format_ = format_ or _format(name, directory, names, formats)
    if formats and format_ in BY_SUFFIX:
        raise BadInput(
            f"{context} is a table of the format {' and '.join(formats)}; as {format_}, old versions of its "
            f"rows would count, too: write {name}={formats[0]}:URI"
        )
    frame = _frame(spark, name, directory.uri, format_, options)
    recorded = ",".join([format_, *(f"{option}={value}" for option, value in options.items())])
    places = None
    if storage and is_whole:
        places = _places(name, storage, listed)
    return Table(
        name, directory.uri, recorded, frame, length, len(names) if is_whole else None, places
    )


def _frame(
    spark: SparkSession, name: str, uri: str, format_: str, options: dict[str, str]
) -> DataFrame:
    """Return the rows; options of CSV that the files need are added to those that are given."""
    context = f"--table {name}: {uri}"
    hint = ""
    if format_ not in BY_SUFFIX:
        hint = " (submit with its --packages or --jars)"
    with spark_errors_as_one_line(f"{context} cannot be read as {format_}{hint}", BadInput):
        if format_ != "csv":
            return spark.read.format(format_).load(uri)
        options.update(csv_options(spark, context, uri, options))
        frame = read_csv(spark, uri, options)
        require_names(context, name, frame, options)
        return frame


def parsed_table(name: str, given: str) -> tuple[str, dict[str, str], str]:
    """Return the format, empty if none is given, its options, and the URI.

    Raise BadInput if what stands before the colon is no format, and cannot be a part of a URI or a path.
    """
    head, colon, uri = given.partition(":")
    word, *texts = head.split(",")
    format_ = word.lower()
    if not colon or format_ not in FORMATS:
        is_path = not colon or "/" in head
        is_uri = not texts and uri.startswith("/")
        if not is_path and not is_uri:
            raise BadInput(
                f"--table {name}: {word!r} before the colon is no format; write {_forms(name)}"
            )
        return "", {}, given
    if texts and format_ != "csv":
        raise BadInput(f"--table {name}: {head!r}: only csv has options")
    try:
        return format_, parse_csv_options(texts), uri
    except ValueError as error:
        raise BadInput(f"--table {name}: {error}") from error


def _forms(name: str) -> str:
    """Return how a table can be given."""
    return f"{name}=FORMAT:URI with a FORMAT of {', '.join(FORMATS)}, or {name}=URI"


def _elsewhere(spark: SparkSession, name: str, uri: str) -> Directory:
    """Return a directory on a file system that is no storage of ours. Raise BadInput if Hadoop has none."""
    try:
        return Directory(spark, uri)
    except BadInput as error:
        word = uri.partition(":")[0]
        raise BadInput(
            f"--table {name}: {error}; if {word!r} is meant as a format, it is not known: "
            f"write {_forms(name)}"
        ) from error


def _listed(directory: Directory, below: str = "") -> Iterator[Listed]:
    """Yield a directory, and each one below that may have data, with the names of its files."""
    entries = [entry for entry in directory.entries().values() if is_data(entry)]
    yield Listed(directory, below, [entry.name for entry in entries if not entry.is_directory])
    for entry in entries:
        if entry.is_directory:
            yield from _listed(directory.below(entry.name), f"{below}/{entry.name}")


def without_metadata(listed: list[Listed], formats: list[str]) -> list[Listed]:
    """Return the directories that have rows; a table of these formats has others, about its versions."""
    marks = {mark for format_ in formats for mark in BY_DIRECTORY[format_]}
    return [place for place in listed if place.below.strip("/").split("/")[0] not in marks]


def _read_by_spark(listed: list[Listed]) -> list[Listed]:
    """Return the directories whose files Spark reads: without partitions, the first one alone."""
    if any("=" in place.below for place in listed if place.files):
        return listed
    return listed[:1]


def _format(name: str, directory: Directory, files: list[str], formats: list[str]) -> str:
    """Return the format that directories and names of files show. Raise BadInput unless it is one."""
    text = "\n".join(files).lower()
    found = formats or [format_ for format_ in BY_SUFFIX if f".{format_}" in text]
    if len(found) == 1:
        return found[0]
    shown = "has no files that Spark reads"
    if formats:
        shown = f"is a table of the formats {' and '.join(formats)}"
    elif files:
        shown = f"has {join_names(files)}"
    raise BadInput(
        f"--table {name}: {directory.uri} {shown}, so its format is not clear; "
        f"write {name}=FORMAT:URI with a FORMAT of {', '.join(FORMATS)}"
    )


def _places(name: str, storage: Storage, listed: list[Listed]) -> tuple[FilesIn, ...] | None:
    """Return how the storage stores the files; None if it cannot be asked."""
    try:
        return tuple(
            FilesIn(place.directory, storage.observe(place.directory, place.files))
            for place in listed
            if place.files
        )
    except BadInput as error:
        say(f"--table {name}: how its files are stored is not known: {error}")
        return None
