"""Which rows of a table are controls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from harness.analysis.caveats import caveats
from harness.analysis.column import ConfigurationRuns, with_unique_names
from harness.analysis.confounders import confounders, different_data
from harness.analysis.declared import contradictions
from harness.analysis.sample import Outcome, Sample, Summary, share, summarize, take_sample
from harness.model.errors import BadInput
from harness.statistics.change import (
    Change,
    ControlShift,
    TwoSampleTest,
    adjusted_changes,
    control_shift,
    two_sample_test,
)
from harness.statistics.rank_test import Interval


def common_controls(comparison: Comparison) -> frozenset[str]:
    """The workloads that every configuration takes for one."""
    return frozenset.intersection(*(column.controls for column in comparison.columns))


# MERGED from harness.analysis.comparison: 'Configurations held against each other: workloads down, configurations across.'
MIN_CONFIGURATIONS = 2


@dataclass(frozen=True)
class Cell:
    """One workload in one configuration.

    `summary` is None exactly if the sample has no times. `change` is None in the baseline and where
    either side has no median above 0. `confounders` says what else differs from the baseline and may
    explain the change.
    """

    sample: Sample
    summary: Summary | None
    change: Change | None = None
    confounders: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that a reader of the cell must know: what failed, what was left out and why."""
        return (*_failures(self.sample), *_omissions(self.sample), *self.confounders)


@dataclass(frozen=True)
class Row:
    """One workload in every configuration: a cell for each column, in their order."""

    workload: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Comparison:
    """Every workload in every configuration; the first column is the baseline.

    `control_shifts` has one for each column: how the controls moved against the baseline, None in it
    and where there are none. `relative_to_controls`: every change is meant beyond theirs.
    """

    columns: tuple[ConfigurationRuns, ...]
    rows: tuple[Row, ...]
    control_shifts: tuple[ControlShift | None, ...]
    relative_to_controls: bool = False

    @property
    def changes(self) -> tuple[Change, ...]:
        """All that were tested together."""
        return tuple(cell.change for row in self.rows for cell in row.cells if cell.change)


def compare(
    columns: Sequence[ConfigurationRuns],
    *,
    relative_to_controls: bool = False,
    allow_different_data: bool = False,
    strict: bool = False,
) -> Comparison:
    """Hold configurations against the first of them.

    Raises BadInput for fewer than two; for one that shares no measured workload with the baseline;
    for one whose data is not the baseline's, unless that is allowed; if it is strict, for one that
    differs in anything that is not compared; and if changes beyond the controls' are asked for and
    the controls have too few trials.
    """
    if len(columns) < MIN_CONFIGURATIONS:
        raise BadInput("compare needs two configurations or more: BEFORE AFTER [MORE...]")
    baseline, *others = columns
    for other in others:
        _require_common_workload(baseline, other)
        if not allow_different_data:
            _require_same_data(baseline, other)
        if strict:
            _require_no_residue(baseline, other)
    return _tabulate(with_unique_names(columns), relative_to_controls=relative_to_controls)


def overview(column: ConfigurationRuns) -> Comparison:
    """One configuration alone: the same table with nothing to hold it against."""
    return _tabulate((column,), relative_to_controls=False)


