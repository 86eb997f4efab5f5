"""The local disk, or a directory that every node mounts at the same path."""

import os
from collections.abc import Collection

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFile, StoredFiles
from datagen.storage import Storage
from harness.model.errors import BadInput
from harness.model.layout import UNKNOWN, Layout


class Local(Storage):
    """A storage without layouts: it does not report how the disks below store the bytes."""

    name = "local"
    scheme = "file"

    def resolve(self, directory: Directory) -> Directory:
        """Return where a symbolic link leads to: that is the disk to write to."""
        path = os.path.realpath(_path(directory))
        return directory if path == _path(directory) else directory.at_path(path)

    def check_renamable(self, directory: Directory) -> None:
        """Raise BadInput for a mount point."""
        if os.path.ismount(_path(directory)):
            raise BadInput(
                f"{directory.uri} is a mount point, which cannot be renamed; choose a directory below it"
            )

    def rename(self, directory: Directory, new: Directory) -> None:
        """Rename a directory in one step. Raise BadInput if that is refused, or if `new` has files."""
        # Hadoop would copy the files, one after the other, where the system does not rename.
        try:
            os.rename(_path(directory), _path(new))  # noqa: PTH104  these are the texts of URIs
        except OSError as error:
            raise BadInput(
                f"{directory.uri} cannot be renamed to {new.name}: {error.strerror}"
            ) from error

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout:
        """Return `unknown`, the only layout. Raise BadInput if another one is requested."""
        if layout not in (None, UNKNOWN):
            raise BadInput(
                f"--layout {layout}: {directory.uri} is on a local disk, which has no layout to "
                "choose; leave --layout out"
            )
        return UNKNOWN

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Report every file as `unknown`, never as `replicated:1`."""
        files = (entry for entry in directory.entries().values() if entry.name in names)
        return StoredFiles(
            {file.name: StoredFile(UNKNOWN, file.bytes) for file in files}, page_cache=True
        )


def _path(directory: Directory) -> str:
    return str(directory.path.toUri().getPath())


STORAGE = Local()
