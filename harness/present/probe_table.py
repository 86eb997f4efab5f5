"""What was measured of the network, before and after, as tables."""

from __future__ import annotations

from harness.analysis.probe_comparison import ProbeCell, ProbeTable
from harness.analysis.sample import share
from harness.present.caption import caption
from harness.present.table import Entry, Fields, Line, Noted, Table, common, fields


def probe_table(probed: ProbeTable) -> Table:
    """Subjects down, configurations across."""
    numbers = [
        len(cell.sample.values)
        for _, cells in probed.rows
        for cell in cells
        if cell.sample and cell.sample.values
    ]
    n = common(numbers)
    return Table(
        heading=f"{probed.probe}: {probed.metric}",
        columns=tuple(Noted(name) for name in probed.configurations),
        lines=tuple(
            Line(name, tuple(_entry(cell, probed.unit) for cell in cells))
            for name, cells in probed.rows
        ),
        with_n=n is None,
        warnings=(),
        caption=f"{probed.better.capitalize()} is better. "
        + caption(
            n,
            "value",
            probed.changes,
            has_intervals=any(cell.interval for _, cells in probed.rows for cell in cells),
        ),
    )


def _entry(cell: ProbeCell, unit: str) -> Entry:
    if cell.sample is None:
        return Entry(Fields("missing"))
    errors = tuple(dict.fromkeys(cell.sample.errors))
    notes = (f"{len(cell.sample.errors)} failed, first with: {errors[0]}",) if errors else ()
    if cell.median is None:
        return Entry(Fields("failed"), notes)
    around = share(cell.interval.farthest(cell.median), cell.median) if cell.interval else None
    value = f"{_significant(cell.median)} {unit}".rstrip()
    return Entry(fields(value, around, cell.change, len(cell.sample.values)), notes)


def _significant(value: float) -> str:
    """Four digits, and no exponent where people would not write one."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"  # noqa: PLR2004  four digits
