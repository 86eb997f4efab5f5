"""A metric of every pair: who to whom, the median of its repeats, or why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median

from harness.probes.measurement import Measurement, Metric

ARROW = " -> "
Pair = tuple[str, str]
"""Sender and receiver."""


@dataclass(frozen=True)
class Matrix:
    """Values and errors by pair; a pair with neither was not tried.

    Hosts are in the order of their names, node2 before node10.
    """

    hosts: tuple[str, ...]
    values: Mapping[Pair, float]
    errors: Mapping[Pair, str]

    def sent_by(self, host: str) -> dict[Pair, float]:
        """The values of what a host sent."""
        return {pair: value for pair, value in self.values.items() if pair[0] == host}

    def received_by(self, host: str) -> dict[Pair, float]:
        """The values of what a host received."""
        return {pair: value for pair, value in self.values.items() if pair[1] == host}


def matrix(measurements: Iterable[Measurement], metric: Metric, case: str = "") -> Matrix:
    """The pairs of one metric in one case; a pair that was measured at least once has a value."""
    found: dict[Pair, list[float]] = {}
    errors: dict[Pair, str] = {}
    for one in measurements:
        if (one.probe, one.metric, one.case) != (metric.probe, metric.name, case):
            continue
        sender, _, receiver = one.subject.partition(ARROW)
        values = found.setdefault((sender, receiver), [])
        if one.value is not None:
            values.append(one.value)
        elif one.error is not None:
            errors.setdefault((sender, receiver), one.error)
    return Matrix(
        hosts=tuple(sorted({host for pair in found for host in pair}, key=_numbered)),
        values={pair: median(values) for pair, values in found.items() if values},
        errors={pair: error for pair, error in errors.items() if not found[pair]},
    )


def _numbered(host: str) -> list[tuple[int, str]]:
    """Numbers within a name count as numbers."""
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", host)]
