"""Which rows of a table are controls."""

from __future__ import annotations

from harness.analysis.comparison import Comparison


def common_controls(comparison: Comparison) -> frozenset[str]:
    """The workloads that every configuration takes for one."""
    return frozenset.intersection(*(column.controls for column in comparison.columns))
