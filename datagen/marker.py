"""A directory in which generate.py writes a dataset, from the first change to the last.

    _generating      the marker: names the process that writes; the first file to come, the last to go
    part-...         the data
    _dataset.json    the manifest: a directory with it is a dataset; written last, deleted first

Wherever generate.py is killed, it leaves a whole dataset or none. What it leaves carries the marker, so the
next generate.py may delete it. If the first one still runs, it finds another marker than its own, and stops.
"""

import os
import re
import secrets
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from datagen.filesystem import TEMPORARY_PREFIX, Directory, Entry
from datagen.manifest import FILE_NAME
from harness.model.errors import BadInput, ClusterliftError
from harness.model.run import timestamp
from harness.node.processes import own_identity
from harness.runtime.interrupt import deferred_signals
from harness.words import first_line, shorten

MARKER = "_generating"
UNCOMMITTED = "_temporary"
"""The directory in which Spark writes uncommitted files."""

PART = r"part-\d{5,}-[0-9a-f-]{36}-c\d{3,}\.[a-z0-9_.]+"
OURS = re.compile(
    rf"{re.escape(FILE_NAME)}|{MARKER}|_SUCCESS|{PART}|\.(_SUCCESS|{PART})\.crc"
    rf"|{re.escape(TEMPORARY_PREFIX)}.+"
)
"""The names of the files that generate.py writes, and that Spark and Hadoop write for it."""


def check_replaceable(directory: Directory, *, overwrite: bool, reuse: bool) -> None:
    """Raise BadInput if no dataset may be written into a directory.

    Foreign files are never replaced, a dataset only with `overwrite`, an unfinished one also with `reuse`.
    """
    entries = directory.entries() if directory.exists() else {}
    if foreign := sorted(name for name, entry in entries.items() if not _is_ours(entry)):
        raise BadInput(
            f"{directory.uri} contains something that is not part of a dataset "
            f"(first: {foreign[0]}); move it elsewhere, or choose another directory"
        )
    if entries and not {FILE_NAME, MARKER} & entries.keys():
        raise BadInput(
            f"{directory.uri} contains files, but neither a manifest nor the marker of an unfinished "
            f"dataset (first: {min(entries)}); choose another directory"
        )
    if FILE_NAME in entries and not overwrite:
        raise BadInput(f"{directory.uri} is a dataset already; --overwrite replaces it")
    if MARKER in entries and not (overwrite or reuse):
        raise BadInput(
            f"{directory.uri} is not finished: {writer_of(directory)} writes it, or was killed; "
            "if that process has ended, --overwrite starts again"
        )


def writer_of(directory: Directory) -> str:
    """Return what the marker says about the process that writes."""
    return shorten(first_line(directory.read(MARKER), "an unknown process"), 200)


@dataclass(frozen=True)
class Marker:
    """The marker that this process puts into a directory; `token` is its own and no other's."""

    directory: Directory
    token: str
    text: str

    @classmethod
    def put(cls, directory: Directory, *, take_over: bool) -> Self:
        """Create the directory and the marker. Raise BadInput if there is a marker, unless `take_over`."""
        token = secrets.token_hex(8)
        process = f"process {os.getpid()} on {socket.gethostname()}, since {timestamp()}, {token}"
        directory.create()
        marker = cls(directory, token, f"{process}\n{own_identity()}")
        directory.create_file(MARKER, marker.text, overwrite=take_over)
        return marker

    def is_there(self) -> bool:
        """Return whether no other process has replaced it."""
        return self.directory.has(MARKER) and self.directory.read(MARKER) == self.text

    def check(self) -> None:
        """Raise ClusterliftError unless it is there."""
        if not self.is_there():
            raise ClusterliftError(
                f"another process took over writing {self.directory.uri}, and this one stopped; wait until "
                "that one has finished"
            )


@contextmanager
def generating(directory: Directory, *, take_over: bool) -> Iterator[Callable[[], None]]:
    """Mark the directory, and delete what generate.py has written into it, if that may be replaced.

    Yields a function that raises ClusterliftError if another process has replaced the marker: call it
    before the manifest is written. If an error leaves the block, what was written is deleted. Raises
    BadInput if there is a marker, unless `take_over`.
    """
    is_new = not directory.exists()
    marker: Marker | None = None
    try:
        marker = Marker.put(directory, take_over=take_over)
        clear(directory)
        yield marker.check
    except BaseException:
        # Spark may have ended, and with it the way to the file system.
        with suppress(KeyboardInterrupt, BadInput, OSError), deferred_signals():
            if marker and marker.is_there():
                clear(directory)
                directory.delete(MARKER)
            if is_new:
                directory.remove_empty()
        raise
    directory.delete(MARKER)


def clear(directory: Directory) -> None:
    """Delete what Spark and we have written, but the marker; the manifest goes first."""
    for entry in sorted(directory.entries().values(), key=lambda entry: entry.name != FILE_NAME):
        if _is_ours(entry) and entry.name != MARKER:
            directory.delete(entry.name)


def _is_ours(entry: Entry) -> bool:
    if entry.is_directory:
        return entry.name == UNCOMMITTED
    return bool(OURS.fullmatch(entry.name))
