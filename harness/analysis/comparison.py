"""Configurations held against each other: workloads down, configurations across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.analysis.caveats import caveats
from harness.analysis.sample import Outcome, Sample, Summary, share, summarize, take_sample
from harness.errors import BadInput
from harness.model import RecordedRun

MIN_CONFIGURATIONS = 2


@dataclass(frozen=True)
class Column:
    """The runs of one configuration, pooled, in the order of their start.

    `name` is the configuration's; `compare` tells equal names apart. `notes` are lines that a
    reader of the column must know.
    """

    name: str
    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()

    @property
    def workloads(self) -> tuple[str, ...]:
        """Everything asked for, tried or left out, in the order of first appearance."""
        return tuple(
            dict.fromkeys(
                workload
                for recorded in self.runs
                for workload in (
                    *recorded.run.workloads,
                    *(trial.workload for trial in recorded.trials),
                    *recorded.run.omitted,
                )
            )
        )


@dataclass(frozen=True)
class Cell:
    """One workload in one configuration.

    `summary` is None exactly if the sample has no times. `change` is median / baseline median - 1
    (-0.095 is 9.5 % faster), None in the baseline and where either side has no median.
    """

    sample: Sample
    summary: Summary | None
    change: float | None

    @property
    def notes(self) -> tuple[str, ...]:
        """Lines that a reader of the cell must know: what failed, what was left out and why."""
        return (*_failures(self.sample), *_omissions(self.sample))


@dataclass(frozen=True)
class Row:
    """One workload in every configuration: a cell for each column, in their order."""

    workload: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Comparison:
    """Every workload in every configuration; the first column is the baseline."""

    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


def compare(columns: Sequence[Column]) -> Comparison:
    """Hold configurations against the first of them.

    Raises BadInput for fewer than two, and for one that shares no measured workload with the
    baseline.
    """
    if len(columns) < MIN_CONFIGURATIONS:
        raise BadInput("compare needs two configurations or more: BEFORE AFTER [MORE...]")
    baseline, *others = columns
    for other in others:
        _require_common_workload(baseline, other)
    return _tabulate(_told_apart(columns))


def overview(column: Column) -> Comparison:
    """One configuration alone: the same table with nothing to hold it against."""
    return _tabulate((column,))


def _require_common_workload(baseline: Column, other: Column) -> None:
    tried = [_tried(column) for column in (baseline, other)]
    if not set(tried[0]) & set(tried[1]):
        held = "; ".join(
            f"{column.name!r} has {', '.join(workloads) or 'no measured trial'}"
            for column, workloads in zip((baseline, other), tried, strict=True)
        )
        raise BadInput(f"no workload in common: {held}; run the same workloads in both")


def _tried(column: Column) -> list[str]:
    """The workloads with a measured trial, ok or failed."""
    outcomes = {Outcome.MEASURED, Outcome.FAILED}
    return [
        workload
        for workload in column.workloads
        if take_sample(workload, column.runs).outcome in outcomes
    ]


def _told_apart(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns with names of their own: `1g`, `1g #2`; and a note where runs appear again."""
    apart: list[Column] = []
    for column in columns:
        taken = {earlier.name for earlier in apart}
        name, number = column.name, 2
        while name in taken:
            name, number = f"{column.name} #{number}", number + 1
        notes = (*column.notes, *_repeated_runs(column, apart))
        apart.append(replace(column, name=name, notes=notes))
    return tuple(apart)


def _repeated_runs(column: Column, earlier: Sequence[Column]) -> tuple[str, ...]:
    ids = {recorded.run.id for recorded in column.runs}
    same = [other.name for other in earlier if ids & {recorded.run.id for recorded in other.runs}]
    return (f"holds runs that {', '.join(same)} holds too: no independent trials",) if same else ()


def _tabulate(columns: Sequence[Column]) -> Comparison:
    workloads = dict.fromkeys(workload for column in columns for workload in column.workloads)
    return Comparison(
        columns=tuple(
            replace(column, notes=(*caveats(column.runs), *column.notes)) for column in columns
        ),
        rows=tuple(_row(workload, columns) for workload in workloads),
    )


def _row(workload: str, columns: Sequence[Column]) -> Row:
    samples = [take_sample(workload, column.runs) for column in columns]
    summaries = [summarize(sample) if sample.times_s else None for sample in samples]
    changes = [None, *(_change(summaries[0], summary) for summary in summaries[1:])]
    return Row(workload, tuple(map(Cell, samples, summaries, changes)))


def _change(baseline: Summary | None, summary: Summary | None) -> float | None:
    if baseline is None or summary is None:
        return None
    return share(summary.median_s - baseline.median_s, baseline.median_s)


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
