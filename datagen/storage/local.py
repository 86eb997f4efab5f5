"""The local disk, or a directory that every node mounts at the same path."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from datagen.layout import UNKNOWN, Layout
from datagen.observed_layout import StoredFiles, StoredFile
from datagen.spark.filesystem import Directory
from harness.model.errors import BadInput


class Local:
    """Has no layout to speak of: what the disk below does with the bytes, it does not say."""

    name = "local"
    scheme = "file"
    advice = ""

    def check_available(self, directory: Directory) -> None:
        """Nothing to ask."""

    def check_request(self, directory: Directory, layout: Layout | None) -> Layout:
        """Only `unknown` can be asked for."""
        if layout not in (None, UNKNOWN):
            raise BadInput(
                f"--layout {layout}: {directory.uri} is on a local disk, which has no layout to "
                "choose; leave --layout out"
            )
        return UNKNOWN

    def prepare(self, directory: Directory, layout: Layout | None) -> Mapping[str, str]:
        """Nothing to do."""
        return {}

    def finish(self, directory: Directory, names: list[str], layout: Layout | None) -> None:
        """Nothing to do."""

    def observe(self, directory: Directory, names: Collection[str]) -> StoredFiles:
        """Always `unknown`, never `replicated:1`."""
        files = (entry for entry in directory.entries().values() if entry.name in names)
        return StoredFiles(
            {file.name: StoredFile(UNKNOWN, file.bytes) for file in files}, page_cache=True
        )

    def why(self, asked: Layout | None, stored: StoredFiles) -> str:
        """A local disk is never anything but `unknown`."""
        return ""


STORAGE = Local()
