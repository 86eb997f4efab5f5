"""What Spark counts as fetch wait depends on its version."""

import re
from collections.abc import Sequence

from harness.model.run import RecordedRun

WIDER_SINCE = (4, 1)
"""SPARK-54536: since this version, sending requests and connecting to other executors count, too."""


def different_fetch_wait(
    baseline: Sequence[RecordedRun], other: Sequence[RecordedRun]
) -> str | None:
    """Return a line if the runs of two configurations count fetch wait differently; else None."""
    versions = dict.fromkeys(
        str(recorded.run.environment.get("spark")) for recorded in (*baseline, *other)
    )
    wider = {text: _is_wider(text) for text in versions}
    if not {True, False} <= set(wider.values()):
        return None
    more, less = (
        ", ".join(text for text in wider if wider[text] is is_wider) for is_wider in (True, False)
    )
    return (
        f"fetch wait is not comparable: Spark {more} also counts the wait for connections, which {less} "
        "does not (SPARK-54536); this concerns where the time went, and not the times"
    )


def _is_wider(version: str) -> bool | None:
    """Return whether a version of Spark counts more; None if the text is not a version."""
    match = re.match(r"(\d{1,4})\.(\d{1,4})(?!\d)", version)
    return (int(match[1]), int(match[2])) >= WIDER_SINCE if match else None
