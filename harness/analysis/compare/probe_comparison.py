"""Probe measurements compared with a baseline: one table per metric, one column per configuration."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from statistics import median

from harness.analysis.network.measured import by_host, probes_of_many_hosts
from harness.analysis.observed.probe_load import (
    LoadSeries,
    load_differences,
    measured_alike,
    runs_by_series,
)
from harness.base.items import union, unique
from harness.base.words import join_names
from harness.model.limits import MIN_RUNS
from harness.model.probe import ProbeRun, ProbeSample, RecordedProbes, samples
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

    - `by_host`: the rows are of hosts, with the medians of their pairs.
    - `warnings`: what was not measured alike.
    """

    probe: str
    metric: str
    unit: str
    better: str
    configurations: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ProbeCell, ...]], ...]
    by_host: bool = False
    warnings: tuple[str, ...] = ()

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
_RunsBySeries = Mapping[LoadSeries, Sequence[ProbeRun]]
"""The probe runs that have a value, by what they measured."""


def compare_probes(
    probes: Mapping[str, Sequence[RecordedProbes]],
) -> tuple[MetricComparison, ...]:
    """Return a table for each metric, from each configuration's probe runs.

    The first configuration is the baseline. A probe of the pairs of many hosts has two rows for each host.
    Values of another load than that of the configuration's newest ones are left out, with a warning.
    """
    runs_of = {name: runs_by_series(runs) for name, runs in probes.items()}
    columns: list[list[list[ProbeSample]]] = []
    for name, recorded in probes.items():
        columns.append(list(map(samples, measured_alike(recorded, runs_of[name]))))
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
        warnings = tuple(unique(_unlike_loads(runs_of, metric)))
        is_by_host = metric[0] in many
        found.append(MetricComparison(*metric, tuple(probes), rows, is_by_host, warnings))
    return tuple(found)


def _unlike_loads(runs_of: Mapping[str, _RunsBySeries], metric: _Metric) -> Iterator[str]:
    """Yield which values of a metric were not measured alike: of two configurations, or of one."""
    baseline = next(iter(runs_of))
    for name, of_series in runs_of.items():
        for series, runs in of_series.items():
            if series[:2] == metric[:2]:
                first = runs_of[baseline].get(series, runs)[-1]
                yield from _unlike(baseline, first, name, runs)


def _unlike(baseline: str, first: ProbeRun, name: str, runs: Sequence[ProbeRun]) -> Iterator[str]:
    """Yield how the newest of some runs differs from the baseline's `first`, and from earlier ones."""
    newest = runs[-1]
    values: list[str] = []
    for parameter, (old, new) in load_differences(first, newest).items():
        values.append(f"{parameter} {old} in {baseline}, {parameter} {new} in {name}")
    if values:
        yield f"Not measured alike: {join_names(values)}."
    if any(load_differences(run, newest) for run in runs):
        yield f"Earlier probes of {name} are left out: they did not measure as its newest one did."


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
