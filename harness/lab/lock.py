"""A lock on the lab: two commands that use it at the same time would spoil each other's work."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

from harness.lab.cluster import project
from harness.model.errors import BadInput
from harness.records.directories import cache_directory


@contextmanager
def lab_lock() -> Iterator[None]:
    """Lock the lab in the `with` block. The system releases the lock if this process is killed.

    Raises BadInput if another command of this user has it, or if the cache cannot be written.
    """
    file = cache_directory() / f"lab-{quote(project(), safe='')}.lock"
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        lock = file.open("w")
    except OSError as error:
        raise BadInput(
            f"cannot lock the lab with {file}: {error.strerror}; set XDG_CACHE_HOME to a directory that "
            "you can write to"
        ) from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInput(
                "another command is using the lab: wait until it has finished, or set "
                "COMPOSE_PROJECT_NAME for a second lab"
            ) from error
        yield
