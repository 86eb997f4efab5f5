"""Wait for copies and stripes that the file system is still creating, or still deleting."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

from datagen.layout import Layout
from datagen.observed_layout import StoredFiles
from harness.runtime.progress import duration_text

PATIENCE_S = 60


@dataclass(frozen=True)
class ReplicationWait:
    """How long to wait: until nothing has improved for `patience_s` seconds.

    The files are observed every `interval_s` seconds. Progress is written to `stream`, by default
    standard error.
    """

    patience_s: float = PATIENCE_S
    interval_s: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    stream: TextIO | None = None

    def wait(self, observe: Callable[[], StoredFiles], layout: Layout | None) -> StoredFiles:
        """Observe until no copy or stripe is missing or in excess, or until the patience is over.

        Return the last observation. Files with another layout than `layout` are not waited for.
        """
        stored = observe()
        fewest, improved_at = _wrong_parts(stored), self.clock()
        shown = None
        while (wrong := _wrong_parts(stored)) and layout in (None, stored.layout):
            if wrong < fewest:
                fewest, improved_at = wrong, self.clock()
            left_s = self.patience_s - (self.clock() - improved_at)
            if left_s <= 0:
                break
            self._show(stored, left_s, changed=wrong != shown)
            shown = wrong
            self.sleep(self.interval_s)
            stored = observe()
        if shown is not None and self._out.isatty():
            self._out.write("\r\x1b[K")
        return stored

    @property
    def _out(self) -> TextIO:
        return self.stream or sys.stderr

    def _show(self, stored: StoredFiles, left_s: float, *, changed: bool) -> None:
        """Rewrite the line on a terminal; elsewhere, write a line only if the numbers changed."""
        line = (
            f"waiting until the file system has created {stored.missing:,} copies or stripes and "
            f"deleted {stored.excess:,}; giving up in {duration_text(left_s)} without progress"
        )
        if self._out.isatty():
            self._out.write(f"\r\x1b[K{line}")
        elif changed:
            self._out.write(f"{line}\n")
        self._out.flush()


def _wrong_parts(stored: StoredFiles) -> int:
    return stored.missing + stored.excess
