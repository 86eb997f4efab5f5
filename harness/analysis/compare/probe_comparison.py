"""Probe measurements compared with a baseline: one table per metric, one column per configuration."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from harness.analysis.network.measured import by_host, probes_of_many_hosts
from harness.model.limits import MIN_RUNS
from harness.model.probe import Measurement, ProbeSample, samples
from harness.statistics.change import Change, changes_of_table
from harness.statistics.interval import Interval
from harness.statistics.run_table import RunMedian, RunTable, run_median


@dataclass(frozen=True)
class ProbeCell:
    """One subject in one configuration; `sample` is None if the subject was not probed there.

    `runs` counts the probe runs that have a value. `value` is the geometric mean of their medians, in the
    metric's unit; where values of 0 or less are among them, it is the median of all. It is None without
    values, and `interval`, its 95 % confidence interval, with fewer than two probe runs. `change` is
    relative to the baseline; the table's `better` says which direction is an improvement.
    """

    sample: ProbeSample | None
    runs: int = 0
    value: float | None = None
    interval: Interval | None = None
    change: Change | None = None


@dataclass(frozen=True)
class ProbeTable:
    """One metric, with a row for each subject and case; the first configuration is the baseline.

    `by_host`: the rows are of hosts, with the medians of their pairs.
    """

    probe: str
    metric: str
    unit: str
    better: str
    configurations: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ProbeCell, ...]], ...]
    by_host: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the table; their p-values are adjusted for each other."""
        return tuple(cell.change for _, cells in self.rows for cell in cells if cell.change)


_Metric = tuple[str, str, str, str]
"""Probe, metric, unit, and which direction is better."""
_Subject = tuple[str, str]
"""Subject and case."""
_ProbeRun = dict[_Subject, ProbeSample]
"""The samples of one metric in one probe run."""


def compare_probes(
    measured: Mapping[str, Sequence[Sequence[Measurement]]],
) -> tuple[ProbeTable, ...]:
    """Return a table for each metric, from the measurements of each configuration's probe runs.

    The first configuration is the baseline. A probe of the pairs of many hosts has two rows for each host.
    """
    found = [[samples(run) for run in runs] for runs in measured.values()]
    many = probes_of_many_hosts(sample for runs in found for run in runs for sample in run)
    columns = [[_by_metric(by_host(run, many)) for run in runs] for runs in found]
    metrics = dict.fromkeys(metric for runs in columns for run in runs for metric in run)
    return tuple(
        ProbeTable(
            *metric,
            tuple(measured),
            tuple(_rows([[run.get(metric, {}) for run in runs] for runs in columns])),
            by_host=metric[0] in many,
        )
        for metric in metrics
    )


def _by_metric(probe_run: Sequence[ProbeSample]) -> dict[_Metric, _ProbeRun]:
    found: dict[_Metric, _ProbeRun] = {}
    for sample in probe_run:
        metric = (sample.probe, sample.metric, sample.unit, sample.better)
        found.setdefault(metric, {})[sample.subject, sample.case] = sample
    return found


def _rows(columns: Sequence[Sequence[_ProbeRun]]) -> Iterator[tuple[str, tuple[ProbeCell, ...]]]:
    subjects = list(dict.fromkeys(key for runs in columns for run in runs for key in run))
    model = _model(columns, subjects)
    changes = changes_of_table(model)
    for subject in subjects:
        cells = (
            _cell(model, index, subject, runs, changes.get((_name(subject), index)))
            for index, runs in enumerate(columns)
        )
        yield _name(subject), tuple(cells)


def _name(subject: _Subject) -> str:
    return ", ".join(filter(None, subject))


def _model(columns: Sequence[Sequence[_ProbeRun]], subjects: Sequence[_Subject]) -> RunTable:
    every = [run for runs in columns for run in runs]
    modelled = [
        subject
        for subject in subjects
        if all(value > 0 for run in every if subject in run for value in run[subject].values)
    ]

    def medians(run: _ProbeRun) -> dict[str, RunMedian]:
        own = ((name, run[name].values) for name in modelled if name in run)
        return {_name(name): run_median(values, clock_s=0) for name, values in own if values}

    return RunTable([list(map(medians, runs)) for runs in columns])


def _cell(
    model: RunTable,
    column: int,
    subject: _Subject,
    runs: Sequence[_ProbeRun],
    change: Change | None,
) -> ProbeCell:
    found = [run[subject] for run in runs if subject in run]
    if not found:
        return ProbeCell(None)
    sample = replace(
        found[0],
        values=tuple(value for part in found for value in part.values),
        errors=tuple(error for part in found for error in part.errors),
    )
    if not sample.values:
        return ProbeCell(sample)
    counted = sum(bool(part.values) for part in found)
    if not model.runs(column, _name(subject)):
        return ProbeCell(sample, counted, median(sample.values))
    value = model.time(column, _name(subject))
    interval = value.interval if counted >= MIN_RUNS else None
    return ProbeCell(sample, counted, value.value, interval, change)
