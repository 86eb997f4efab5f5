"""The one function that deletes what a generator or a run has written, on every file system.

Who asks for a removal says by a function which paths are ours. Everything else stays, and is reported: a
symbolic link, a pipe, and what has a name that we do not give. Nothing is deleted with all that is in it:
files are deleted one by one, and directories only when they are empty.

On a local file system, another user may exchange names while we work. So the directory is opened, not named:
its path may lead elsewhere by now. Files that will be deleted are first moved into a directory of ours that
nobody else can enter. There we look at them, and delete them by the descriptors of open directories. HDFS,
QFS and object stores have no such descriptors: between the look and the deletion, another client may exchange
a file for one of the same name.
"""

from __future__ import annotations  # for Python 3.8

import errno
import os
import pathlib
import stat
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import Callable, Tuple

from datagen.filesystem import Directory, FileStatus
from harness.base.errors import BadInput

Path = Tuple[str, ...]
"""The names that lead from a directory to something below it."""
IsOurs = Callable[[Path, bool], bool]
"""Whether a path is ours. The second argument is whether it is a directory."""

MAX_MARKER_BYTES = 2**16


@dataclass(frozen=True)
class Found:
    """Something in a directory, itself and not what it links to. A link is neither a directory nor a file."""

    name: str
    is_directory: bool
    is_file: bool


class Place(ABC):
    """An open directory. Every method raises OSError or BadInput if the file system refuses."""

    @abstractmethod
    def found(self) -> list[Found]:
        """Return what is in the directory."""

    @abstractmethod
    def below(self, name: str) -> AbstractContextManager[Place]:
        """Open a directory in this one, unless it is a link."""

    @abstractmethod
    def text(self, name: str) -> str | None:
        """Return the text of a small file; None if there is none."""

    @abstractmethod
    def is_own(self, name: str = "") -> bool:
        """Return whether a file in it, or the directory itself, belongs to this user and to nobody else."""

    @abstractmethod
    def unlink(self, name: str) -> None:
        """Delete a file."""

    @abstractmethod
    def rmdir(self, name: str) -> None:
        """Delete an empty directory."""

    @abstractmethod
    def apart(self, aside: str, is_ours: IsOurs) -> AbstractContextManager[Place]:
        """Open a place for removal, where what is ours can be looked at and deleted.

        Files that are left in that place at the end are moved back.
        """


def foreign(place: Place, is_ours: IsOurs) -> list[str]:
    """Return the paths, such as `a/b`, of what is not ours in a directory."""
    return _visit(place, is_ours, (), delete=False)


def remove(place: Place, is_ours: IsOurs, aside: str) -> list[str]:
    """Delete what is ours in a directory. Return the paths, such as `a/b`, of what stays.

    Files that are not ours stay, and so does everything beside them in a directory of ours. Files that come
    meanwhile stay, too. `aside` names the directory in it to which things are moved before they are looked
    at. The next removal with the same name continues one that was killed.
    """
    stays = foreign(place, is_ours)
    kept = {path.split("/")[0] for path in stays}

    def is_removed(path: Path, is_directory: bool) -> bool:  # noqa: FBT001  of IsOurs
        return path[0] not in kept and is_ours(path, is_directory)

    with place.apart(aside, is_removed) as apart:
        _visit(apart, is_removed, (), delete=True)
    came = [found.name for found in place.found() if found.name not in kept]
    return stays + came


def _visit(place: Place, is_ours: IsOurs, path: Path, *, delete: bool) -> list[str]:
    """Return the paths of what is not ours, and delete the rest if asked to."""
    stays = []
    for found in place.found():
        here = (*path, found.name)
        is_known_kind = found.is_directory or found.is_file
        if not is_known_kind or not is_ours(here, found.is_directory):
            stays.append("/".join(here))
        elif found.is_file:
            if delete:
                place.unlink(found.name)
        else:
            with place.below(found.name) as below:
                inside = _visit(below, is_ours, here, delete=delete)
            stays += inside
            if delete and not inside:
                place.rmdir(found.name)
    return stays


def opened(directory: Directory, *, follow_link: bool) -> AbstractContextManager[Place]:
    """Open a directory for looking and removing.

    Raises BadInput if that is refused, or if it is a symbolic link, unless `follow_link`: then the user has
    named it. An OSError of the block becomes a BadInput with the URI.
    """
    if directory.local_path is None:
        return nullcontext(_HadoopPlace(directory))
    return _opened_by_descriptor(directory.uri, directory.local_path, follow_link=follow_link)


