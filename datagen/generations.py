"""Where no directory can be renamed in one step, each writing of a dataset has a directory of its own.

An object store has files alone: "renaming a directory" copies and deletes its files one by one. So for a
dataset at `rows` there are

    .rows.generating       the lock of the process that generates it
    rows/generation-X/     the files and the manifest of one generation; X is random
    rows/_current          the name of the generation that is the dataset

`_current` is written last, and replaced by one request, which an object store executes whole or not at all.
Wherever the process is killed, `_current` names a whole dataset. The next generate.py deletes all other
generations. A reader that began with the former generation finds its files gone, and fails.
"""

import secrets
from functools import cached_property

from datagen.filesystem import Directory
from datagen.manifest import FILE_NAME
from datagen.replaceable import CURRENT, GENERATION, check_no_foreign_files, remove
from datagen.storage import Storage
from datagen.swap import Place
from harness.model.errors import BadInput


def place_of(directory: Directory, storage: Storage) -> Place:
    """Return the place of the dataset at a directory, which may be a symbolic link."""
    kind = Place if storage.renames else Generations
    return kind(storage.resolve(directory), storage)


class Generations(Place):
    """The place of a dataset whose directory cannot be renamed."""

    @cached_property
    def new(self) -> Directory:
        """The directory of the generation that is being written."""
        return self.directory.below(f"generation-{secrets.token_hex(8)}")

    def recover(self) -> None:
        """There is nothing to finish: `_current` always names a whole dataset."""

    def exists(self) -> bool:
        """Return whether there is a dataset, be it one that was copied here without generations."""
        return any(self.directory.has(name) for name in (CURRENT, FILE_NAME))

    def current(self) -> Directory | None:
        """Return the directory of the generation that is the dataset; None if there are no generations."""
        name = self._named()
        if name is None:
            return None
        if not GENERATION.fullmatch(name):
            raise BadInput(
                f"{self.directory.uri}/{CURRENT} does not name a generation of the dataset; generate it "
                "again with --overwrite"
            )
        return self.directory.below(name)

    def _named(self) -> str | None:
        return self.directory.read(CURRENT).strip() if self.directory.has(CURRENT) else None

    def _check_beside(self) -> None:
        """Nothing stands beside the dataset but its lock."""

    def _clear(self) -> None:
        """Delete all generations but the current one."""
        named = self._named()
        entries = self.directory.entries() if self.directory.exists() else {}
        for name in entries:
            if GENERATION.fullmatch(name) and name != named:
                remove(self.directory.below(name))

    def _discard(self) -> None:
        remove(self.new)
        if self.directory.exists() and not self.directory.entries():
            self.directory.remove()

    def _put_in_place(self) -> None:
        check_no_foreign_files(self.directory, has_generations=True)
        try:
            self.directory.put(CURRENT, self.new.name)
        except BadInput:
            # The store may have executed a request whose answer was lost.
            if self._named() != self.new.name:
                raise

    def _by_hand(self) -> str:
        return f"write the name {self.new.name} into {self.directory.uri}/{CURRENT}"

    def _delete_former(self) -> None:
        self._clear()
        # A dataset without generations, which was copied here: its manifest goes first.
        for name in sorted(self.directory.entries(), key=lambda name: name != FILE_NAME):
            if name != CURRENT and not GENERATION.fullmatch(name):
                self.directory.delete(name)
