"""Opening of what lies beside results, where somebody else may have put something of that name."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def own_file(path: Path | str, flags: int, *, dir_fd: int | None = None) -> Iterator[int]:
    """Open a file, or with O_DIRECTORY a directory, and yield its descriptor in the block.

    Raise OSError unless it is what this user made: no symbolic link, no pipe or device, no second name of
    another file, nobody else's. To truncate it is for the block: O_TRUNC would come before these checks.
    """
    # A pipe would be waited for.
    descriptor = _open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd)
    try:
        if reason := _why_not_own(os.fstat(descriptor), flags):
            raise PermissionError(errno.EPERM, reason, str(path))
        yield descriptor
    finally:
        os.close(descriptor)


def _open(path: Path | str, flags: int, dir_fd: int | None) -> int:
    try:
        return os.open(path, flags, 0o600, dir_fd=dir_fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(error.errno, "it is a symbolic link", str(path)) from error
        raise


def _why_not_own(status: os.stat_result, flags: int) -> str | None:
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if flags & os.O_DIRECTORY:
        return None
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    return "it has another name, too" if status.st_nlink > 1 else None
