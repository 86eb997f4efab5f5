"""Ctrl-C, SIGTERM and SIGHUP all end a run in the same way."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


@contextmanager
def interruptible() -> Iterator[None]:
    """While entered, these signals raise KeyboardInterrupt in the main thread.

    To be entered after Spark has started: pyspark's own handler of Ctrl-C would first call the JVM,
    over a connection that is in use.
    """
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {
        number: signal.signal(number, _interrupt)
        for number in signals
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
