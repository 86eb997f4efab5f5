"""Waiting for copies and stripes that the file system is still making."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from datagen.layout import Layout
from datagen.observed_layout import StoredFiles
from harness.runtime.progress import duration

PATIENCE_S = 60


@dataclass(frozen=True)
class ReplicationWait:
    """How long to wait: until `patience_s` seconds go by in which nothing changes for the better."""

    patience_s: float = PATIENCE_S
    interval_s: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    stream: TextIO | None = None

    def wait(self, observe: Callable[[], StoredFiles], layout: Layout | None) -> StoredFiles:
        """Observe until the files are as they should be, or until that is not to be hoped for."""
        stored = observe()
        least, since = _amiss(stored), self.clock()
        said = None
        while _amiss(stored) and layout in (None, stored.layout):
            if _amiss(stored) < least:
                least, since = _amiss(stored), self.clock()
            left_s = self.patience_s - (self.clock() - since)
            if left_s <= 0:
                break
            self._say(stored, left_s, anew=_amiss(stored) != said)
            said = _amiss(stored)
            self.sleep(self.interval_s)
            stored = observe()
        if said is not None and self._out.isatty():
            self._out.write("\r\x1b[K")
        return stored

    @property
    def _out(self) -> TextIO:
        return self.stream or sys.stderr

    def _say(self, stored: StoredFiles, left_s: float, *, anew: bool) -> None:
        line = (
            f"waiting for {stored.missing:,} copies or stripes to come and {stored.excess:,} to go; "
            f"gives up in {duration(left_s)} unless one does"
        )
        if self._out.isatty():
            self._out.write(f"\r\x1b[K{line}")
        elif anew:
            self._out.write(f"{line}\n")
        self._out.flush()


def _amiss(stored: StoredFiles) -> int:
    return stored.missing + stored.excess
