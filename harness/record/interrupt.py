"""Ctrl-C, SIGTERM and SIGHUP all end a run in the same way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

AGAIN_S = 0.05


@contextmanager
def interruptible() -> Iterator[None]:
    """While entered, these signals raise KeyboardInterrupt in the main thread.

    To be entered after Spark has started: pyspark's own handler of Ctrl-C would first call the JVM,
    over a connection that is in use.
    """
    signals = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {
        number: signal.signal(number, _interrupt)
        for number in signals
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
    }
    unraisable, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = unraisable
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt_again(swallowed: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a finalizer, of which py4j has many: raise it a little later."""
    if swallowed.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(swallowed)


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
