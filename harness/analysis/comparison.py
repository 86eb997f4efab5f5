"""Configurations compared with a baseline: one row per workload, one column per configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.configuration import ConfigurationRuns, caveats, with_unique_names
from harness.analysis.confounders import Confounder, confounders, different_data
from harness.analysis.declared import contradictions
from harness.analysis.sample import (
    Outcome,
    Sample,
    Summary,
    relative_change,
    summarize,
    take_sample,
)
from harness.model.errors import BadInput
from harness.records.lookup import check_no_run_twice
from harness.statistics.change import (
    Change,
    ControlShift,
    TwoSampleTest,
    adjusted_changes,
    control_shift,
    two_sample_test,
)
from harness.statistics.median import Interval
from harness.terminal import count_of

MIN_CONFIGURATIONS = 2


@dataclass(frozen=True)
class Cell:
    """One workload in one configuration.

    `summary` is None exactly if the sample has no times. `change` is relative to the baseline: None
    in the baseline itself, and if the median of either side is missing or the baseline's is 0.
    `confounders` are lines on what else differs from the baseline and may explain the change of this
    workload, but not of all workloads.
    """

    sample: Sample
    summary: Summary | None
    change: Change | None = None
    confounders: tuple[str, ...] = ()

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
    the baseline itself, and if there are no common controls. If `relative_to_controls`, every change
    is what remains after that shift.
    """

    columns: tuple[ConfigurationRuns, ...]
    rows: tuple[Row, ...]
    control_shifts: tuple[ControlShift | None, ...]
    relative_to_controls: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All changes of the table; their p-values are adjusted for each other."""
        return tuple(cell.change for row in self.rows for cell in row.cells if cell.change)

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
    - if a configuration read other data than the baseline, unless `allow_different_data`;
    - if a configuration has confounders or contradicts its declaration, and `strict`;
    - if there are too few trials of common controls, and `relative_to_controls`.
    """
    if len(columns) < MIN_CONFIGURATIONS:
        raise BadInput("compare needs two configurations or more: BEFORE AFTER [MORE...]")
    check_no_run_twice(recorded for column in columns for recorded in column.runs)
    baseline, *others = columns
    for other in others:
        _require_common_workload(baseline, other)
        if not allow_different_data:
            _require_same_data(baseline, other)
        if strict:
            _require_no_confounders(baseline, other)
    return _tabulate(with_unique_names(columns), relative_to_controls=relative_to_controls)


def overview(column: ConfigurationRuns) -> Comparison:
    """Return the table of a single configuration, without changes."""
    return _tabulate((column,), relative_to_controls=False)


