"""Probe measurements compared with a baseline: one table per metric, one column per configuration."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median

from harness.analysis.network.measured import by_host, probes_of_many_hosts
from harness.base.items import union
from harness.model.limits import MIN_RUNS
from harness.model.probe import Measurement, ProbeSample, samples
from harness.statistics.change import Change, changes_from_baseline
from harness.statistics.interval import Interval
from harness.statistics.run_model import RunMedian, RunModel, run_median


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
class MetricComparison:
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
        found: list[Change] = []
        for _, cells in self.rows:
            found += [cell.change for cell in cells if cell.change]
        return tuple(found)


_Metric = tuple[str, str, str, str]
"""Probe, metric, unit, and which direction is better."""
_Subject = tuple[str, str]
"""Subject and case."""
_ProbeRun = dict[_Subject, ProbeSample]
"""The samples of one metric in one probe run."""


def compare_probes(
    measured: Mapping[str, Sequence[Sequence[Measurement]]],
) -> tuple[MetricComparison, ...]:
    """Return a table for each metric, from the measurements of each configuration's probe runs.

    The first configuration is the baseline. A probe of the pairs of many hosts has two rows for each host.
    """
    columns = [list(map(samples, runs)) for runs in measured.values()]
    many = probes_of_many_hosts(chain.from_iterable(chain.from_iterable(columns)))
    of_metrics: dict[_Metric, list[list[_ProbeRun]]] = {}
    for number, runs in enumerate(columns):
        for run in runs:
            for metric, own in _by_metric(by_host(run, many)).items():
                of_metric = of_metrics.setdefault(metric, [[] for _ in columns])
                of_metric[number].append(own)
    found: list[MetricComparison] = []
    for metric, of_metric in of_metrics.items():
        rows = tuple(_rows(of_metric))
        found.append(MetricComparison(*metric, tuple(measured), rows, by_host=metric[0] in many))
    return tuple(found)


def _by_metric(probe_run: Sequence[ProbeSample]) -> dict[_Metric, _ProbeRun]:
    found: dict[_Metric, _ProbeRun] = {}
    for sample in probe_run:
        metric = (sample.probe, sample.metric, sample.unit, sample.better)
        found.setdefault(metric, {})[sample.subject, sample.case] = sample
    return found


def _rows(columns: Sequence[Sequence[_ProbeRun]]) -> Iterator[tuple[str, tuple[ProbeCell, ...]]]:
    model = _model(columns)
    changes = changes_from_baseline(model)
    for subject in union(chain.from_iterable(columns)):
        name = _name(subject)
        cells: list[ProbeCell] = []
        for index, runs in enumerate(columns):
            cells.append(_cell(model, index, subject, runs, changes.get((name, index))))
        yield name, tuple(cells)


def _name(subject: _Subject) -> str:
    return ", ".join(filter(None, subject))


def _model(columns: Sequence[Sequence[_ProbeRun]]) -> RunModel:
    """Return the model of all subjects whose values have logarithms."""
    not_positive: set[_Subject] = set()
    for run in chain.from_iterable(columns):
        for subject, sample in run.items():
            if min(sample.values, default=1) <= 0:
                not_positive.add(subject)
    medians = partial(_medians, not_positive)
    return RunModel([list(map(medians, runs)) for runs in columns])


def _medians(left_out: Collection[_Subject], run: _ProbeRun) -> dict[str, RunMedian]:
    found: dict[str, RunMedian] = {}
    for subject, sample in run.items():
        if sample.values and subject not in left_out:
            found[_name(subject)] = run_median(sample.values, clock_s=0)
    return found


def _cell(
    model: RunModel,
    column: int,
    subject: _Subject,
    runs: Sequence[_ProbeRun],
    change: Change | None,
) -> ProbeCell:
    """Return what the probe runs of a configuration, the `column` of the model, have of a subject."""
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
    name = _name(subject)
    if not model.run_count(column, name):
        return ProbeCell(sample, counted, median(sample.values))
    value = model.time(column, name)
    interval = value.interval if counted >= MIN_RUNS else None
    return ProbeCell(sample, counted, value.value, interval, change)
