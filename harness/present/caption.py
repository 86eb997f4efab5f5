"""What a table's numbers mean, in one line."""

from __future__ import annotations

from harness.analysis.comparison import Comparison


def caption(comparison: Comparison) -> str:
    """The line below a table."""
    meaning = "Median of n measured trials, which all lie within ± of it"
    alone = len(comparison.columns) == 1
    return f"{meaning}." if alone else f"{meaning}; change against the first column."
