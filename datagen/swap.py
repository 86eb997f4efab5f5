"""A dataset is written beside its place, and swapped in when it is proven.

For a dataset at `rows`, the same directory contains meanwhile

    .rows.generating    the lock of the process that generates it
    .rows.new           what is being written: a whole dataset from the moment it has a manifest
    .rows.former        the dataset that is replaced, from the first rename until it is deleted

The swap is two renames: `rows` becomes `.rows.former`, then `.rows.new` becomes `rows`. Wherever the
process is killed, a whole dataset remains. Between the renames there is nothing at `rows`: then whoever
looks for the dataset finishes the swap. The next generate.py deletes what a killed one left.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property

from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.replaceable import (
    RESERVED,
    check_no_foreign_files,
    check_not_nested,
    check_replaceable,
    lock_name,
    remove,
)
from datagen.storage import Storage
from datagen.write_lock import WriteLock
from harness.model.errors import INTERRUPTED, BadInput, ClusterliftError
from harness.runtime.interrupt import deferred_signals
from harness.terminal import say


class Interrupted(ClusterliftError):
    """A signal came while the dataset was being generated."""

    exit_code = INTERRUPTED


class SwapRefused(ClusterliftError):
    """The new dataset could not be put in its place. It is complete, and is kept."""


@dataclass(frozen=True)
class Place:
    """Where a dataset is or will be. `directory` is resolved: it is no symbolic link."""

    directory: Directory
    storage: Storage

    @cached_property
    def new(self) -> Directory:
        """The directory of the dataset that is being written."""
        return self.directory.sibling(f".{self.directory.name}.new")

    @cached_property
    def former(self) -> Directory:
        """The directory of the dataset that is being replaced."""
        return self.directory.sibling(f".{self.directory.name}.former")

    def recover(self) -> None:
        """If a swap was not finished between its renames, finish it, and print a line on it.

        Raises BadInput if the file system refuses; the message names what is left.
        """
        if self.directory.exists():
            return
        for whole in (self.new, self.former):
            if not whole.has(FILE_NAME):
                continue
            try:
                self.storage.rename(whole, self.directory)
            except BadInput as error:
                if self.directory.exists():  # somebody else was faster
                    return
                raise BadInput(
                    f"{self.directory.uri} does not exist, because its last generate.py did not finish "
                    f"renaming; the complete dataset is in {whole.uri}: rename that to "
                    f"{self.directory.uri} when the file system permits it ({error})"
                ) from error
            say(
                f"{self.directory.uri} did not exist, because its last generate.py did not finish "
                f"renaming; {whole.uri} has been renamed to {self.directory.uri}"
            )
            with suppress(BadInput):  # somebody who may only read can go on without this
                remove(self.former)
            return

    def check_writable(self, *, overwrite: bool, replace_half_written: bool) -> None:
        """Raise BadInput if no dataset may be written here."""
        uri, name = self.directory.uri, self.directory.name
        if self.storage.parent(self.directory) is None:
            raise BadInput(f"{uri} is the root directory; choose a directory below it")
        if RESERVED.fullmatch(name):
            raise BadInput(
                f"{uri}: {name} is reserved for what stands beside a dataset while it is generated; "
                "choose another name"
            )
        check_replaceable(
            self.directory,
            has_generations=not self.storage.renames,
            overwrite=overwrite,
            replace_half_written=replace_half_written,
        )
        check_not_nested(self.directory, self.storage.parent)
        self._check_beside()

    def current(self) -> Directory | None:
        """Return the directory of the generation that is the dataset; None if it is the dataset's own."""
        return None

    def exists(self) -> bool:
        """Return whether there is a dataset."""
        return self.directory.exists()

    def _check_beside(self) -> None:
        """Raise BadInput if there are foreign files where the dataset is written and swapped in."""
        for beside in (self.new, self.former):
            check_no_foreign_files(beside)
        self.storage.check_renamable(self.directory)

    def _clear(self) -> None:
        """Delete what a killed generate.py left."""
        remove(self.former)
        remove(self.new)

    def _discard(self) -> None:
        """Delete what was written."""
        remove(self.new)

    @contextmanager
    def writing(self, *, overwrite: bool, replace_half_written: bool) -> Iterator[Directory]:
        """Lock the place, yield the empty directory to write into, and swap it in at the end.

        Raises BadInput, before anything is changed, if no dataset may be written here; Interrupted
        instead of KeyboardInterrupt. If anything is raised inside the `with` block, what was written is
        deleted, and what was there before remains.
        """
        replacing = {"overwrite": overwrite, "replace_half_written": replace_half_written}
        self.recover()
        self.check_writable(**replacing)
        lock = WriteLock(
            self.directory, lock_name(self.directory), take_over=overwrite or replace_half_written
        )
        try:
            # Meanwhile, another process may have finished here.
            self.recover()
            self.check_writable(**replacing)
            self._clear()
            self.new.create()
            if self.exists():
                say(f"{self.directory.uri} stays as it is until the new dataset is complete")
                self.storage.copy_attributes(self.directory, self.new)
            yield self.new
        except BaseException as error:
            with suppress(KeyboardInterrupt), deferred_signals():
                remains = self._abandon(lock)
            if isinstance(error, KeyboardInterrupt):
                raise Interrupted(f"interrupted; {remains}") from error
            if isinstance(error, ClusterliftError):
                raise type(error)(f"{error}; {remains}") from error
            raise
        try:
            with deferred_signals():
                self._swap(lock)
        except KeyboardInterrupt as error:
            if isinstance(refused := error.__context__, ClusterliftError):
                raise Interrupted(f"interrupted; {refused}") from error
            raise Interrupted(
                f"interrupted, but {self.directory.uri} is complete: the signal came too late to stop it"
            ) from None

    def _abandon(self, lock: WriteLock) -> str:
        """Delete what was written, unless another process writes there. Return what remains."""
        uri = self.directory.uri
        try:
            if not lock.is_ours():
                return _taken_over(uri)
            try:
                self._discard()
            finally:
                lock.release()
            return (
                f"{uri} is as it was before"
                if self.exists()
                else "nothing is left of the new dataset"
            )
        except (BadInput, OSError):  # Spark may have ended, and with it the way to the file system
            return (
                f"{uri} is as it was before; the next generate.py for it deletes {self.new.name}, "
                "which is left beside it"
            )

    def _swap(self, lock: WriteLock) -> None:
        """Give the new dataset the place of what is there, which is deleted."""
        if not lock.is_ours():
            raise ClusterliftError(_taken_over(self.directory.uri))
        try:
            self._put_in_place()
        except BadInput as error:
            with suppress(BadInput):
                lock.release()
            raise SwapRefused(
                f"{error}; the new dataset is complete in {self.new.uri}: {self._by_hand()}, or generate it "
                "in another directory"
            ) from error
        try:
            self._delete_former()
        except BadInput as error:
            say(
                f"{self.directory.uri} is complete, but the former dataset could not be deleted: {error}"
            )
        lock.release()

    def _by_hand(self) -> str:
        """Return what the user can do if the new dataset could not be put in its place."""
        return f"rename it by hand to {self.directory.uri}, once nothing has that name"

    def _delete_former(self) -> None:
        try:
            remove(self.former)
        except BadInput as error:
            raise BadInput(f"{error}; delete {self.former.uri}") from error

    def _put_in_place(self) -> None:
        """Rename both directories. Raise BadInput, with what remains, if that is refused."""
        uri, rename = self.directory.uri, self.storage.rename
        if not self.directory.exists():
            self._rename_new()
            return
        try:
            check_no_foreign_files(self.directory)
            rename(self.directory, self.former)
        except BadInput as error:
            raise BadInput(
                f"{uri} is as it was before, because it cannot be renamed: {error}"
            ) from error
        try:
            self._rename_new()
        except BadInput as error:
            try:
                rename(self.former, self.directory)
            except BadInput:
                raise BadInput(
                    f"{uri} does not exist, because the file system refuses to rename: {error}; "
                    f"the former dataset is complete in {self.former.uri}: rename that to keep it"
                ) from error
            raise BadInput(f"{uri} is as it was before: {error}") from error

    def _rename_new(self) -> None:
        try:
            self.storage.rename(self.new, self.directory)
        except BadInput:
            # A reader who found nothing at the place may have finished the swap.
            if self.new.exists() or not self.directory.has(FILE_NAME):
                raise


def _taken_over(uri: str) -> str:
    return (
        f"another process took over writing {uri}, and this one stopped; wait until that one "
        "has finished"
    )
