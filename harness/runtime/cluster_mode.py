"""What a driver on a node of the cluster and the command that submitted it agree on.

The driver delivers what it prints and records to a staging directory on the cluster's file system. A
collector, a process beside the command, fetches it from there: jobs/outbox.py and jobs/collect.py are the two
ends.
"""

from urllib.parse import quote, unquote

STAGING = "CLUSTERLIFT_STAGING"
"""The environment variable that gives a driver the URI of its staging directory."""

NO_APPLICATION = 3
"""The collector's exit code if no application was submitted; otherwise it is the driver's."""

LEASE_S = 60.0
"""A driver whose lease was not renewed for so long ends, because nobody waits for it any more."""

_READY = "clusterlift: staging directory "


def ready_line(uri: str) -> str:
    """Return what the collector prints as soon as the application may start.

    The URI is percent-encoded: what stands before an `@`, as in `abfs://container@account/`, would be taken
    for credentials and not be printed.
    """
    return f"{_READY}{quote(uri, safe=':/')}"


def staging_in(line: str) -> str | None:
    """Return the URI of the staging directory in such a line; None for any other line."""
    return unquote(line.removeprefix(_READY)) if line.startswith(_READY) else None
