"""A table of the user's: files at a URI, read as they are; how they are stored is observed, not demanded."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import DataFrame, SparkSession

from datagen.dataset import is_data
from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.spark import spark_errors_as_one_line
from datagen.storage import Storage, locate, storages
from harness.model.errors import BadInput
from harness.model.layout import UNKNOWN
from harness.terminal import say
from harness.words import join_names

BY_SUFFIX, BY_DIRECTORY = ("parquet", "orc", "csv"), {"_delta_log": "delta", "metadata": "iceberg"}
"""The formats that files have in their names, and those of tables that have such a directory."""
FORMATS = (*BY_SUFFIX, *BY_DIRECTORY.values())
MAX_DIRECTORIES = 1000
"""The storage is asked for the files of each; a table of more partitions has a layout that is not known."""


@dataclass(frozen=True)
class FilesIn:
    """The files of a directory, and how they were stored when the run began."""

    directory: Directory
    stored: StoredFiles


@dataclass(frozen=True)
class Table:
    """A table; `places` are the directories of its files, None if they are too many or on another storage."""

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
        """Return what a run records; bytes and files are those below the URI, of old versions, too."""
        layouts = dict.fromkeys(
            str(each) for place in self.places or () for each in place.stored.layouts
        )
        return {
            "uri": self.uri,
            "format": self.format_,
            "bytes": self.bytes,
            "files": self.files,
            "layout": ", ".join(layouts) or str(UNKNOWN),
        }


def open_table(spark: SparkSession, name: str, given: str) -> Table:
    """Return the table that `--table NAME=[FORMAT:]URI` gives. Raise BadInput unless Spark can read it."""
    head, _, rest = given.partition(":")
    format_, uri = (head, rest) if head in FORMATS else ("", given)
    scheme = urlsplit(uri).scheme
    storage: Storage | None = None
    if not scheme or scheme.lower() in storages():
        directory, storage = locate(spark, uri)
    else:
        directory = Directory(spark, uri)
    if not directory.exists():
        raise BadInput(f"--table {name}: {directory.uri} does not exist")
    with directory.errors_as_bad_input():
        length = int(directory.fs.getContentSummary(directory.path).getLength())
        is_file = bool(directory.fs.getFileStatus(directory.path).isFile())
        parent, file = directory.path.getParent(), str(directory.path.getName())
    if is_file:
        listed = [(Directory(spark, str(parent.toString())), [file])]
    else:
        listed = list(islice(_listed(directory), MAX_DIRECTORIES + 1))
    is_whole = len(listed) <= MAX_DIRECTORIES
    names = [file for _, files in listed for file in files]
    format_ = format_ or _format(name, directory, names, is_file=is_file)
    hint = "" if format_ in BY_SUFFIX else " (submit with its --packages or --jars)"
    with spark_errors_as_one_line(
        f"--table {name}: {directory.uri} cannot be read as {format_}{hint}", BadInput
    ):
        # Without this every column of CSV would be text; it reads the files once, before all trials.
        csv = {"header": True, "inferSchema": True} if format_ == "csv" else {}
        frame = spark.read.format(format_).options(**csv).load(directory.uri)
    places = _places(name, storage, listed) if storage and is_whole else None
    files_found = len(names) if is_whole else None
    return Table(name, directory.uri, format_, frame, length, files_found, places)


def _listed(directory: Directory) -> Iterator[tuple[Directory, list[str]]]:
    """Yield each directory that Spark would read, with the names of its files."""
    entries = [entry for entry in directory.entries().values() if is_data(entry)]
    yield directory, [entry.name for entry in entries if not entry.is_directory]
    for entry in entries:
        if entry.is_directory:
            yield from _listed(directory.below(entry.name))


def _format(name: str, directory: Directory, files: list[str], *, is_file: bool) -> str:
    """Return the format that directories and names of files show. Raise BadInput unless it is one."""
    entries: Mapping[str, Any] = {} if is_file else directory.entries()
    found = {format_ for inside, format_ in BY_DIRECTORY.items() if inside in entries} or {
        format_ for format_ in BY_SUFFIX for file in files if f".{format_}" in file.lower()
    }
    if len(found) == 1:
        return found.pop()
    shown = f"has {join_names(files)}" if files else "has no files"
    raise BadInput(
        f"--table {name}: {directory.uri} {shown}, of which the format is not clear; "
        f"write {name}=FORMAT:URI with a FORMAT of {', '.join(FORMATS)}"
    )


def _places(
    name: str, storage: Storage, listed: list[tuple[Directory, list[str]]]
) -> tuple[FilesIn, ...] | None:
    """Return how the storage stores the files; None if it cannot be asked."""
    try:
        return tuple(FilesIn(each, storage.observe(each, files)) for each, files in listed if files)
    except BadInput as error:
        say(f"--table {name}: how its files are stored is not known: {error}")
        return None
