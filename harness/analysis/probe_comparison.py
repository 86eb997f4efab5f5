"""Probe measurements compared with a baseline: one table per metric, one column per configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from harness.analysis.sample import relative_change
from harness.model.probe import Measurement, ProbeSample, samples
from harness.statistics.change import Change, adjusted_changes, two_sample_test
from harness.statistics.median import Interval, median_interval


@dataclass(frozen=True)
class ProbeCell:
    """One subject in one configuration; `sample` is None if the subject was not probed there.

    `median` and its 95 % `interval` are in the metric's unit, and None without values. `change` is
    relative to the baseline; the table's `better` says which direction is an improvement.
    """

    sample: ProbeSample | None
    median: float | None = None
    interval: Interval | None = None
    change: Change | None = None


@dataclass(frozen=True)
class ProbeTable:
    """One metric, with a row for each subject and case; the first configuration is the baseline."""

    probe: str
    metric: str
    unit: str
    better: str
    configurations: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ProbeCell, ...]], ...]

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the table; their p-values are adjusted for each other."""
        return tuple(cell.change for _, cells in self.rows for cell in cells if cell.change)


_Metric = tuple[str, str, str, str]
"""Probe, metric, unit, and which direction is better."""
_Column = dict[tuple[str, str], ProbeSample]
"""The samples of one metric in one configuration, by subject and case."""


def compare_probes(measured: Mapping[str, Sequence[Measurement]]) -> tuple[ProbeTable, ...]:
    """Return a table for each metric, from measurements by configuration, the baseline first."""
    columns = [_by_metric(measurements) for measurements in measured.values()]
    metrics = dict.fromkeys(metric for column in columns for metric in column)
    return tuple(
        ProbeTable(
            *metric, tuple(measured), tuple(_rows([column.get(metric, {}) for column in columns]))
        )
        for metric in metrics
    )


def _by_metric(
    measurements: Sequence[Measurement],
) -> dict[_Metric, _Column]:
    found: dict[_Metric, _Column] = {}
    for sample in samples(measurements):
        metric = (sample.probe, sample.metric, sample.unit, sample.better)
        found.setdefault(metric, {})[sample.subject, sample.case] = sample
    return found


def _rows(columns: Sequence[_Column]) -> Iterator[tuple[str, tuple[ProbeCell, ...]]]:
    subjects = list(dict.fromkeys(subject for column in columns for subject in column))
    tests = {
        (subject, index): two_sample_test(change, before.values, after.values, None)
        for subject in subjects
        for index, column in enumerate(columns[1:], 1)
        if (before := columns[0].get(subject))
        and (after := column.get(subject))
        and before.values
        and after.values
        and (change := relative_change(median(before.values), median(after.values))) is not None
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
    interval = median_interval(sorted(sample.values))
    return ProbeCell(sample, median(sample.values), interval, change)
