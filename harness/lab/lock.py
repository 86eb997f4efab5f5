"""A lock on the lab: two commands that use it at the same time would spoil each other's work."""

from contextlib import AbstractContextManager
from urllib.parse import quote

from harness.lab.cluster import project
from harness.records.directories import cache_directory, locked


def lab_lock() -> AbstractContextManager[None]:
    """Return a context in which the lab is locked.

    To enter it raises BadInput if another command of this user has it, or if the cache cannot be written.
    """
    return locked(
        cache_directory() / f"lab-{quote(project(), safe='')}.lock",
        "the lock of the lab",
        "another command is using the lab: wait until it has finished, or set COMPOSE_PROJECT_NAME for a "
        "second lab",
    )
