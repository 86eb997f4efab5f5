"""Waiting for other processes and threads."""

import time
from collections.abc import Callable

PATIENCE_S = 120
"""How long a test waits for what has to come: on a machine with other work, that takes long."""


def eventually(
    condition: Callable[[], object], what: str = "", seconds: float = PATIENCE_S
) -> None:
    """Return as soon as the condition is true; fail with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
