"""A signal interrupts the run wherever it arrives."""

from __future__ import annotations

import signal
import time

import pytest

from harness.runtime.interrupt import interruptible

PATIENCE_S = 30


class Finalized:
    """Raises a signal in its finalizer, where Python drops every exception."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGTERM)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_an_interrupt(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(number)


def test_a_signal_in_a_finalizer_is_not_lost() -> None:
    def run_finalizer() -> None:
        Finalized()
        time.sleep(PATIENCE_S)

    with pytest.raises(KeyboardInterrupt), interruptible():
        run_finalizer()


def test_a_signal_that_was_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_the_previous_handlers_are_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with interruptible():
        assert signal.getsignal(signal.SIGTERM) is not before
    assert signal.getsignal(signal.SIGTERM) is before
