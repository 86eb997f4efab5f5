"""Progress for people, on the error stream."""

from __future__ import annotations

import sys
from contextlib import suppress

from harness.present.escape import visible


def say(line: str) -> None:
    """Print a line, if whoever watched is still there."""
    with suppress(OSError):
        print(visible(line), file=sys.stderr, flush=True)
