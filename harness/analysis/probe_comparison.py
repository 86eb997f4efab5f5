"""What was measured of the network in each configuration, held against the first of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.sample import share
from harness.model.probe import Measurement, ProbeSample, samples
from harness.statistics.change import Change, adjusted_changes, two_sample_test
from harness.statistics.median import median_interval
from harness.statistics.rank_test import Interval


@dataclass(frozen=True)
class ProbeCell:
    """One subject in one configuration; without a sample nothing is known of it.

    `median` and `interval` are in the metric's unit, None without a value. `change` is that of the
    values: whether it is for the better, the metric says.
    """

    sample: ProbeSample | None
    median: float | None = None
    interval: Interval | None = None
    change: Change | None = None


@dataclass(frozen=True)
class ProbeTable:
    """One metric: subjects down, configurations across; the first column is the baseline."""

    probe: str
    metric: str
    unit: str
    better: str
    configurations: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ProbeCell, ...]], ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that were tested together."""
        return tuple(cell.change for _, cells in self.rows for cell in cells if cell.change)


_Metric = tuple[str, str, str, str]
_Column = Mapping[tuple[str, str], ProbeSample]
"""By subject and case."""


def compare_probes(measured: Mapping[str, Sequence[Measurement]]) -> tuple[ProbeTable, ...]:
    """A table for each metric, by configuration; the first is the baseline."""
    columns = {name: _by_metric(some) for name, some in measured.items()}
    metrics = dict.fromkeys(metric for column in columns.values() for metric in column)
    return tuple(
        ProbeTable(
            *metric, tuple(columns), tuple(_rows([c.get(metric, {}) for c in columns.values()]))
        )
        for metric in metrics
    )


def _by_metric(
    measurements: Sequence[Measurement],
) -> dict[_Metric, dict[tuple[str, str], ProbeSample]]:
    found: dict[_Metric, dict[tuple[str, str], ProbeSample]] = {}
    for one in samples(measurements):
        metric = (one.probe, one.metric, one.unit, one.better)
        found.setdefault(metric, {})[one.subject, one.case] = one
    return found


def _rows(columns: Sequence[_Column]) -> Iterator[tuple[str, tuple[ProbeCell, ...]]]:
    subjects = list(dict.fromkeys(subject for column in columns for subject in column))
    tests = {
        (subject, index): two_sample_test(change, before.values, after.values, None)
        for subject in subjects
        for index, column in enumerate(columns[1:], 1)
        if (before := columns[0].get(subject))
        and (after := column.get(subject))
        and (change := _median_change(before.values, after.values)) is not None
    }
    changes = dict(zip(tests, adjusted_changes(list(tests.values())), strict=True))
    for subject in subjects:
        name = ", ".join(filter(None, subject))
        cells = (
            _cell(column.get(subject), changes.get((subject, index)))
            for index, column in enumerate(columns)
        )
        yield name, tuple(cells)


def _cell(sample: ProbeSample | None, change: Change | None) -> ProbeCell:
    if sample is None or not sample.values:
        return ProbeCell(sample)
    ends = median_interval(sorted(sample.values))
    return ProbeCell(sample, median(sample.values), Interval(*ends) if ends else None, change)


def _median_change(before: Sequence[float], after: Sequence[float]) -> float | None:
    if not (before and after):
        return None
    return share(median(after) - median(before), median(before))