@contextmanager
def _opened_by_descriptor(uri: str, path: str, *, follow_link: bool) -> Iterator[Place]:
    flags = 0
    if not follow_link:
        flags = os.O_NOFOLLOW
    try:
        with _descriptor(path, flags) as descriptor:
            yield _LocalPlace(descriptor)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENOTDIR} and pathlib.Path(path).is_symlink():
            raise BadInput(
                f"{uri} is a symbolic link, and nothing is deleted through one: move it elsewhere"
            ) from error
        named = uri
        if isinstance(error.filename, str) and error.filename != path:
            named = f"{uri}/{error.filename}"
        raise BadInput(f"{named}: {error.strerror}") from error


@contextmanager
def _descriptor(name: str, flags: int, parent: int | None = None) -> Iterator[int]:
    directory_flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(name, directory_flags | flags, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class _LocalPlace(Place):
    descriptor: int

    def found(self) -> list[Found]:
        entries = []
        for name in sorted(os.listdir(self.descriptor)):  # noqa: PTH208  of a descriptor
            with suppress(FileNotFoundError):  # somebody else has deleted it
                mode = os.lstat(name, dir_fd=self.descriptor).st_mode
                entries.append(Found(name, stat.S_ISDIR(mode), stat.S_ISREG(mode)))
        return entries

    @contextmanager
    def below(self, name: str) -> Iterator[Place]:
        with _descriptor(name, os.O_NOFOLLOW, self.descriptor) as descriptor:
            yield _LocalPlace(descriptor)

    def text(self, name: str) -> str | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        try:
            descriptor = os.open(name, flags, dir_fd=self.descriptor)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ELOOP, errno.ENXIO, errno.EACCES}:
                return None
            raise
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return file.read(MAX_MARKER_BYTES).decode(errors="replace")

    def is_own(self, name: str = "") -> bool:
        if not name:
            return os.fstat(self.descriptor).st_uid == os.geteuid()
        status = os.lstat(name, dir_fd=self.descriptor)
        # A second name could belong to a file which was written for another directory.
        return status.st_uid == os.geteuid() and status.st_nlink == 1

    def unlink(self, name: str) -> None:
        os.unlink(name, dir_fd=self.descriptor)

    def rmdir(self, name: str) -> None:
        os.rmdir(name, dir_fd=self.descriptor)

    @contextmanager
    def apart(self, aside: str, is_ours: IsOurs) -> Iterator[Place]:
        is_left = False  # by a removal that was killed
        names = []
        for found in self.found():
            if found.name == aside:
                is_left = True
            elif is_ours((found.name,), found.is_directory):
                names.append(found.name)
        if not names and not is_left:
            yield self
            return
        with suppress(FileExistsError):
            os.mkdir(aside, 0o700, dir_fd=self.descriptor)
        with _descriptor(aside, os.O_NOFOLLOW, self.descriptor) as descriptor:
            apart = _LocalPlace(descriptor)
            status = os.fstat(descriptor)
            if not apart.is_own() or stat.S_IMODE(status.st_mode) & 0o077:
                raise PermissionError(errno.EPERM, "it is not a directory of yours alone", aside)
            for name in names:
                self._move(name, apart)
            yield apart
            for each in apart.found():
                apart.move_back(each, self)
        self.rmdir(aside)

    def _move(self, name: str, target: _LocalPlace) -> None:
        os.rename(name, name, src_dir_fd=self.descriptor, dst_dir_fd=target.descriptor)

    def move_back(self, found: Found, target: _LocalPlace) -> None:
        """Move something to where it was. Nothing that is there by now is replaced."""
        if found.is_directory:
            self._move(found.name, target)  # never replaces a directory with something in it
            return
        os.link(
            found.name,
            found.name,
            src_dir_fd=self.descriptor,
            dst_dir_fd=target.descriptor,
            follow_symlinks=False,
        )
        self.unlink(found.name)


@dataclass(frozen=True)
class _HadoopPlace(Place):
    directory: Directory

    def found(self) -> list[Found]:
        return [_found(entry) for _, entry in sorted(self.directory.entries().items())]

    @contextmanager
    def below(self, name: str) -> Iterator[Place]:
        yield _HadoopPlace(self.directory.below(name))

    def text(self, name: str) -> str | None:
        if not self.directory.has(name):
            return None
        entry = self.directory.entry(name)
        if not _found(entry).is_file or entry.bytes > MAX_MARKER_BYTES:
            return None
        return self.directory.read(name)

    def is_own(self, name: str = "") -> bool:
        return self.directory.is_own(name)

    def unlink(self, name: str) -> None:
        self.directory.delete(name)

    def rmdir(self, name: str) -> None:
        self.directory.below(name).remove_empty()

    @contextmanager
    def apart(self, aside: str, is_ours: IsOurs) -> Iterator[Place]:
        yield self


def _found(entry: FileStatus) -> Found:
    is_directory = entry.is_directory and not entry.is_link
    is_file = not entry.is_directory and not entry.is_link
    return Found(entry.name, is_directory, is_file)
