"""How much benchmarks do: what their figures need, or with BENCH=smoke the least that runs every line.

With the least, a figure says nothing, so none is judged.
"""

import os
from typing import TypeVar

T = TypeVar("T")

IS_SMOKE = os.environ.get("BENCH") == "smoke"


def scaled(needed: T, *, smoke: T) -> T:
    """Return what the figures need, or for a smoke test the other value."""
    return smoke if IS_SMOKE else needed
