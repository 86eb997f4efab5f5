"""Reading of the files that users name."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from harness.model.errors import BadInput


@contextmanager
def regular_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading in the `with` block.

    Raise BadInput, which names the file, unless it is a regular file that can be read: to read a pipe could
    take for ever.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadInput(f"cannot read {path}: it is not a regular file")
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error


def content_of(path: Path, most: int) -> bytes:
    """Return what a regular file has. Raise BadInput like `regular_file`, and for more than `most` bytes."""
    with regular_file(path) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise BadInput(f"{path}: it is larger than {most:,} bytes")
    return content
