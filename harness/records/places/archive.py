"""Archives of event logs: the .zip that a History Server lets its users download."""

import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO
from zipfile import BadZipFile, LargeZipFile, ZipFile

from harness.records.places.file import (
    Listing,
    LogFile,
    Opener,
    OpenFile,
    Unreadable,
    is_hidden,
    reason_of,
)

SUFFIX = ".zip"
_TAR = re.compile(r".+\.(?:tar(?:\.\w{1,4})?|t[gbx]z2?|tzst)", re.IGNORECASE)
_FAULTS = (BadZipFile, LargeZipFile, RuntimeError, EOFError, KeyError, zlib.error)


def unpacked(listing: Listing) -> Listing:
    """Return a listing that has the files in each archive in place of the archive."""
    found = Listing(left_out=listing.left_out)
    for file in listing.files:
        if _TAR.fullmatch(file.name):
            found.left_out[file.path] = "an archive of tar: unpack it, or make a .zip of the logs"
            continue
        if not file.name.lower().endswith(SUFFIX):
            found.files.append(file)
            continue
        try:
            found.files += _members(file)
        except Unreadable as error:
            found.left_out[file.path] = str(error)
    return found


def _members(archive: LogFile) -> Iterable[LogFile]:
    """Return the files in an archive. Raise Unreadable if it is none."""
    with archive.open() as opened, _faults_are_reasons(), ZipFile(opened.file) as packed:
        names = [info.filename for info in packed.infolist() if not info.is_dir()]
    opener = _opener_in(archive)
    return [LogFile(f"{archive.path}/{name}", opener) for name in names if not is_hidden(name)]


def _opener_in(archive: LogFile) -> Opener:
    @contextmanager
    def opened(path: str) -> Iterator[OpenFile]:
        name = path.removeprefix(f"{archive.path}/")
        with archive.open() as outer, _faults_are_reasons(), ZipFile(outer.file) as packed:
            info = packed.getinfo(name)
            with packed.open(info) as member:
                yield OpenFile(_Member(member), info.compress_size)

    return opened


class _Member:
    """A file in an archive. It raises Unreadable for every fault of the archive."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int) -> bytes:
        with _faults_are_reasons():
            return self._file.read(size)

    def seek(self, offset: int, whence: int) -> int:
        with _faults_are_reasons():
            return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


@contextmanager
def _faults_are_reasons() -> Iterator[None]:
    try:
        yield
    except _FAULTS as error:
        raise Unreadable(f"a damaged archive: {reason_of(error)}") from error
