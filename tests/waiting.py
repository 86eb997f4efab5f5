"""Waiting for other processes and threads."""

import time
from collections.abc import Callable


def eventually(condition: Callable[[], object], what: str = "", seconds: float = 60) -> None:
    """Return as soon as the condition is true; fail with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
