"""The local disk, or a directory that every node mounts at the same path."""

from __future__ import annotations  # for Python 3.8

from collections.abc import Callable, Collection
from functools import partial

from datagen.filesystem import Directory
from datagen.observed_layout import StoredFiles
from datagen.storage import Storage, unknown_files
from harness.base.errors import BadInput
from harness.model.layout import UNKNOWN, Layout
from harness.node.page_cache import drop_files


class Local(Storage):
    """A storage without layouts: it does not report how the disks below store the bytes."""

    name = "local"
    scheme = "file"

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
        return StoredFiles(unknown_files(directory, names), page_cache=True)

    def drop_cached(self, directory: Directory, names: Collection[str]) -> Callable[[], str]:
        """Put out these files alone."""
        root = str(directory.path.toUri().getPath())
        return partial(drop_files, [f"{root}/{name}" for name in names])


STORAGE = Local()
