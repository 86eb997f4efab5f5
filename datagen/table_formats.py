"""Tables that are more than their files: as plain files, old versions of their rows would count, too."""

from __future__ import annotations  # for Python 3.8

import os
import re
from collections.abc import Iterable, Iterator

from pyspark.sql import SparkSession

from datagen.filesystem import Directory
from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import join_names

BY_DIRECTORY = {
    "delta": ("_delta_log",),
    "iceberg": ("metadata",),
    "hudi": (".hoodie",),
    "paimon": ("snapshot", "manifest", "schema"),
}
"""What the directory of a table of each format has; Spark reads it in this format if it has the jar."""
STREAM = "_spark_metadata"
"""The directory that Spark's streams write beside their files: it knows which of them are whole."""

_OF_ICEBERG = (".metadata.json", "version-hint.text")
_OF_HIVE = re.compile(r"(base|(delete_)?delta_\d{7,})_\d{7,}")
"""Names of directories in transactional tables of Hive."""
_MOST_PARENTS = 32


def formats_at(directory: Directory) -> list[str]:
    """Return the formats in which a directory is a whole table; no format for plain files."""
    found = [name for name, marks in BY_DIRECTORY.items() if all(map(directory.has, marks))]
    if "iceberg" in found and not _is_iceberg(directory):
        found.remove("iceberg")
    return found


def require_whole(spark: SparkSession, context: str, directory: Directory, format_: str) -> None:
    """Raise BadInput if a directory lies in a table of another format than `format_`.

    Where the directories above cannot be looked at, that is said.
    """
    for parent in _parents(spark, directory):
        try:
            found = formats_at(parent)
            is_stream = parent.has(STREAM)
        except BadInput as error:
            say(f"{context}: whether it is a part of a larger table is not known: {error}")
            return
        if found and format_ not in found:
            raise BadInput(
                f"{context} lies in {parent.uri}, a table of the format {join_names(found)}, and old "
                "versions of its rows would count, too; name that directory"
            )
        if is_stream:
            raise BadInput(
                f"{context} lies in {parent.uri}, which a stream of Spark writes, and unfinished files would "
                "count, too; name that directory"
            )


def require_plain(context: str, names: Iterable[str]) -> None:
    """Raise BadInput if one of these directories is of a transactional table of Hive."""
    found = [name for name in names if _OF_HIVE.match(name)]
    if found:
        raise BadInput(
            f"{context} has {found[0]}, as transactional tables of Hive have, and deleted or unfinished rows "
            "would count, too; copy its rows to plain files"
        )


def _parents(spark: SparkSession, directory: Directory) -> Iterator[Directory]:
    """Yield the directories above one, from below; above the target of a link, if it is one."""
    path = directory.path
    if directory.local_path:
        path = Directory(spark, f"file://{os.path.realpath(directory.local_path)}").path
    for _ in range(_MOST_PARENTS):
        path = path.getParent()
        if path is None:
            return
        yield Directory(spark, str(path.toString()))


def _is_iceberg(directory: Directory) -> bool:
    metadata = directory.below("metadata")
    try:
        return any(name.endswith(_OF_ICEBERG) for name in metadata.entries())
    except BadInput:  # a file of this name
        return False
