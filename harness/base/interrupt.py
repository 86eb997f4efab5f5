"""Ctrl-C, SIGTERM and SIGHUP: they interrupt a run in the same way, or wait until it is safe."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any, Callable, NoReturn, Optional

RETRY_S = 0.05
Handler = Callable[[int, Optional[FrameType]], object]
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible(*, once: bool = False) -> Iterator[None]:
    """Let the INTERRUPTS raise KeyboardInterrupt in the main thread, inside the `with` block.

    With `once` only the first of them does, so that no later one interrupts the cleaning up.

    Enter the block after Spark has started, because pyspark installs its own handler of Ctrl-C, which
    first calls the JVM over a connection that is in use.
    """

    def interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
        if once:
            for number in INTERRUPTS:
                signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    handlers = dict.fromkeys(INTERRUPTS, interrupt)
    handlers[signal.SIGALRM] = interrupt
    with signal_handlers(handlers):
        former_hook = sys.unraisablehook
        sys.unraisablehook = _retry_interrupt
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = former_hook


def end_at_ctrl_c() -> None:
    """Let Ctrl-C end this process without a stack trace, as long as there is nothing to clean up."""
    _replace_ctrl_c_handler(signal.SIG_DFL)


def raise_at_ctrl_c() -> None:
    """Let Ctrl-C raise KeyboardInterrupt in the main thread, as Python does by itself."""
    _replace_ctrl_c_handler(signal.default_int_handler)


def _replace_ctrl_c_handler(handler: Handler | signal.Handlers) -> None:
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # as under nohup
        signal.signal(signal.SIGINT, handler)


@contextmanager
def signal_handlers(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Install handlers for the `with` block. A signal that is ignored stays ignored."""
    before: dict[signal.Signals, Any] = {}
    for number, handler in handlers.items():
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            before[number] = signal.signal(number, handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _retry_interrupt(dropped: sys.UnraisableHookArgs) -> None:
    """Interrupt again a little later: Python drops exceptions in finalizers, and py4j has many."""
    if dropped.exc_type is KeyboardInterrupt:
        signal.setitimer(signal.ITIMER_REAL, RETRY_S)
    else:
        sys.__unraisablehook__(dropped)


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Delay the INTERRUPTS until the end of the `with` block, whose steps must not be separated.

    Only the main thread receives signals, so in any other this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    received: list[int] = []
    try:
        remember = dict.fromkeys(INTERRUPTS, lambda number, _frame: received.append(number))
        with signal_handlers(remember):
            yield
    finally:
        for number in received:
            signal.raise_signal(number)
