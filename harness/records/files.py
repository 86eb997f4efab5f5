"""Opens files that users name, and files beside results, where somebody else may have put something."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO, Callable

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

    A line with more than `longest` bytes is cut after `longest + 1`. Raise BadInput like `content_of`.
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
def own_file(path: Path, flags: int, mode: int = 0o600) -> Iterator[int]:
    """Open a file of this user alone, and yield its descriptor in the block.

    Raise OSError for a symbolic link, a hard link, a pipe, or a file of another user. The block truncates
    the file if it has to, because O_TRUNC would come before these checks.
    """
    # A pipe would be waited for.
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, mode)
    try:
        status = os.fstat(descriptor)
        is_own = status.st_uid == os.geteuid() and status.st_nlink == 1
        if not is_own or not stat.S_ISREG(status.st_mode):
            raise PermissionError(errno.EPERM, "it is not a file of yours alone", str(path))
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked_file(path: Path, lock: Callable[[int], None], mode: int = 0o600) -> Iterator[int]:
    """Create a file of this user alone, lock it in the block, and yield its descriptor.

    `lock` locks an open file, or raises an error. Whoever had the lock before may have removed or renamed the
    file that was opened: then the one that is at the path now is locked.
    """
    is_locked = False
    while not is_locked:
        with own_file(path, os.O_RDWR | os.O_CREAT, mode) as descriptor:
            lock(descriptor)
            is_locked = is_at(path, descriptor)
            if is_locked:
                yield descriptor


def create_whole(path: Path, lines: Iterable[bytes]) -> None:
    """Create a file that is there with all of these lines, or not at all.

    One process at a time does so in a directory, and overwrites what a killed one left behind. Raise OSError:
    FileExistsError if there is such a file.
    """
    unfinished = path.with_name(".unfinished")
    with locked_file(unfinished, _lock_if_possible, 0o644) as descriptor:
        _fill(descriptor, unfinished, path, lines)


def _lock_if_possible(descriptor: int) -> None:
    with suppress(OSError):  # some file systems have no locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_at(path: Path, descriptor: int) -> bool:
    """Whether the open file still is the one at the path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


def _fill(descriptor: int, unfinished: Path, path: Path, lines: Iterable[bytes]) -> None:
    """Write lines into an unfinished file, and give it its name."""
    try:
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        os.ftruncate(descriptor, 0)
        with open(descriptor, "wb", closefd=False) as file:
            file.writelines(lines)
        os.fsync(descriptor)
        unfinished.rename(path)
        sync(path.parent)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def sync(path: Path) -> None:
    """Have the file or directory written to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