def _require_common_workload(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if not set(baseline.tried) & set(other.tried):
        held = "; ".join(
            f"{column.name!r} has {', '.join(column.tried) or 'no measured trial'}"
            for column in (baseline, other)
        )
        raise BadInput(f"no workload in common: {held}; run the same workloads in both")


def _require_same_data(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    if different := different_data(baseline.runs, other.runs):
        raise BadInput(
            f"{baseline.name!r} and {other.name!r} ran on different data: {different}; "
            "--allow-different-data compares them nevertheless"
        )


def _require_no_residue(baseline: ConfigurationRuns, other: ConfigurationRuns) -> None:
    told = [
        *(difference.told(baseline.name) for difference in confounders(baseline.runs, other.runs)),
        *(line for column in (baseline, other) for line in contradictions(column.runs)),
    ]
    if told:
        raise BadInput(
            f"--strict: {other.name!r} differs in more than is compared: {told[0]}"
            + (
                f", and {len(told) - 1} more: compare without --strict lists them"
                if told[1:]
                else ""
            )
        )


Samples = Mapping[str, Sample]
"""Of one column, by workload."""


def _tabulate(columns: Sequence[ConfigurationRuns], *, relative_to_controls: bool) -> Comparison:
    names = tuple(dict.fromkeys(name for column in columns for name in column.workloads))
    samples = [{name: take_sample(name, column.runs) for name in names} for column in columns]
    shifts = _control_shifts(columns, samples)
    changes = _changes(samples, _beyond(columns, shifts) if relative_to_controls else {})
    told = [_Told(columns[0], column, names) for column in columns]
    return Comparison(
        columns=tuple(about.column for about in told),
        rows=tuple(
            Row(
                name,
                tuple(
                    Cell(
                        sample=sample[name],
                        summary=summarize(sample[name]) if sample[name].times_s else None,
                        change=changes.get((name, index)),
                        confounders=told[index].confounders(name),
                    )
                    for index, sample in enumerate(samples)
                ),
            )
            for name in names
        ),
        control_shifts=shifts,
        relative_to_controls=relative_to_controls,
    )


def _changes(
    samples: Sequence[Samples], beyond: Mapping[int, Interval]
) -> dict[tuple[str, int], Change]:
    """By workload and column; all of them are one table."""
    baseline, *others = samples
    tests: dict[tuple[str, int], TwoSampleTest] = {}
    for name, before in baseline.items():
        for index, other in enumerate(others, 1):
            change = _median_change(before, other[name], beyond.get(index))
            if change is not None:
                times_s = before.times_s, other[name].times_s
                tests[name, index] = two_sample_test(change, *times_s, beyond.get(index))
    return dict(zip(tests, adjusted_changes(list(tests.values())), strict=True))


def _median_change(before: Sample, after: Sample, beyond: Interval | None) -> float | None:
    """As a share of the median before; `beyond` a ratio, that of the interval's middle."""
    if not (before.times_s and after.times_s):
        return None
    base = summarize(before).median_s * (beyond.middle if beyond else 1)
    return share(summarize(after).median_s - base, base)


def _control_shifts(
    columns: Sequence[ConfigurationRuns], samples: Sequence[Samples]
) -> tuple[ControlShift | None, ...]:
    """A workload is a control where both sides say so, and have measured it."""
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


def _beyond(
    columns: Sequence[ConfigurationRuns], shifts: Sequence[ControlShift | None]
) -> dict[int, Interval]:
    """Where the controls' ratio lies, by column."""
    beyond = {}
    for index, (column, shift) in enumerate(zip(columns, shifts, strict=True)):
        if index and (shift is None or shift.interval is None):
            raise BadInput(
                f"--adjust controls: {column.name!r} and {columns[0].name!r} have too few trials of "
                "controls in common; run the Pi workloads and sha-512-cached in both"
            )
        if shift and shift.interval:
            beyond[index] = shift.interval
    return beyond


class _Told:
    """A column with all that its reader must know, and what concerns single cells of it."""

    def __init__(
        self, baseline: ConfigurationRuns, column: ConfigurationRuns, names: Sequence[str]
    ) -> None:
        differences = confounders(baseline.runs, column.runs) if column is not baseline else ()
        everywhere = [one for one in differences if all(map(one.concerns, names))]
        notes = (
            *caveats(column.runs),
            *contradictions(column.runs),
            *(one.told(baseline.name) for one in everywhere),
            *column.notes,
        )
        self.column = replace(column, notes=notes)
        self._rest = [
            (one, one.told(baseline.name)) for one in differences if one not in everywhere
        ]

    def confounders(self, workload: str) -> tuple[str, ...]:
        """What differs and may explain this workload's change alone."""
        return tuple(text for one, text in self._rest if one.concerns(workload))


def _failures(sample: Sample) -> tuple[str, ...]:
    failed = len(sample.errors)
    if not failed:
        return ()
    tried = failed + len(sample.times_s)
    return (f"{failed} of {tried} failed, first with: {sample.errors[0]}",)


def _omissions(sample: Sample) -> tuple[str, ...]:
    if not sample.omissions:
        return ()
    where = "omitted" if sample.outcome is Outcome.OMITTED else "omitted in some runs"
    return (f"{where}: {'; '.join(dict.fromkeys(sample.omissions))}",)
