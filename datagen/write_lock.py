"""Who may write into a directory: one generation at a time, and nothing of anybody else is touched.

The claim is a marker file that lies there from before the first row until after the manifest. It
holds a token of the generation that made it: one whose token was replaced has lost the directory.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field

from datagen.dataset import GENERATING, INVALID
from datagen.manifest import FILE_NAME
from datagen.spark.filesystem import Directory, Entry
from harness.model.errors import BadInput, ClusterliftError

PART = r"part-\d{5,}-[0-9a-f-]{36}-c\d{3,}\.[a-z.]+"
OURS = re.compile(
    rf"{FILE_NAME}|{GENERATING}|{INVALID}|_SUCCESS|{PART}|\.(_SUCCESS|{PART})\.crc|_unborn\..+"
)
UNCOMMITTED = "_temporary"
"""The directory in which Spark writes what is not committed; the only one that is ever deleted."""


@dataclass(frozen=True)
class WriteLock:
    """The right to write into a directory."""

    directory: Directory
    replaced: bool = False
    token: str = field(default_factory=lambda: secrets.token_hex(16))

    def check(self) -> None:
        """Raise ClusterliftError if another generation has taken the directory over."""
        entries = self.directory.entries()
        if GENERATING not in entries or self.directory.read(GENERATING) != self.token:
            raise ClusterliftError(
                f"{self.directory.uri} was taken over by another generation; this one is void"
            )

    def release(self) -> None:
        """Take the marker away. The manifest, or what is in its place, lies there by now."""
        self.directory.delete(GENERATING)


def lock_directory(
    directory: Directory, *, overwrite: bool, replace_half_written: bool
) -> WriteLock:
    """Make the directory ours, and empty but for the marker.

    Raises BadInput, and touches nothing, if anything lies there that may not be replaced.
    """
    entries = check_claimable(
        directory, overwrite=overwrite, replace_half_written=replace_half_written
    )
    directory.create()
    made = WriteLock(directory, replaced=bool(entries))
    if entries:
        directory.write(GENERATING, made.token)
    else:
        directory.create_new(GENERATING, made.token)
    # The manifest goes first: from here on, nothing takes what is left for a dataset.
    for name in sorted(entries, key=lambda name: name != FILE_NAME):
        if name != GENERATING:
            directory.delete(name)
    return made


def check_claimable(
    directory: Directory, *, overwrite: bool, replace_half_written: bool
) -> Mapping[str, Entry]:
    """What lies in the directory and may be replaced.

    Raises BadInput, and touches nothing, if something must not be.
    """
    if directory.path.isRoot():
        raise BadInput(f"{directory.uri} is the root directory; name one below it")
    entries = directory.entries() if directory.exists() else {}
    _check_replaceable(directory.uri, entries)
    whole = FILE_NAME in entries
    if entries and not (overwrite or (replace_half_written and not whole)):
        state = "a dataset already" if whole else "a half-written dataset"
        state = "a dataset that is not valid" if INVALID in entries else state
        raise BadInput(f"{directory.uri} is {state}; --overwrite replaces it")
    return entries


def _check_replaceable(uri: str, entries: Mapping[str, Entry]) -> None:
    foreign = sorted(
        entry.name
        for entry in entries.values()
        if not (entry.name == UNCOMMITTED if entry.is_directory else OURS.fullmatch(entry.name))
    )
    if foreign:
        raise BadInput(
            f"{uri} holds what is no part of a dataset (first: {foreign[0]}); "
            "move it away, or choose another place"
        )
    if entries and not {FILE_NAME, GENERATING, INVALID} & entries.keys():
        raise BadInput(
            f"{uri} holds files that no manifest vouches for (first: {min(entries)}); "
            "choose another place"
        )
