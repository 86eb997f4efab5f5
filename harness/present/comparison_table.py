"""Comparisons of workloads and of probes as tables, with captions and warnings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count

from harness.analysis.comparison import Cell, Comparison
from harness.analysis.probe_comparison import ProbeCell, ProbeTable
from harness.analysis.sample import fraction
from harness.present import quantities
from harness.present.table import NEEDS, Entry, Fields, Heading, Line, Table, common, fields
from harness.statistics.change import Change, ControlShift, Verdict
from harness.statistics.median import median_interval
from harness.terminal import count_of

_MIN_FOR_AN_INTERVAL = next(n for n in count(1) if median_interval([0.0] * n))
_TRIAL, _VALUE = "trial", "value"
_DISPLAY_UNITS = {"bit/s": ("Mbit/s", 1e6)}
"""The unit that a table shows instead of the measured one, and its size in measured units."""
_UNIT_SUFFIXES = ("_per_gbit_s", "_per_s", "_bit_s", "_percent", "_bytes", "_us")


def comparison_table(comparison: Comparison) -> Table:
    """Return the table with a line for each workload and a column for each configuration."""
    summaries = [cell.summary for row in comparison.rows for cell in row.cells if cell.summary]
    n = common(summary.n for summary in summaries)
    return Table(
        heading="workload",
        columns=tuple(Heading(column.name, column.notes) for column in comparison.columns),
        lines=tuple(
            Line(row.workload, tuple(map(_workload_entry, row.cells))) for row in comparison.rows
        ),
        with_n=n is None,
        warnings=warnings(comparison),
        caption=caption(
            n,
            _TRIAL,
            comparison.changes,
            has_intervals=any(summary.interval_s for summary in summaries),
            relative_to_controls=comparison.relative_to_controls,
        ),
    )


def _workload_entry(cell: Cell) -> Entry:
    summary = cell.summary
    if summary is None:
        return Entry(Fields(str(cell.sample.outcome)), cell.notes)
    median = quantities.time_text(summary.median_s)
    return Entry(fields(median, summary.uncertainty, cell.change, summary.n, _TRIAL), cell.notes)


def probe_table(probed: ProbeTable) -> Table:
    """Return the table of one metric, with a line for each host or pair of hosts."""
    cells = [cell for _, row in probed.rows for cell in row]
    n = common(len(cell.sample.values) for cell in cells if cell.sample and cell.sample.values)
    unit, size = _DISPLAY_UNITS.get(probed.unit, (probed.unit, 1.0))
    return Table(
        heading=f"{probed.probe}: {_without_unit(probed.metric)}, {unit}",
        columns=tuple(Heading(name) for name in probed.configurations),
        lines=tuple(
            Line(name, tuple(_probe_entry(cell, size) for cell in row)) for name, row in probed.rows
        ),
        with_n=n is None,
        warnings=(),
        caption=f"{probed.better.capitalize()} is better. "
        + caption(n, _VALUE, probed.changes, has_intervals=any(cell.interval for cell in cells)),
    )


def _without_unit(metric: str) -> str:
    """Return a metric's name in words, without the unit at its end."""
    for suffix in _UNIT_SUFFIXES:
        metric = metric.replace(suffix, "")
    return metric.replace("_", " ")


def _probe_entry(cell: ProbeCell, size: float) -> Entry:
    if cell.sample is None:
        return Entry(Fields("missing"))
    errors = cell.sample.errors
    notes = (f"{len(errors)} failed, the first with: {errors[0]}",) if errors else ()
    if cell.median is None:
        return Entry(Fields("failed"), notes)
    uncertainty = (
        fraction(cell.interval.max_distance(cell.median), cell.median) if cell.interval else None
    )
    value = quantities.significant(cell.median / size)
    return Entry(fields(value, uncertainty, cell.change, len(cell.sample.values), _VALUE), notes)


def caption(
    n: int | None,
    noun: str,
    changes: Sequence[Change],
    *,
    has_intervals: bool,
    relative_to_controls: bool = False,
) -> str:
    """Return the sentences below a table, only those that apply to it.

    `n` is the number of measurements in every cell, None if the table has a column for it; `noun`
    is what a measurement is called, such as `trial`.
    """
    measured = f"n measured {noun}s" if n is None else count_of(n, f"measured {noun}")
    precision = (
        ", ± its 95 % confidence interval."
        if has_intervals
        else f". A confidence interval needs {_MIN_FOR_AN_INTERVAL} {noun}s."
    )
    sentences = _change_sentences(changes, noun, relative_to_controls=relative_to_controls)
    return " ".join([f"Median of {measured}{precision}", *sentences])


def _change_sentences(
    changes: Sequence[Change], noun: str, *, relative_to_controls: bool
) -> Iterator[str]:
    verdicts = {change.verdict for change in changes}
    comparisons = count_of(len(changes), "comparison")
    if verdicts - {Verdict.TOO_FEW}:
        beyond = " beyond that of the controls" if relative_to_controls else ""
        yield (
            f"Change{beyond} relative to the first column, ± its 95 % confidence interval; p of the "
            f"Mann-Whitney test, Holm-adjusted for {comparisons}."
        )
    if Verdict.TOO_FEW in verdicts:
        yield (
            f"{NEEDS}N {noun}s: with fewer on either side, no change can be significant among "
            f"{comparisons}. Run more."
        )
    if Verdict.NOISE in verdicts:
        yield f"{quantities.NOISE}: no significant change; any real change is likely to be within ±."


def warnings(comparison: Comparison) -> tuple[str, ...]:
    """Return the lines above the table: a warning for each column whose controls moved."""
    return tuple(
        _control_warning(column.name, shift, relative=comparison.relative_to_controls)
        for column, shift in zip(comparison.columns, comparison.control_shifts, strict=True)
        if shift and shift.moved
    )


def _control_warning(configuration: str, shift: ControlShift, *, relative: bool) -> str:
    interval = ""
    if shift.interval:
        low, high = (quantities.change(end - 1) for end in shift.interval)
        interval = f" ({low} to {high})"
    advice = (
        "The changes below are relative to that of the controls."
        if relative
        else "It may have affected the other workloads too: --adjust controls shows each change "
        "relative to that of the controls."
    )
    return (
        f"The controls ({', '.join(shift.workloads)}) moved in {configuration}: "
        f"{quantities.change(shift.ratio - 1)}{interval}, p {quantities.p_text(shift.p)}. Network and "
        f"storage cannot affect them, so something else changed. {advice}"
    )
