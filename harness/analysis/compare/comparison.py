"""Configurations compared with a baseline: one row per workload, one column per configuration."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from harness.analysis.compare.answers import (
    answer_fact,
    answers_at_ties,
    how_it_varies,
    left_out,
    require_known_queries,
    require_some_left,
)
from harness.analysis.compare.comparability import (
    require_common_workload,
    require_no_confounders,
    require_same_data,
    require_same_units,
    require_several,
    require_testable_controls,
)
from harness.analysis.compare.confounder import Confounder
from harness.analysis.compare.confounders import confounders
from harness.analysis.compare.sides import Sides
from harness.analysis.observed.caveats import caveats
from harness.analysis.observed.configuration import (
    ConfigurationRuns,
    model_of,
    with_unique_names,
)
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.overlaps import overlaps_with
from harness.analysis.observed.plans import variation
from harness.analysis.observed.sample import Outcome, Performance, Sample, Summary
from harness.base.items import known, union, unique
from harness.base.words import count_of, percent, significant
from harness.model.limits import MIN_RUNS
from harness.model.planning import LARGE_SHARE
from harness.model.run import RecordedRun, Run
from harness.records.lookup import check_no_run_twice
from harness.statistics.change import Change, ControlShift, changes_from_baseline, shift_of_controls
from harness.statistics.interval import Interval
from harness.statistics.run_model import RunModel


@dataclass(frozen=True)
class Cell:
    """One workload in one configuration.

    - `summary`: None exactly if the sample has no times.
    - `change`: the change of the time, relative to the baseline. None in the baseline itself, and if either
      side has no times.
    - `confounders`: lines on what else differs from the baseline, and may explain the change of this
      workload, but not of all workloads.
    - `left_out`: why the change of this workload is not shown although both sides have times; None if it is.
    """

    sample: Sample
    summary: Summary | None
    change: Change | None = None
    confounders: tuple[str, ...] = ()
    left_out: str | None = None

    @property
    def performance(self) -> Performance | None:
        """What is compared instead of the time if the workload counts its work."""
        unit = self.sample.unit
        summary = self.summary
        if unit is None or summary is None:
            return None
        value = 1 / summary.time_s
        interval = None
        if summary.interval_s:
            interval = Interval(1 / summary.interval_s.high, 1 / summary.interval_s.low)
        efficiencies = {source: value / peak for source, peak in self.sample.peaks.items()}
        return Performance(value, unit, interval, efficiencies)

    @property
    def shown_change(self) -> Change | None:
        """The change of what is compared: of the performance, or else of the time."""
        if self.change and self.sample.unit:
            return self.change.of_performance
        return self.change

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that a reader of the cell must know: failures, reasons for omission, confounders."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.left_out:
            yield self.left_out
        yield from _sample_notes(self.sample)
        yield from self._planning_note()
        yield from self.confounders

    def _planning_note(self) -> Iterator[str]:
        """Yield that planning is a large part of the time, which grows with neither data nor cluster."""
        planning_s = self.sample.planning.planning_s
        if planning_s and self.summary and planning_s >= LARGE_SHARE * self.summary.time_s:
            share = percent(planning_s / self.summary.time_s)
            yield f"Spark plans the query during {share} of the time ({significant(planning_s, 2)} s)"


@dataclass(frozen=True)
class Row:
    """One workload, with a cell for each configuration in the order of the columns."""

    workload: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Comparison:
    """Every workload in every configuration; the first column is the baseline.

    - `notes`: for each column, what its reader must know.
    - `sides`: each further column beside the baseline.
    - `confounders`: for each column, what else differs from the baseline; none in the baseline itself.
    - `control_shifts`: for each column, the joint change of the controls from the baseline. None in the
      baseline itself, and if there are no common controls.
    - `model`: what times and changes were computed with.
    - `relative_to_controls`: whether every change is relative to the change of the controls.
    - `left_out`: why a workload is not compared in a column, by its name and the number of the column.
    """

    columns: Sequence[ConfigurationRuns]
    notes: Sequence[tuple[str, ...]]
    rows: tuple[Row, ...]
    sides: Sequence[Sides]
    confounders: Sequence[Sequence[Confounder]]
    control_shifts: tuple[ControlShift | None, ...]
    model: RunModel
    relative_to_controls: bool = False
    left_out: Mapping[tuple[str, int], str] = field(default_factory=dict)

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the table. Their p-values are adjusted for each other."""
        cells = chain.from_iterable(row.cells for row in self.rows)
        return tuple(cell.change for cell in cells if cell.change)

    @property
    def shown_control_shifts(self) -> tuple[ControlShift | None, ...]:
        """The shifts of what the table shows of the controls: of performances if all count their work."""
        counted = {row.workload for row in self.rows if row.cells[0].sample.unit}
        shown: list[ControlShift | None] = []
        for shift in self.control_shifts:
            if shift and counted.issuperset(shift.workloads):
                shown.append(replace(shift, change=shift.change.of_performance))
            else:
                shown.append(shift)
        return tuple(shown)

    @property
    def limit_of_single_runs(self) -> float | None:
        """The largest relative change that could be another run, where a side has one run.

        None if every change was tested.
        """
        return max(known(change.limit for change in self.changes), default=None)

    @property
    def in_turns(self) -> bool:
        """Whether all configurations took turns in the same applications."""
        others = range(1, len(self.columns))
        return bool(others) and all(self.model.is_in_turns(0, number) for number in others)

    @cached_property
    def controls(self) -> frozenset[str]:
        """The workloads that any configuration declares to be a control.

        A configuration declares only those that it ran.
        """
        return frozenset(chain.from_iterable(column.controls for column in self.columns))

    @property
    def runs(self) -> list[RecordedRun]:
        """The runs of all columns."""
        found: list[RecordedRun] = []
        for column in self.columns:
            found += column.runs
        return found

    @property
    def descriptions(self) -> Iterable[Run]:
        """What each run of all columns declared, requested and observed."""
        return chain.from_iterable(column.descriptions for column in self.columns)


