"""Opens files that users name, and files beside results, where somebody else may have put something."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

from harness.base.errors import BadInput


@contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading in the `with` block.

    Raise BadInput, which names the file, unless it is a regular file that can be read: to read a pipe could
    take for ever.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"cannot read {path}: it is not a regular file")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def content_of(path: Path, most: int) -> bytes:
    """Return what a regular file has. Raise BadInput like `regular_file`, and for more than `most` bytes."""
    with regular_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise _too_large(path, most)
    return content


def lines_of(path: Path, most: int, longest: int) -> Iterator[bytes]:
    """Yield the lines of a regular file, each with its line feed, which the last one may lack.

    Of a line with more than `longest` bytes, its first `longest + 1` are a line, without a line feed. Raise
    BadInput like `content_of`.
    """
    size = 0
    with regular_file(path) as file:
        for line in iter(partial(file.readline, longest + 1), b""):
            size += len(line)
            if size > most:
                raise _too_large(path, most)
            yield line


def _too_large(path: Path, most: int) -> BadInput:
    return BadInput(f"{path}: it is larger than {most:,} bytes")


def readable_by_others(path: str, flags: int) -> int:
    """Open a file for `open(opener=...)`: only this user may write it, whatever the umask is."""
    return os.open(path, flags, 0o644)


@contextmanager
def own_file(path: Path, flags: int) -> Iterator[int]:
    """Open a file of this user alone, and yield its descriptor in the block.

    Raise OSError for a symbolic link, a pipe, a second name of another file, or a file of another user. To
    truncate the file is for the block: O_TRUNC would come before these checks.
    """
    # A pipe would be waited for.
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    try:
        status = os.fstat(descriptor)
        is_own = status.st_uid == os.geteuid() and status.st_nlink == 1
        if not is_own or not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "it is not a file of yours alone", str(path))
        yield descriptor
    finally:
        os.close(descriptor)
