"""A lock on a directory: one generation at a time writes there, and nobody else's files are touched.

The lock is a marker file with a random token. It exists from before the first row until after the
manifest. A generation whose token has been replaced has lost the directory to another one.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from datagen.dataset import GENERATING, INVALID
from datagen.filesystem import TEMPORARY_PREFIX, Directory, Entry
from datagen.manifest import FILE_NAME
from harness.model.errors import BadInput, ClusterliftError

PART = r"part-\d{5,}-[0-9a-f-]{36}-c\d{3,}\.[a-z.]+"
OURS = re.compile(
    rf"{FILE_NAME}|{GENERATING}|{INVALID}|_SUCCESS|{PART}|\.(_SUCCESS|{PART})\.crc"
    rf"|{TEMPORARY_PREFIX}.+"
)
UNCOMMITTED = "_temporary"
"""The directory in which Spark writes uncommitted files: the only directory that is ever deleted."""


@dataclass(frozen=True)
class WriteLock:
    """The right to write into a directory. `replaced` is whether it had files before."""

    directory: Directory
    replaced: bool = False
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def check(self) -> None:
        """Raise ClusterliftError if another generation has taken over the directory."""
        entries = self.directory.entries()
        if GENERATING not in entries or self.directory.read(GENERATING) != self.token:
            raise ClusterliftError(
                f"{self.directory.uri} was taken over by another generation; this one is void"
            )

    def release(self) -> None:
        """Delete the marker. The manifest, or the file that explains its absence, must exist by now."""
        self.directory.delete(GENERATING)


def lock_directory(
    directory: Directory, *, overwrite: bool, replace_half_written: bool
) -> WriteLock:
    """Lock the directory and delete everything in it except the marker.

    Raises BadInput, and changes nothing, if the directory holds anything that may not be replaced.
    """
    entries = check_replaceable(
        directory, overwrite=overwrite, replace_half_written=replace_half_written
    )
    directory.create()
    lock = WriteLock(directory, replaced=bool(entries))
    if entries:
        directory.write(GENERATING, lock.token)
    else:
        directory.create_new(GENERATING, lock.token)
    # The manifest goes first: from then on, nothing takes the remaining files for a dataset.
    for name in sorted(entries, key=lambda name: name != FILE_NAME):
        if name != GENERATING:
            directory.delete(name)
    return lock


def check_replaceable(
    directory: Directory, *, overwrite: bool, replace_half_written: bool
) -> Mapping[str, Entry]:
    """Return what is in the directory and will be replaced.

    Raises BadInput if it may not be replaced: foreign files never, a dataset only with `overwrite`, a
    half-written or invalid one also with `replace_half_written`.
    """
    if directory.path.isRoot():
        raise BadInput(f"{directory.uri} is the root directory; choose a directory below it")
    entries = directory.entries() if directory.exists() else {}
    _check_no_foreign_files(directory.uri, entries)
    complete = FILE_NAME in entries
    if entries and not (overwrite or (replace_half_written and not complete)):
        state = "a dataset already" if complete else "a half-written dataset"
        state = "a dataset that is not valid" if INVALID in entries else state
        raise BadInput(f"{directory.uri} is {state}; --overwrite replaces it")
    return entries


def _check_no_foreign_files(uri: str, entries: Mapping[str, Entry]) -> None:
    foreign = sorted(
        entry.name
        for entry in entries.values()
        if not (entry.name == UNCOMMITTED if entry.is_directory else OURS.fullmatch(entry.name))
    )
    if foreign:
        raise BadInput(
            f"{uri} contains something that is not part of a dataset (first: {foreign[0]}); "
            "move it elsewhere, or choose another directory"
        )
    if entries and not {FILE_NAME, GENERATING, INVALID} & entries.keys():
        raise BadInput(
            f"{uri} contains files, but neither a manifest nor a marker of an unfinished generation "
            f"(first: {min(entries)}); choose another directory"
        )
