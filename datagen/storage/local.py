"""The local disk, or a directory that every node mounts at the same path."""

from __future__ import annotations

from datagen.filesystem import Directory
from datagen.layout import UNKNOWN, Layout
from harness.errors import BadInput


class Local:
    """Has no layout to speak of: what the disk below does with the bytes, it does not say."""

    name = "local"
    scheme = "file"

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout:
        """Only `unknown` can be asked for."""
        if layout not in (None, UNKNOWN):
            raise BadInput(
                f"--layout {layout}: {directory.uri} is on a local disk, which has no layout to "
                "choose; leave --layout out"
            )
        return UNKNOWN

    def observe(self, directory: Directory) -> Layout:
        """Always `unknown`, never `replicated:1`."""
        return UNKNOWN


STORAGE = Local()