def _require_common_workload(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if not set(baseline.attempted) & set(other.attempted):
        both = "; ".join(
            f"{column.name!r} has {', '.join(column.attempted) or 'no measured trial'}"
            for column in (baseline, other)
        )
        raise BadInput(f"no workload in common: {both}; run the same workloads in both")


def _require_same_data(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if different := different_data(baseline.runs, other.runs):
        raise BadInput(
            f"{baseline.name!r} and {other.name!r} ran on different data: {different}; "
            "--allow-different-data compares them anyway"
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


Samples = Mapping[str, Sample]
"""The samples of one column, by workload."""


def _tabulate(columns: Sequence[ConfigurationRuns], *, relative_to_controls: bool) -> Comparison:
    names = tuple(dict.fromkeys(name for column in columns for name in column.workloads))
    samples = [{name: take_sample(name, column.runs) for name in names} for column in columns]
    shifts = _control_shifts(columns, samples)
    changes = _changes(samples, _control_ratios(columns, shifts) if relative_to_controls else {})
    baseline = columns[0]
    found = [
        confounders(baseline.runs, column.runs) if column is not baseline else ()
        for column in columns
    ]

    def cell(name: str, index: int) -> Cell:
        sample = samples[index][name]
        return Cell(
            sample=sample,
            summary=summarize(sample) if sample.times_s else None,
            change=changes.get((name, index)),
            confounders=tuple(
                confounder.describe(baseline.name)
                for confounder in found[index]
                if confounder.may_affect(name) and not _affects_all(confounder, names)
            ),
        )

    return Comparison(
        columns=tuple(
            _with_notes(column, baseline.name, differences, names)
            for column, differences in zip(columns, found, strict=True)
        ),
        rows=tuple(
            Row(name, tuple(cell(name, index) for index in range(len(columns)))) for name in names
        ),
        control_shifts=shifts,
        relative_to_controls=relative_to_controls,
    )


def _changes(
    samples: Sequence[Samples], control_ratios: Mapping[int, Interval]
) -> dict[tuple[str, int], Change]:
    """Return changes by workload and column, their p-values adjusted for the whole table."""
    baseline, *others = samples
    tests: dict[tuple[str, int], TwoSampleTest] = {}
    for name, before in baseline.items():
        for index, other in enumerate(others, 1):
            after, control_ratio = other[name], control_ratios.get(index)
            change = _median_change(before, after, control_ratio)
            if change is not None:
                tests[name, index] = two_sample_test(
                    change, before.times_s, after.times_s, control_ratio
                )
    return dict(zip(tests, adjusted_changes(list(tests.values())), strict=True))


def _median_change(before: Sample, after: Sample, control_ratio: Interval | None) -> float | None:
    """Return the change of the median, relative to the time that the controls' ratio predicts."""
    if not (before.times_s and after.times_s):
        return None
    expected_s = summarize(before).median_s * (control_ratio.middle if control_ratio else 1)
    return relative_change(expected_s, summarize(after).median_s)


def _control_shifts(
    columns: Sequence[ConfigurationRuns], samples: Sequence[Samples]
) -> tuple[ControlShift | None, ...]:
    """Return the shift of each column, from the workloads that are controls on both sides."""
    baseline, *others = columns
    shifts = []
    for index, other in enumerate(others, 1):
        controls = {
            name: (samples[0][name].times_s, samples[index][name].times_s)
            for name in baseline.workloads
            if name in baseline.controls & other.controls
        }
        shifts.append(control_shift({name: both for name, both in controls.items() if all(both)}))
    return (None, *shifts)


def _control_ratios(
    columns: Sequence[ConfigurationRuns], shifts: Sequence[ControlShift | None]
) -> dict[int, Interval]:
    """Return the interval of the controls' ratio, after / before, by column."""
    ratios = {}
    for index, (column, shift) in enumerate(zip(columns, shifts, strict=True)):
        if index and (shift is None or shift.interval is None):
            raise BadInput(
                f"--adjust controls: {column.name!r} and {columns[0].name!r} have too few trials of "
                "controls in common; run the Pi workloads and sha-512-cached in both"
            )
        if shift and shift.interval:
            ratios[index] = shift.interval
    return ratios


def _affects_all(confounder: Confounder, workloads: Sequence[str]) -> bool:
    return all(map(confounder.may_affect, workloads))


def _with_notes(
    column: ConfigurationRuns,
    baseline: str,
    differences: Sequence[Confounder],
    workloads: Sequence[str],
) -> ConfigurationRuns:
    """Add everything that a reader of the whole column must know."""
    notes = (
        *caveats(column.runs),
        *contradictions(column.runs),
        *(found.describe(baseline) for found in differences if _affects_all(found, workloads)),
        *column.notes,
    )
    return replace(column, notes=notes)


def _sample_notes(sample: Sample) -> Iterator[str]:
    if sample.errors:
        failed, attempted = len(sample.errors), len(sample.errors) + len(sample.times_s)
        of_all = f"{failed} of {count_of(attempted, 'trial')}"
        yield f"{of_all} failed, the first with: {sample.errors[0]}"
    if sample.unsteady:
        yield f"never became steady: {'; '.join(dict.fromkeys(sample.unsteady))}"
    if sample.omissions:
        where = "omitted" if sample.outcome is Outcome.OMITTED else "omitted in some runs"
        yield f"{where}: {'; '.join(dict.fromkeys(sample.omissions))}"
