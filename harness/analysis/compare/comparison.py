"""Configurations compared with a baseline: one row per workload, one column per configuration."""

from collections.abc import Iterator, Sequence, Sized
from dataclasses import dataclass, replace

from harness.analysis.compare.answers import different_answers
from harness.analysis.compare.confounders import Confounder, confounders, different_data
from harness.analysis.observed.configuration import ConfigurationRuns, caveats, with_unique_names
from harness.analysis.observed.declared import contradictions
from harness.analysis.observed.overlaps import overlaps_with
from harness.analysis.observed.sample import (
    Outcome,
    Performance,
    Sample,
    Summary,
    table_model,
    take_sample,
    units,
)
from harness.base.errors import BadInput
from harness.base.words import count_of, join_names
from harness.model.answer import VARIES
from harness.model.limits import MIN_RUNS
from harness.records.lookup import check_no_run_twice
from harness.statistics.change import Change, ControlShift, changes_of_table, shift_of_controls
from harness.statistics.interval import Interval
from harness.statistics.run_table import RunTable

MIN_CONFIGURATIONS = 2


@dataclass(frozen=True)
class Cell:
    """One workload in one configuration.

    `summary` is None exactly if the sample has no times. `change` is that of the time, relative to the
    baseline: None in the baseline itself, and if either side has no times.
    `confounders` are lines on what else differs from the baseline and may explain the change of this
    workload, but not of all workloads.
    """

    sample: Sample
    summary: Summary | None
    change: Change | None = None
    confounders: tuple[str, ...] = ()

    @property
    def performance(self) -> Performance | None:
        """What is compared instead of the time if the workload counts its work."""
        unit, summary = self.sample.unit, self.summary
        if unit is None or summary is None:
            return None
        value, interval_s = 1 / summary.time_s, summary.interval_s
        return Performance(
            value,
            unit,
            interval_s and Interval(1 / interval_s.high, 1 / interval_s.low),
            {source: value / peak for source, peak in self.sample.peaks.items()},
        )

    @property
    def shown_change(self) -> Change | None:
        """The change of what is compared: of the performance, or else of the time."""
        return self.change.of_performance if self.change and self.sample.unit else self.change

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that a reader of the cell must know: failures, reasons for omission, confounders."""
        return (*_sample_notes(self.sample), *self.confounders)


@dataclass(frozen=True)
class Row:
    """One workload, with a cell for each configuration in the order of the columns."""

    workload: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Comparison:
    """Every workload in every configuration; the first column is the baseline.

    `control_shifts` has for each column the joint change of the controls from the baseline: None in
    the baseline itself, and if there are no common controls. `model` is what times and changes were
    computed with. If `relative_to_controls`, every change is relative to that of the controls.
    """

    columns: tuple[ConfigurationRuns, ...]
    rows: tuple[Row, ...]
    control_shifts: tuple[ControlShift | None, ...]
    model: RunTable
    relative_to_controls: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the table; their p-values are adjusted for each other."""
        return tuple(cell.change for row in self.rows for cell in row.cells if cell.change)

    @property
    def shown_control_shifts(self) -> tuple[ControlShift | None, ...]:
        """The shifts of what the table shows of the controls: of performances if all count their work."""
        counted = {row.workload for row in self.rows if row.cells[0].sample.unit}
        return tuple(
            replace(shift, change=shift.change.of_performance)
            if shift and counted.issuperset(shift.workloads)
            else shift
            for shift in self.control_shifts
        )

    @property
    def limit_of_single_runs(self) -> float | None:
        """The largest relative change that could be another run, where a side has one run.

        None if every change was tested.
        """
        limits = (change.limit for change in self.changes if change.limit is not None)
        return max(limits, default=None)

    @property
    def in_turns(self) -> bool:
        """Whether all configurations took turns in the same applications."""
        numbers = range(1, len(self.columns))
        return bool(numbers) and all(self.model.is_in_turns(0, number) for number in numbers)

    @property
    def common_controls(self) -> frozenset[str]:
        """The workloads that every configuration declares to be a control."""
        return frozenset.intersection(*(column.controls for column in self.columns))


