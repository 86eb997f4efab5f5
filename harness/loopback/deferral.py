"""What must not be cut in two by Ctrl-C: a process has started, and its id is written down."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def deferred() -> Iterator[None]:
    """While entered, these signals wait; they are delivered on leaving.

    Only the main thread gets them, so in any other there is nothing to do.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in SIGNALS
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for late in came:
            signal.raise_signal(late)
