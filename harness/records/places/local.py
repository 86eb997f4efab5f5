"""Event logs in a directory, or a file, of this machine."""

from collections.abc import Iterator
from contextlib import contextmanager
from os import fstat
from pathlib import Path
from stat import S_ISREG

from harness.base.errors import BadInput
from harness.records.log_parts import is_part
from harness.records.places.file import Listing, LogFile, Opener, OpenFile, reason_of

MAX_DEPTH = 12
"""Directories below each other."""


def listed(path: Path) -> Listing:
    """Return the file `path`, or the files at any depth below it. Hidden ones are passed over.

    Raise BadInput if `path` cannot be read, or has more files than MAX_FILES.
    """
    found = Listing()
    if path.is_dir():
        _search(path, path, found)
    else:
        found.files.append(LogFile(str(path), _opened))
    return found


def _search(directory: Path, top: Path, found: Listing) -> None:
    try:
        entries = sorted(each for each in directory.iterdir() if not each.name.startswith("."))
    except OSError as error:
        if directory == top:
            raise BadInput(f"cannot read {directory}: {error.strerror}") from error
        found.left_out[_below(directory, top)] = reason_of(error)
        return
    opener = _opener_below(top)
    for entry in entries:
        if entry.is_dir():
            _search_below(entry, top, found)
        elif entry.is_symlink() and not entry.exists():
            found.left_out[_below(entry, top)] = "a link to nothing"
        else:
            found.files.append(LogFile(_below(entry, top), opener))
    found.check_number(str(top))


def _search_below(directory: Path, top: Path, found: Listing) -> None:
    """Search a directory below another. A link is followed only to a directory with the parts of a log."""
    if directory.is_symlink() and not _has_parts(directory):
        found.left_out[_below(directory, top)] = "a link to a directory that is no log"
    elif len(directory.relative_to(top).parts) > MAX_DEPTH:
        found.left_out[_below(directory, top)] = f"more than {MAX_DEPTH} directories deep"
    else:
        _search(directory, top, found)


def _has_parts(directory: Path) -> bool:
    try:
        return any(is_part(each.name) for each in directory.iterdir())
    except OSError:
        return False


def _below(path: Path, top: Path) -> str:
    return str(path.relative_to(top))


def _opener_below(top: Path) -> Opener:
    return lambda path: _opened(str(top / path))


@contextmanager
def _opened(path: str) -> Iterator[OpenFile]:
    """Open a regular file: to read a pipe could take for ever."""
    file_path = Path(path)
    if not S_ISREG(file_path.stat().st_mode):
        raise OSError("it is not a regular file")
    with file_path.open("rb") as file:
        yield OpenFile(file, fstat(file.fileno()).st_size)
