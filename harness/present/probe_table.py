"""Comparisons of probes as tables."""

from harness.analysis.compare.probe_comparison import ProbeCell, ProbeTable
from harness.base.words import significant
from harness.present.comparison_table import time_sentences, verdict_sentences
from harness.present.table import (
    HEADINGS,
    Counts,
    Entry,
    Fields,
    Heading,
    Line,
    Table,
    common,
    fields,
    too_few_sentence,
)

_DISPLAY_UNITS = {"bit/s": ("Mbit/s", 1e6)}
"""The unit that a table shows instead of the measured one, and its size in measured units."""
_UNIT_SUFFIXES = ("_per_gbit_s", "_per_s", "_bit_s", "_percent", "_bytes", "_us")


def probe_table(probed: ProbeTable) -> Table:
    """Return the table of one metric, with a line for each host or pair of hosts."""
    cells = [cell for _, row in probed.rows for cell in row]
    every = [_counts(cell) for cell in cells if cell.value is not None]
    counts = common(every)
    unit, size = _DISPLAY_UNITS.get(probed.unit, (probed.unit, 1.0))
    lines = tuple(
        Line(name, tuple(_probe_entry(cell, size, with_n=counts is None) for cell in row))
        for name, row in probed.rows
    )
    return Table(
        heading=f"{probed.probe}: {_without_unit(probed.metric)}, {unit}",
        headings=HEADINGS,
        columns=tuple(Heading(name) for name in probed.configurations),
        lines=lines,
        warnings=(),
        caption=" ".join(
            [
                f"{probed.better.capitalize()} is better.",
                *(["The value of a host is the median of its pairs."] if probed.by_host else []),
                *time_sentences(counts, every, "value"),
                *too_few_sentence(lines),
                *verdict_sentences(probed.changes, ""),
            ]
        ),
    )


def _counts(cell: ProbeCell) -> Counts:
    return Counts(cell.runs, len(cell.sample.values) if cell.sample else 0)


def _without_unit(metric: str) -> str:
    suffix = next(filter(metric.endswith, _UNIT_SUFFIXES), "")
    return metric.removesuffix(suffix).replace("_", " ")


def _probe_entry(cell: ProbeCell, size: float, *, with_n: bool) -> Entry:
    if cell.sample is None:
        return Entry(Fields("missing"))
    errors = cell.sample.errors
    notes = (f"{len(errors)} failed, the first with: {errors[0]}",) if errors else ()
    if cell.value is None:
        return Entry(Fields("failed"), notes)
    uncertainty = cell.interval and cell.interval.relative_distance(cell.value)
    value = significant(cell.value / size)
    n = _counts(cell) if with_n else ""
    return Entry(fields(value, uncertainty, cell.change, n), notes)
