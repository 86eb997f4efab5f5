"""Ctrl-C, SIGTERM and SIGHUP all end a run in the same way."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

AGAIN_S = 0.05
Handler = Callable[[int, FrameType | None], object]
FROM_OUTSIDE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible(*, once: bool = False) -> Iterator[None]:
    """While entered, these signals raise KeyboardInterrupt in the main thread.

    With `once` only the first does: what is undone after it is undone whole.

    To be entered after Spark has started: pyspark's own handler of Ctrl-C would first call the JVM,
    over a connection that is in use.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        if once:
            for number in FROM_OUTSIDE:
                signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    with handled(dict.fromkeys((*FROM_OUTSIDE, signal.SIGALRM), interrupt)):
        unraisable, sys.unraisablehook = sys.unraisablehook, _interrupt_again
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = unraisable


@contextmanager
def handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """While entered, these signals have these handlers; one that is ignored stays so."""
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN  # as under nohup
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _interrupt_again(swallowed: sys.UnraisableHookArgs) -> None:
    """Python drops what is raised in a finalizer, of which py4j has many: raise it a little later."""
    if swallowed.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)
    else:
        sys.__unraisablehook__(swallowed)


# MERGED from harness.loopback.deferral: 'What must not be cut in two by Ctrl-C: a process has started, and its id is written down.'
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
