"""Writes the files and directories that a user names.

An output is written completely or not at all, and replaces only an earlier output of the same kind.

What is written grows in a hidden directory beside the output, and takes the output's name when it is on the
disk. What a killed process leaves of that directory, the next call beside it removes.
"""

import ctypes
import fcntl
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.model.errors import BadInput
from harness.records.directories import sync
from harness.records.own_file import own_file
from harness.runtime.interrupt import interruptible

PREFIX, SUFFIX = ".clusterlift-", ".temporary"
FORMER = "former"
"""Where, in the hidden directory, the former output is between two renames."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@dataclass(frozen=True)
class OutputKind:
    """A kind of output: `name`, such as `a report of clusterlift`, and how to recognise a former one.

    `option` is the one by which a user chooses the path.
    """

    name: str
    is_former: Callable[[Path], bool]
    option: str = "--output"


def write_file(output: Path, data: bytes, kind: OutputKind) -> None:
    """Write a file, or replace a former one of its kind; a symbolic link keeps pointing at it.

    Raise BadInput, which names the option, if the file cannot be written, or if something else exists there.
    """
    with _errors_as_bad_input(output, kind):
        target = _replaceable(output, kind, stat.S_ISREG, "regular file")
        with _hidden_directory(target) as directory:
            new = directory / "new"
            new.write_bytes(data)
            sync(new)
            if target.exists():
                shutil.copymode(target, new)
            new.replace(target)


def write_directory(output: Path, write: Callable[[Path], None], kind: OutputKind) -> None:
    """Have `write` fill a new directory, which then becomes `output`, or replaces a former one.

    Parents are created. Raise BadInput like `write_file`.
    """
    with _errors_as_bad_input(output, kind):
        target = _replaceable(output, kind, stat.S_ISDIR, "directory")
        with suppress(FileNotFoundError):  # the current directory has been deleted
            if target in (current := Path.cwd().resolve(), *current.parents):
                raise BadInput(
                    f"{kind.option}: {output} contains the current directory; name one that does not "
                    "exist"
                )
        with _parents(target), _hidden_directory(target) as directory:
            new = directory / "new"
            new.mkdir()
            write(new)
            for path in (*new.iterdir(), new):
                sync(path)
            _put_in_place(new, target, directory)


def _replaceable(
    output: Path, kind: OutputKind, has_type: Callable[[int], bool], noun: str
) -> Path:
    """Return the path without symbolic links, so that a link's target is replaced and the link stays.

    Raise BadInput if something else than a former output is there.
    """
    target = Path(os.path.realpath(output))
    try:
        # Of /dev/stdout, realpath gives a name that does not exist.
        status = output.stat()
    except FileNotFoundError:
        return target
    if not has_type(status.st_mode):
        raise BadInput(f"{kind.option}: {output} exists and is not a {noun}; choose another name")
    is_empty = not (any(target.iterdir()) if noun == "directory" else status.st_size)
    if not is_empty and not kind.is_former(target):
        raise BadInput(
            f"{kind.option}: {output} exists and is not {kind.name}; choose another name, or move it "
            "elsewhere"
        )
    return target


@contextmanager
def _errors_as_bad_input(output: Path, kind: OutputKind) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{kind.option}: cannot write {output}: {error.strerror or error}; choose another path"
        ) from error


@contextmanager
def _parents(target: Path) -> Iterator[None]:
    """Create the directories above; remove them again if the block fails."""
    created = [parent for parent in target.parents if not parent.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in created:
            with suppress(OSError):
                parent.rmdir()
        raise


@contextmanager
def _hidden_directory(target: Path) -> Iterator[Path]:
    """Yield an empty hidden directory beside the target, and remove it afterwards."""
    is_main = threading.current_thread() is threading.main_thread()
    with interruptible(once=True) if is_main else nullcontext():
        for abandoned in target.parent.glob(f"{PREFIX}*{SUFFIX}"):
            _remove_if_abandoned(abandoned)
        directory = Path(tempfile.mkdtemp(SUFFIX, PREFIX, target.parent))
        try:
            with own_file(directory, os.O_DIRECTORY) as descriptor:
                try:
                    with suppress(OSError):  # without locks, nothing is taken for abandoned
                        fcntl.flock(descriptor, fcntl.LOCK_EX)
                    yield directory
                    sync(target.parent)
                finally:
                    _remove(directory, descriptor)
        finally:
            with suppress(OSError):  # there, what we make belongs to another user
                directory.rmdir()


def _remove_if_abandoned(directory: Path) -> None:
    """Remove what a killed process of this user left. A living one has a lock on its directory."""
    with suppress(OSError), own_file(directory, os.O_DIRECTORY) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(directory, descriptor)


def _remove(directory: Path, descriptor: int) -> None:
    """Remove a hidden directory. First rename a former output back, if its path is free.

    Archives can have such directories, too: what is elsewhere, behind a link, stays there.
    """
    with suppress(OSError), own_file(FORMER, os.O_DIRECTORY, dir_fd=descriptor) as former:
        for entry in os.scandir(former):
            named = directory.parent / entry.name
            if not named.exists():
                os.rename(entry.name, named, src_dir_fd=former)
    shutil.rmtree(directory, ignore_errors=True)


def _put_in_place(new: Path, target: Path, directory: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        new.rename(target)  # an empty directory is replaced
    elif not _exchange(new, target):
        former = directory / FORMER
        former.mkdir()
        # Whoever dies between the two, the next call puts the former one back.
        target.rename(former / target.name)
        new.rename(target)


def _exchange(path: Path, other: Path) -> bool:
    """Exchange two paths in one step; return False where the system cannot."""
    try:
        renameat2 = ctypes.CDLL(None).renameat2
    except (AttributeError, OSError):
        return False
    paths = _AT_FDCWD, os.fsencode(path), _AT_FDCWD, os.fsencode(other)
    return bool(renameat2(*paths, _RENAME_EXCHANGE) == 0)
