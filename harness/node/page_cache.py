"""Put files out of a node's page cache, so that the next read of them reaches its disks.

The kernel keeps bytes that are not on the disk yet, so they are written first. The functions run on
executors, which have Python alone. They return why they failed, or an empty text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

_DROP_CACHES = "/proc/sys/vm/drop_caches"
DROP = f"sync && echo 1 > {_DROP_CACHES}"
"""The same as `drop_everything`, for `sh`."""


def drop_files(paths: Iterable[str]) -> str:
    """Put out these files, which takes no rights. A node need not have all of them."""
    for path in paths:
        if not os.path.exists(path):  # noqa: PTH110  Path.exists raises PermissionError
            continue
        try:
            with Path(path).open("rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        except OSError as error:
            return f"{path}: {error.strerror}"
    return ""


def drop_everything() -> str:
    """Put out every file that no process uses at the moment. Only root may do so."""
    try:
        with Path(_DROP_CACHES).open("w") as file:
            os.sync()
            file.write("1\n")
    except OSError as error:
        return f"{_DROP_CACHES}: {error.strerror}"
    return ""