def compare(
    columns: Sequence[ConfigurationRuns],
    *,
    relative_to_controls: bool = False,
    allow_different_data: bool = False,
    allow_different_answers: Collection[str] = (),
    strict: bool = False,
) -> Comparison:
    """Compare configurations with the first of them, the baseline.

    Queries that have another answer than in the baseline are left out, unless their names are in
    `allow_different_answers`, or `allow_different_data`. Raises BadInput
    - for fewer than two configurations;
    - if a run is in two of them;
    - if a configuration has no measured workload in common with the baseline;
    - if a workload counts its work in another unit than in the baseline;
    - if a configuration read other data than the baseline, unless `allow_different_data`;
    - if nothing is left but controls, because queries have another answer;
    - if there is no workload of a name in `allow_different_answers`;
    - if a configuration has confounders or contradicts its declaration, and `strict`;
    - if there are too few runs of common controls, and `relative_to_controls`.
    """
    require_several(columns)
    check_no_run_twice(chain.from_iterable(column.runs for column in columns))
    require_known_queries(columns, allow_different_answers)
    columns = with_unique_names(columns)
    sides = _beside_baseline(columns)
    differences: list[Sequence[Confounder]] = [()]
    reasons: dict[tuple[str, int], str] = {}
    for index, each in enumerate(sides, 1):
        require_common_workload(each)
        require_same_units(each)
        if not allow_different_data:
            require_same_data(each)
        differences.append(confounders(each))
        if strict:
            require_no_confounders(each, differences[index])
        if not allow_different_data:
            own = left_out(each, allow_different_answers)
            require_some_left(each, own)
            for name, reason in own.items():
                reasons[name, index] = reason
    model = model_of(columns)
    controls = controls_in_common(columns, model)
    shifts: list[ControlShift | None] = [None]
    for after, names in enumerate(controls[1:], 1):
        shifts.append(shift_of_controls(model, after, names))
    if relative_to_controls:
        require_testable_controls(columns, shifts)
    changes = changes_from_baseline(
        model, controls if relative_to_controls else None, left_out=reasons.keys()
    )
    return Comparison(
        columns=columns,
        notes=_notes(columns, differences),
        rows=_rows(columns, model, sides, differences, changes, reasons),
        sides=sides,
        confounders=differences,
        control_shifts=tuple(shifts),
        model=model,
        relative_to_controls=relative_to_controls,
        left_out=reasons,
    )


def overview(*columns: ConfigurationRuns) -> Comparison:
    """Return the times of workloads in these configurations, without changes and confounders."""
    model = model_of(columns)
    sides = _beside_baseline(columns)
    nothing: list[Sequence[Confounder]] = [()] * len(columns)
    return Comparison(
        columns=columns,
        notes=_notes(columns, nothing),
        rows=_rows(columns, model, sides, nothing, {}, {}),
        sides=sides,
        confounders=nothing,
        control_shifts=(None,) * len(columns),
        model=model,
    )


