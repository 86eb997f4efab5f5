"""Where a dataset may be written: not over foreign files, and not inside another dataset."""

import re
from collections.abc import Callable, Mapping

from datagen.filesystem import TEMPORARY_PREFIX, Directory, Entry
from datagen.manifest import FILE_NAME
from harness.model.errors import BadInput

HALF_WRITTEN = "_generating"
"""Earlier versions wrote into the dataset's own directory; this file existed while they ran."""

INVALID = "_invalid"
"""Earlier versions wrote this instead of a manifest if the layout was wrong; it contains the reason."""

CURRENT = "_current"
"""Where no directory can be renamed, this file names the generation that is the dataset."""

GENERATION = re.compile(r"generation-[0-9a-f]{16}")
"""The names of the directories that have a dataset's files there, below the directory of the dataset."""

UNCOMMITTED = "_temporary"
"""The directory in which Spark writes uncommitted files."""

RESERVED = re.compile(r"\..+\.(generating|new|former)")
"""The names of what stands beside a dataset while it is generated."""

PART = r"part-\d{5,}-[0-9a-f-]{36}-c\d{3,}\.[a-z.]+"
OURS = re.compile(
    rf"{re.escape(FILE_NAME)}|{CURRENT}|{HALF_WRITTEN}|{INVALID}|_SUCCESS|{PART}|\.(_SUCCESS|{PART})\.crc"
    rf"|{re.escape(TEMPORARY_PREFIX)}.+"
)


def lock_name(directory: Directory) -> str:
    """Return the name of the file, beside a dataset's directory, that locks it."""
    return f".{directory.name}.generating"


def check_not_nested(
    directory: Directory, parent_of: Callable[[Directory], Directory | None]
) -> None:
    """Raise BadInput if the directory is inside a dataset, or inside one that is being generated.

    `parent_of` is that of the directory's storage.
    """
    ancestor = parent_of(directory)
    while ancestor is not None:
        parent = parent_of(ancestor)
        if any(ancestor.has(name) for name in (FILE_NAME, CURRENT, HALF_WRITTEN, INVALID)):
            raise BadInput(
                f"{directory.uri} is inside the dataset {ancestor.uri}, which would be spoilt; "
                "choose a directory outside it"
            )
        if RESERVED.fullmatch(ancestor.name) or (parent and parent.has(lock_name(ancestor))):
            raise BadInput(
                f"{directory.uri} is inside {ancestor.uri}, where a dataset is being generated; "
                "choose a directory outside it"
            )
        ancestor = parent


def check_no_foreign_files(
    directory: Directory, *, has_generations: bool = False
) -> Mapping[str, Entry]:
    """Return what is in a directory. Raise BadInput if generate.py did not write all of it.

    Where datasets have no generations, a directory named like one is a dataset that was copied there.
    """
    entries = directory.entries() if directory.exists() else {}
    generations = {name for name in entries if has_generations and GENERATION.fullmatch(name)}
    foreign = sorted(name for name in entries.keys() - generations if not _is_ours(entries[name]))
    if foreign:
        raise BadInput(
            f"{directory.uri} contains something that is not part of a dataset "
            f"(first: {foreign[0]}); move it elsewhere, or choose another directory"
        )
    for name in generations:
        check_no_foreign_files(directory.below(name))
    return entries


def _is_ours(entry: Entry) -> bool:
    if entry.is_directory:
        return entry.name == UNCOMMITTED
    return bool(OURS.fullmatch(entry.name))


def check_replaceable(
    directory: Directory, *, has_generations: bool, overwrite: bool, replace_half_written: bool
) -> None:
    """Raise BadInput if a dataset may not be written in the place of what is at the directory.

    Foreign files are never replaced, a dataset only with `overwrite`, a half-written or invalid one, of
    an earlier version, also with `replace_half_written`.
    """
    found = check_no_foreign_files(directory, has_generations=has_generations)
    entries = {name for name in found if not GENERATION.fullmatch(name)}
    if not entries:  # at most the generation of a generate.py that was killed
        return
    if not {FILE_NAME, CURRENT, HALF_WRITTEN, INVALID} & entries:
        raise BadInput(
            f"{directory.uri} contains files, but neither a manifest nor the marker of a half-written "
            f"dataset (first: {min(entries)}); choose another directory"
        )
    complete = bool({FILE_NAME, CURRENT} & entries)
    if not (overwrite or (replace_half_written and not complete)):
        state = "a dataset already" if complete else "a half-written dataset"
        state = "a dataset that is not valid" if INVALID in entries else state
        raise BadInput(f"{directory.uri} is {state}; --overwrite replaces it")


def remove(directory: Directory) -> None:
    """Delete a directory of files that generate.py wrote, if it exists.

    The manifest goes first: what a kill leaves is no dataset. Raises BadInput, and deletes nothing, if
    there are foreign files in it.
    """
    if directory.exists():
        check_no_foreign_files(directory)
        directory.delete(FILE_NAME)
        directory.remove()