def compare(
    columns: Sequence[ConfigurationRuns],
    *,
    relative_to_controls: bool = False,
    allow_different_data: bool = False,
    strict: bool = False,
) -> Comparison:
    """Compare configurations with the first of them, the baseline.

    Raises BadInput
    - for fewer than two configurations;
    - if a run is in two of them;
    - if a configuration has no measured workload in common with the baseline;
    - if a workload counts its work in another unit than in the baseline;
    - if a configuration read other data than the baseline, or a query has another answer, unless
      `allow_different_data`;
    - if a configuration has confounders or contradicts its declaration, and `strict`;
    - if there are too few runs of common controls, and `relative_to_controls`.
    """
    require_several(columns)
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    baseline, *others = columns
    for other in others:
        _require_common_workload(baseline, other)
        _require_same_units(baseline, other)
        if not allow_different_data:
            _require_same_data(baseline, other)
            _require_same_answers(baseline, other)
        if strict:
            _require_no_confounders(baseline, other)
    return _tabulate(with_unique_names(columns), relative_to_controls=relative_to_controls)


def require_several(configurations: Sized) -> None:
    """Raise BadInput for fewer configurations than can be compared."""
    if len(configurations) < MIN_CONFIGURATIONS:
        raise BadInput("name two configurations or more: BEFORE AFTER [MORE...]")


def overview(column: ConfigurationRuns) -> Comparison:
    """Return the table of a single configuration, without changes."""
    return _tabulate((column,), relative_to_controls=False)


