"""Probe measurements compared with a baseline: one table per metric, one column per configuration."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import median

from harness.analysis.network.measured import by_host, probes_of_many_hosts
from harness.model.limits import MIN_RUNS
from harness.model.probe import Measurement, ProbeSample, samples
from harness.statistics.change import Change, changes_of_table
from harness.statistics.interval import Interval
from harness.statistics.run_table import RunMedian, RunTable, run_median


@dataclass(frozen=True)
class ProbeCell:
    """One subject in one configuration. `sample` is None if the subject was not probed there.

    - `runs`: how many probe runs have a value.
    - `value`: the geometric mean of their medians, in the metric's unit; the median of all values if some are
      0 or less; None without values.
    - `interval`: its 95 % confidence interval, None with fewer than two probe runs.
    - `change`: relative to the baseline. The table's `better` says which direction is an improvement.
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
        """All changes of the table. Their p-values are adjusted for each other."""
        cells = chain.from_iterable(cells for _, cells in self.rows)
        return tuple(cell.change for cell in cells if cell.change)


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
    found: list[list[list[ProbeSample]]] = []
    of_all_runs: list[ProbeSample] = []
    for own in measured.values():
        of_runs = [samples(run) for run in own]
        found.append(of_runs)
        of_all_runs += chain.from_iterable(of_runs)
    many = probes_of_many_hosts(of_all_runs)
    columns: list[list[dict[_Metric, _ProbeRun]]] = []
    metrics: dict[_Metric, None] = {}
    for runs in found:
        column = [_by_metric(by_host(run, many)) for run in runs]
        columns.append(column)
        metrics |= dict.fromkeys(chain.from_iterable(column))
    tables: list[ProbeTable] = []
    for metric in metrics:
        of_metric = [[run.get(metric, {}) for run in column] for column in columns]
        rows = tuple(_rows(of_metric))
        tables.append(ProbeTable(*metric, tuple(measured), rows, by_host=metric[0] in many))
    return tuple(tables)


def _by_metric(probe_run: Sequence[ProbeSample]) -> dict[_Metric, _ProbeRun]:
    found: dict[_Metric, _ProbeRun] = {}
    for sample in probe_run:
        metric = (sample.probe, sample.metric, sample.unit, sample.better)
        found.setdefault(metric, {})[sample.subject, sample.case] = sample
    return found


def _rows(columns: Sequence[Sequence[_ProbeRun]]) -> Iterator[tuple[str, tuple[ProbeCell, ...]]]:
    subjects: dict[_Subject, None] = {}
    for run in chain.from_iterable(columns):
        subjects |= dict.fromkeys(run)
    model = _model(columns, subjects)
    changes = changes_of_table(model)
    for subject in subjects:
        name = _name(subject)
        cells: list[ProbeCell] = []
        for index, runs in enumerate(columns):
            cells.append(_cell(model, index, subject, runs, changes.get((name, index))))
        yield name, tuple(cells)


def _name(subject: _Subject) -> str:
    return ", ".join(filter(None, subject))


def _model(columns: Sequence[Sequence[_ProbeRun]], subjects: Iterable[_Subject]) -> RunTable:
    """Return the model of all subjects whose values have logarithms."""
    not_positive: set[_Subject] = set()
    for run in chain.from_iterable(columns):
        for subject, sample in run.items():
            if min(sample.values, default=1) <= 0:
                not_positive.add(subject)
    modelled = [subject for subject in subjects if subject not in not_positive]
    return RunTable([[_medians(run, modelled) for run in runs] for runs in columns])


def _medians(run: _ProbeRun, subjects: Sequence[_Subject]) -> dict[str, RunMedian]:
    found: dict[str, RunMedian] = {}
    for subject in subjects:
        if subject in run and run[subject].values:
            found[_name(subject)] = run_median(run[subject].values, clock_s=0)
    return found


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
    values: list[float] = []
    errors: list[str] = []
    counted = 0
    for part in found:
        values += part.values
        errors += part.errors
        counted += bool(part.values)
    sample = replace(found[0], values=tuple(values), errors=tuple(errors))
    if not values:
        return ProbeCell(sample)
    if not model.run_count(column, _name(subject)):
        return ProbeCell(sample, counted, median(sample.values))
    value = model.time(column, _name(subject))
    interval = value.interval if counted >= MIN_RUNS else None
    return ProbeCell(sample, counted, value.value, interval, change)
