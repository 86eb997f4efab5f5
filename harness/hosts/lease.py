"""Leases: what we started on a host ends there when the host has not heard of us for a while.

A host may learn late or never that a connection is lost: a link that is down for minutes closes nothing. So
each shell that we start reads lines, which we write several times in each lease, and ends what it started
when no line comes. It needs no network for that, and no clock that is right.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

LEASE_S = 60.0
"""A host ends our command when it has not heard of us for this long."""
RENEWALS = 5
"""How many renewals come in a lease."""
STAY = "stay"
"""The line that renews a lease."""

# A POSIX `read` waits for ever, so a shell of its own reads the line, which `timeout` kills.
HEAR = """
hear() { timeout -s KILL "$lease" sh -c 'IFS= read -r line && printf "%s\\n" "$line"'; }
"""
"""A function of `sh` that prints the next line; it fails if none comes within `$lease` seconds."""


class Leased(Protocol):
    """Something on a host that lives as long as its lease is renewed."""

    def renew(self) -> None:
        """Let it wait for another lease."""


class Renewal:
    """A context in which the leases of all that `leased` returns are renewed."""

    def __init__(self, leased: Callable[[], Iterable[Leased]], lease_s: float) -> None:
        self._leased = leased
        self._every_s = lease_s / RENEWALS
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._renew, daemon=True)

    def __enter__(self) -> "Renewal":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _renew(self) -> None:
        deadline = time.monotonic()
        while not self._end.wait(max(0.0, deadline - time.monotonic())):
            for each in tuple(self._leased()):
                each.renew()
            deadline = time.monotonic() + self._every_s
