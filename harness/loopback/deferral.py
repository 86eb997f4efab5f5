"""What must not be cut in two by Ctrl-C: a process has started, and its id is written down."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from harness.record.interrupt import FROM_OUTSIDE, handled


@contextmanager
def deferred() -> Iterator[None]:
    """While entered, these signals wait; they are delivered on leaving.

    Only the main thread gets them, so in any other there is nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    try:
        with handled(dict.fromkeys(FROM_OUTSIDE, lambda number, _frame: came.append(number))):
            yield
    finally:
        for late in came:
            signal.raise_signal(late)
