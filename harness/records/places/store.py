"""Event logs in a store that is reached over the network, and read in pieces."""

import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import PurePosixPath
from typing import Protocol

from harness.records.places.file import (
    Listing,
    LogFile,
    OpenFile,
    Seekable,
    is_hidden,
    reason_of,
)

_FIRST_BYTES = 2**16
"""What is read first of a file: the start of an application."""
_MOST_BYTES = 2**23
"""Each read takes twice as much as the one before, up to this."""


Part = Callable[[int, int], bytes]
"""Returns the bytes of a file from one place until another. Raises OSError."""


class Store(Protocol):
    """A store with files by their paths. Every method raises OSError.

    `denied` are the reasons why directories were not listed, by their paths, after the others were.
    """

    denied: dict[str, str]

    def files(self, top: str) -> Iterable[tuple[str, int]]:
        """Return the paths and bytes of all files at any depth below `top`, or of the file `top`."""

    def size(self, path: str) -> int:
        """Return the bytes of a file. Raises FileNotFoundError if there is none."""

    def reading(self, path: str) -> AbstractContextManager[Part]:
        """Keep a file open in the `with` block, which gets what reads parts of it."""


def listed(store: Store, top: str, place: str) -> Listing:
    """Return the files below `top`; hidden ones are passed over.

    Raises OSError if they cannot be listed, and BadInput if there are more than MAX_FILES at the place.
    """
    found = Listing()
    below = f"{top.strip('/')}/"
    for path, size in store.files(top):
        name = path.strip("/").removeprefix(below)
        if name == top.strip("/"):
            name = PurePosixPath(name).name  # the only file
        if not is_hidden(name):
            found.files.append(LogFile(name, partial(_opened, store, path, name, size)))
        found.check_number(place)
    for directory, reason in store.denied.items():
        found.left_out[directory.strip("/").removeprefix(below)] = reason
    return found


@contextmanager
def _opened(store: Store, path: str, name: str, size: int, asked: str) -> Iterator[OpenFile]:
    """Open a file by its `path`, or another in the same directory if that is `asked` for."""
    if asked != name:
        path = path.removesuffix(name) + asked
        size = store.size(path)
    with store.reading(path) as part:
        file = _File(part, size)
        if size:
            file.read(1)  # raises FileNotFoundError now
            file.seek(0)
        yield OpenFile(file, size)


class _File(Seekable):
    """A file of a store, as long as it was when it was listed. Its first piece is small."""

    def __init__(self, part: Part, size: int) -> None:
        self._part = part
        self._size = size
        self._place = 0
        self._piece = b""
        self._piece_starts = 0
        self._next_bytes = _FIRST_BYTES

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}
        place = starts[whence] + offset
        if place < 0:
            raise OSError("a place before the start of the file")
        self._place = place
        return place

    def read(self, size: int = -1) -> bytes:
        wanted = max(0, self._size - self._place)
        if size >= 0:
            wanted = min(wanted, size)
        pieces: list[bytes] = []
        while wanted:
            piece = self._some(wanted)
            if not piece:
                break  # it has become shorter
            pieces.append(piece)
            self._place += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)

    def _some(self, most: int) -> bytes:
        """Return some bytes from here, at most this number."""
        within = self._place - self._piece_starts
        if not 0 <= within < len(self._piece):
            stop = min(self._size, self._place + self._next_bytes)
            self._piece = self._part(self._place, stop)
            self._piece_starts = self._place
            self._next_bytes = min(2 * self._next_bytes, _MOST_BYTES)
            within = 0
        return self._piece[within : within + most]


@contextmanager
def every_fault_as_os_error() -> Iterator[None]:
    """Make an OSError of each error of a client, because clients have error classes of their own."""
    try:
        yield
    except (OSError, ImportError):
        raise
    except Exception as error:
        raise OSError(reason_of(error)) from error