def _require_common_workload(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if not set(baseline.attempted) & set(other.attempted):
        both = "; ".join(
            f"{column.name!r} has {join_names(column.attempted) or 'no measured trial'}"
            for column in (baseline, other)
        )
        raise BadInput(f"no workload in common: {both}; run the same workloads in both")


def _require_same_units(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    before, after = units(baseline.runs), units(other.runs)
    for workload in baseline.attempted:
        known = before.get(workload), after.get(workload)
        if None not in known and known[0] != known[1]:
            raise BadInput(
                f"{workload} counts {known[0]} in {baseline.name!r} and {known[1]} in {other.name!r}: "
                "they cannot be compared"
            )


def _require_same_data(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if different := different_data(baseline.runs, other.runs):
        raise BadInput(
            f"{baseline.name!r} and {other.name!r} ran on different data: {different}; "
            "`clusterlift compare` and `report` compare them anyway with --allow-different-data"
        )


def _require_same_answers(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    found = list(different_answers(baseline.runs, other.runs))
    if found:
        name, before, after = found[0]
        more = f" (and so have {join_names([each for each, *_ in found[1:]])})" if found[1:] else ""
        raise BadInput(
            f"{name} has another answer in {other.name!r}, {after}, than in {baseline.name!r}, {before}"
            f"{more}: the tables or the text changed, or the answer varies; "
            "`clusterlift compare` and `report` compare them anyway with --allow-different-data"
        )


def _require_no_confounders(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    lines = [
        *(found.describe(baseline.name) for found in confounders(baseline.runs, other.runs)),
        *(line for column in (baseline, other) for line in contradictions(column.runs)),
    ]
    if lines:
        more = f"; and {len(lines) - 1} more, which compare lists without --strict"
        raise BadInput(
            f"--strict: {baseline.name!r} and {other.name!r} have confounders: "
            f"{lines[0]}{more if lines[1:] else ''}"
        )


def _tabulate(columns: Sequence[ConfigurationRuns], *, relative_to_controls: bool) -> Comparison:
    names = tuple(dict.fromkeys(name for column in columns for name in column.workloads))
    model = table_model((column.runs for column in columns), names)
    controls = controls_in_common(columns, model)
    shifts = (
        None,
        *(shift_of_controls(model, after, names) for after, names in enumerate(controls[1:], 1)),
    )
    if relative_to_controls:
        _require_testable_controls(columns, shifts)
    changes = changes_of_table(model, controls if relative_to_controls else None)
    baseline = columns[0]
    found = [
        confounders(baseline.runs, column.runs) if column is not baseline else ()
        for column in columns
    ]

    def cell(name: str, index: int) -> Cell:
        sample = take_sample(name, columns[index].runs)
        return Cell(
            sample=sample,
            summary=_summary(model, index, sample) if sample.runs_s else None,
            change=changes.get((name, index)),
            confounders=tuple(
                confounder.describe(baseline.name)
                for confounder in found[index]
                if confounder.may_affect(name) and not _affects_all(confounder, names)
            ),
        )

    return Comparison(
        columns=tuple(
            _with_notes(column, columns, differences, names)
            for column, differences in zip(columns, found, strict=True)
        ),
        rows=tuple(
            Row(name, tuple(cell(name, index) for index in range(len(columns)))) for name in names
        ),
        control_shifts=shifts,
        model=model,
        relative_to_controls=relative_to_controls,
    )


def _summary(model: RunTable, column: int, sample: Sample) -> Summary:
    time = model.time(column, sample.workload)
    runs = len(sample.runs_s)
    interval_s = time.interval if runs >= MIN_RUNS else None
    return Summary(time.value, interval_s, runs, len(sample.times_s))


def widest(column: ConfigurationRuns) -> tuple[str, float] | None:
    """Return the workload whose time is known least well, and half of its interval as a fraction of the time.

    None if a workload has too few runs to tell.
    """
    summaries = {row.workload: row.cells[0].summary for row in overview(column).rows}
    widths = {name: summary.uncertainty for name, summary in summaries.items() if summary}
    known = [(name, width) for name, width in widths.items() if width is not None]
    return max(known, key=lambda each: each[1]) if known and len(known) == len(widths) else None


def controls_in_common(
    columns: Sequence[ConfigurationRuns], model: RunTable
) -> list[tuple[str, ...]]:
    """Return for each column the workloads that are controls there and in the baseline, with times."""
    baseline = columns[0]
    return [
        tuple(
            name
            for name in baseline.workloads
            if name in baseline.controls & column.controls and model.runs_of_either(0, index, name)
        )
        for index, column in enumerate(columns)
    ]


def _require_testable_controls(
    columns: Sequence[ConfigurationRuns], shifts: Sequence[ControlShift | None]
) -> None:
    for column, shift in zip(columns[1:], shifts[1:], strict=True):
        if shift is None or shift.change.interval is None:
            raise BadInput(
                f"--adjust controls: {column.name!r} and {columns[0].name!r} need {MIN_RUNS} runs each with "
                "controls in common; run the Pi workloads and sha-512-cached in both"
            )


def _affects_all(confounder: Confounder, workloads: Sequence[str]) -> bool:
    return all(map(confounder.may_affect, workloads))


def _with_notes(
    column: ConfigurationRuns,
    columns: Sequence[ConfigurationRuns],
    differences: Sequence[Confounder],
    workloads: Sequence[str],
) -> ConfigurationRuns:
    """Add everything that a reader of the whole column must know."""
    affecting_all = (found for found in differences if _affects_all(found, workloads))
    others = [recorded for other in columns if other is not column for recorded in other.runs]
    notes = (
        *caveats(column.runs),
        *overlaps_with(column.runs, others),
        *contradictions(column.runs),
        *(found.describe(columns[0].name) for found in affecting_all),
        *column.notes,
    )
    return replace(column, notes=notes)


def _sample_notes(sample: Sample) -> Iterator[str]:
    if len(sample.answers) > 1:
        yield f"{VARIES}; so its answer is compared with no other"
    if sample.errors:
        failed, attempted = len(sample.errors), len(sample.errors) + len(sample.times_s)
        of_all = f"{failed} of {count_of(attempted, 'trial')}"
        yield f"{of_all} failed, the first with: {sample.errors[0]}"
    if sample.unsteady:
        yield f"not known to be steady: {'; '.join(dict.fromkeys(sample.unsteady))}"
    if sample.omissions:
        where = "omitted" if sample.outcome is Outcome.OMITTED else "omitted in some runs"
        yield f"{where}: {'; '.join(dict.fromkeys(sample.omissions))}"
