"""A file at a place, however it is reached, and what a place has."""

import io
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from harness.base.errors import BadInput
from harness.base.redaction import without_credentials
from harness.base.words import shorten

MAX_FILES = 100_000
MAX_REASON = 200
"""Characters."""
_UNFINISHED = ".inprogress"


class OpenFile(NamedTuple):
    """A file that is open for reading, and its bytes. It may have grown since it was opened."""

    file: Any
    size: int


Opener = Callable[[str], AbstractContextManager[OpenFile]]
"""Opens a file of a place by its path. Raises OSError, and so does reading."""


class Unreadable(ValueError):
    """A file cannot be opened or read to its end. The message is the reason."""


@dataclass(frozen=True)
class LogFile:
    """A file by its path, which is unique at its place, and how it is opened."""

    path: str
    opener: Opener = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The last part of the path."""
        return PurePosixPath(self.path).name

    @property
    def directory(self) -> str:
        """The path without its last part."""
        return str(PurePosixPath(self.path).parent)

    @contextmanager
    def open(self) -> Iterator[OpenFile]:
        """Open the file for reading in the `with` block.

        Raise Unreadable if that fails. So does reading: to a decompressor, an OSError would mean damage.
        """
        with ExitStack() as stack:
            try:
                opened = self._opened(stack)
            except OSError as error:
                raise Unreadable(reason_of(error)) from error
            yield OpenFile(_Reading(opened.file), opened.size)

    def _opened(self, stack: ExitStack) -> OpenFile:
        """Open the file until the end of the stack.

        Spark may have renamed it meanwhile, because its application ended.
        """
        try:
            return stack.enter_context(self.opener(self.path))
        except FileNotFoundError:
            if not self.path.endswith(_UNFINISHED):
                raise
            return stack.enter_context(self.opener(self.path.removesuffix(_UNFINISHED)))


class Seekable(io.RawIOBase):
    """What can be read from any place in it."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


class _Reading(Seekable):
    """Reads a file. Raises Unreadable where that raises OSError."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def seek(self, offset: int, whence: int = 0) -> int:
        place: int = self._file.seek(offset, whence)
        return place

    def tell(self) -> int:
        place: int = self._file.tell()
        return place

    def read(self, size: int = -1) -> bytes:
        try:
            content: bytes = self._file.read(size)
        except OSError as error:
            raise Unreadable(reason_of(error)) from error
        return content


@dataclass
class Listing:
    """The files at a place, and why others, by their paths, cannot be read."""

    files: list[LogFile] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)

    def check_number(self, place: str) -> None:
        """Raise BadInput if there are more files than MAX_FILES."""
        if len(self.files) > MAX_FILES:
            raise BadInput(
                f"{place} has more than {MAX_FILES:,} files; name the directory of the logs"
            )


def is_hidden(path: str) -> bool:
    """Whether the file or one of its directories begins with a dot, such as a checksum of Hadoop."""
    return any(part.startswith(".") for part in PurePosixPath(path).parts)


def reason_of(error: BaseException) -> str:
    """Return an error of reading in one line, without credentials."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror
    line = without_credentials(" ".join(text.split()))
    return shorten(line, MAX_REASON) or type(error).__name__
