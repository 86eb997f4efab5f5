"""Seconds: what measures them, and their text for people."""

from __future__ import annotations

from typing import Callable

Clock = Callable[[], float]
"""Returns seconds since an arbitrary time, and never goes back."""

MINUTE, HOUR = 60, 3600


def duration_text(seconds: float) -> str:
    """Return seconds as text for people: `42 s`, `3 min 05 s`, `2 h 07 min`."""
    whole = round(seconds)
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02} min"
