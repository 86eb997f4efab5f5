"""A lock for each configuration: two runs of it at once would disturb each other, and count together."""

from __future__ import annotations

import fcntl
import os
import platform
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path

from harness.base.errors import BadInput
from harness.base.terminal import say
from harness.base.words import shorten, visible
from harness.records.directories import configuration_directory, not_writable
from harness.records.files import locked_file

RUN = "run"
SERIES = "series"
"""A lock of a single run, while it lasts, and one of several, from the first to the last of them."""
_MAX_HOLDER = 200
"""Bytes that are read of a lock's file: process, host, program and start of whoever has the lock."""


@contextmanager
def configuration_lock(results: Path, configuration: str, what: str) -> Iterator[None]:
    """Lock a configuration in the block. The system unlocks it if the process is killed.

    `what` is RUN or SERIES. Raise BadInput, which names the other process, if one has the lock, and if
    results cannot be written. Where files cannot be locked, such as on some NFS, say so and go on.
    """
    directory = configuration_directory(results, configuration)
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise not_writable(directory, error) from error
    path = directory / f".{what}.lock"
    with ExitStack() as opened:
        opened.callback(_remove_empty, missing)
        try:
            opened.enter_context(_locked(path, configuration))
        except OSError as error:
            say(
                f"whether another {what} of {configuration} is under way is unknown: {path} cannot be locked "
                f"({error.strerror}); start no second one"
            )
        yield


@contextmanager
def _locked(path: Path, configuration: str) -> Iterator[None]:
    """Create and lock a file in the block, and remove it at the end. Raise BadInput if another has the lock.

    A killed process leaves its file, which locks nothing.
    """

    def lock(descriptor: int) -> None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _busy(descriptor, path, configuration) from error

    with locked_file(path, lock) as descriptor:
        _write_holder(descriptor)
        try:
            yield
        finally:
            with suppress(OSError):
                path.unlink()


def _remove_empty(directories: Iterable[Path]) -> None:
    """Remove directories, the innermost first, up to one that is used: a refused run leaves none."""
    with suppress(OSError):
        for each in directories:
            each.rmdir()


def _busy(descriptor: int, path: Path, configuration: str) -> BadInput:
    """Return the error to raise where another process has the lock."""
    holder = os.pread(descriptor, _MAX_HOLDER, 0).decode(errors="replace").strip()
    return BadInput(
        f"--configuration {configuration}: {visible(holder) or 'another process'} is measuring it, and runs "
        "at the same time would disturb each other and count together; wait until it has ended, or choose "
        f"another --configuration ({path} is locked)"
    )


def _write_holder(descriptor: int) -> None:
    """Write into a lock's file which process has the lock: this one."""
    program = shorten(Path(sys.argv[0]).name, 40)
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    holder = f"process {os.getpid()} on {shorten(platform.node(), 64)} ({program}, since {now})"
    with suppress(OSError):  # a full disk: the lock holds all the same
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, holder.encode(errors="replace"), 0)