def _beside_baseline(columns: Sequence[ConfigurationRuns]) -> list[Sides]:
    return [Sides(columns[0], column) for column in columns[1:]]


def _rows(
    columns: Sequence[ConfigurationRuns],
    model: RunModel,
    sides: Sequence[Sides],
    differences: Sequence[Sequence[Confounder]],
    changes: Mapping[tuple[str, int], Change],
    reasons: Mapping[tuple[str, int], str],
) -> tuple[Row, ...]:
    """Return a row for each workload. `differences` has an item for each column."""
    workloads = _workloads(columns)
    at_ties = [{}, *map(answers_at_ties, sides)]
    rows: list[Row] = []
    for workload in workloads:
        cells: list[Cell] = []
        for index, column in enumerate(columns):
            sample = column.samples.get(workload, Sample(workload))
            reason = reasons.get((workload, index))
            lines: list[str] = []
            for each in differences[index]:
                is_said = reason is not None and each.fact == answer_fact(workload)
                affects_some = each.affects_all([workload]) and not each.affects_all(workloads)
                if affects_some and not is_said:
                    lines.append(each.describe(columns[0].name))
            if workload in at_ties[index]:
                lines.append(at_ties[index][workload])
            change = changes.get((workload, index))
            cells.append(Cell(sample, _summary(model, index, sample), change, tuple(lines), reason))
        rows.append(Row(workload, tuple(cells)))
    return tuple(rows)


def _workloads(columns: Sequence[ConfigurationRuns]) -> list[str]:
    return union(column.workloads for column in columns)


def _summary(model: RunModel, column: int, sample: Sample) -> Summary | None:
    runs = model.run_count(column, sample.workload)
    if not runs:
        return None
    time = model.time(column, sample.workload)
    interval_s = time.interval if runs >= MIN_RUNS else None
    return Summary(time.value, interval_s, runs, len(sample.times_s))


def _notes(
    columns: Sequence[ConfigurationRuns], differences: Sequence[Sequence[Confounder]]
) -> list[tuple[str, ...]]:
    """Return for each column everything that its reader must know."""
    workloads = _workloads(columns)
    found: list[tuple[str, ...]] = []
    for column, own in zip(columns, differences, strict=True):
        others = chain.from_iterable(other.runs for other in columns if other is not column)
        notes = list(caveats(column.runs))
        notes += overlaps_with(column.runs, list(others))
        notes += contradictions(column.runs)
        notes += [each.describe(columns[0].name) for each in own if each.affects_all(workloads)]
        notes += column.notes
        found.append(tuple(notes))
    return found


def widest(column: ConfigurationRuns) -> tuple[str, float] | None:
    """Return the workload whose time is known least well, and half of its interval as a fraction of the time.

    None if a workload has too few runs to tell.
    """
    model = model_of([column])
    widths: dict[str, float] = {}
    for workload, sample in column.samples.items():
        summary = _summary(model, 0, sample)
        if summary is None:
            continue
        width = summary.uncertainty
        if width is None:
            return None
        widths[workload] = width
    return max(widths.items(), key=lambda item: item[1], default=None)


def controls_in_common(
    columns: Sequence[ConfigurationRuns], model: RunModel
) -> list[tuple[str, ...]]:
    """Return for each column the workloads that are controls there and in the baseline, with times."""
    baseline = columns[0]
    found: list[tuple[str, ...]] = []
    for index, column in enumerate(columns):
        names: list[str] = []
        for name in baseline.workloads:
            is_common = name in baseline.controls and name in column.controls
            if is_common and model.runs_of_either(0, index, name):
                names.append(name)
        found.append(tuple(names))
    return found


def _sample_notes(sample: Sample) -> Iterator[str]:
    """Yield what varied, failed or was omitted among the trials of a sample."""
    varied = variation(sample.plans)
    if varied:
        yield varied
    varies = how_it_varies(sample.answers_of_runs)
    if varies:
        yield varies
    if sample.errors:
        failed = len(sample.errors)
        of_all = f"{failed} of {count_of(failed + len(sample.times_s), 'trial')}"
        yield f"{of_all} failed, the first with: {sample.errors[0]}"
    if sample.unsteady:
        yield f"not known to be steady: {'; '.join(unique(sample.unsteady))}"
    if sample.omissions:
        where = "omitted" if sample.outcome is Outcome.OMITTED else "omitted in some runs"
        yield f"{where}: {'; '.join(unique(sample.omissions))}"
