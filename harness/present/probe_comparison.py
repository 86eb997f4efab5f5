"""What was measured of the network, before and after, as tables."""

from __future__ import annotations

from harness.analysis.probe_comparison import ProbeCell, ProbeTable
from harness.analysis.sample import fraction
from harness.present.comparison_table import caption
from harness.present.table import Entry, Fields, Line, Noted, Table, common, fields

_SHOWN_IN = {"bit/s": ("Mbit/s", 1e6)}
"""Other than they are measured in."""
_UNITS = ("_per_gbit_s", "_per_s", "_bit_s", "_percent", "_bytes", "_us")


def probe_table(probed: ProbeTable) -> Table:
    """Subjects down, configurations across."""
    numbers = [
        len(cell.sample.values)
        for _, cells in probed.rows
        for cell in cells
        if cell.sample and cell.sample.values
    ]
    n = common(numbers)
    unit, size = _SHOWN_IN.get(probed.unit, (probed.unit, 1.0))
    return Table(
        heading=f"{probed.probe}: {_words(probed.metric)}, {unit}",
        columns=tuple(Noted(name) for name in probed.configurations),
        lines=tuple(
            Line(name, tuple(_entry(cell, size) for cell in cells)) for name, cells in probed.rows
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


def _words(metric: str) -> str:
    """A metric's name without its unit, which stands beside it."""
    for unit in _UNITS:
        metric = metric.replace(unit, "")
    return metric.replace("_", " ")


def _entry(cell: ProbeCell, size: float) -> Entry:
    if cell.sample is None:
        return Entry(Fields("missing"))
    errors = tuple(dict.fromkeys(cell.sample.errors))
    notes = (f"{len(cell.sample.errors)} failed, first with: {errors[0]}",) if errors else ()
    if cell.median is None:
        return Entry(Fields("failed"), notes)
    around = share(cell.interval.max_distance(cell.median), cell.median) if cell.interval else None
    value = _significant(cell.median / size)
    return Entry(fields(value, around, cell.change, len(cell.sample.values)), notes)


def _significant(value: float) -> str:
    """Four digits, and no exponent where people would not write one."""
    return f"{value:.4g}" if abs(value) < 10_000 else f"{value:.0f}"  # noqa: PLR2004  four digits
