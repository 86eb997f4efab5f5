"""Comparisons of probes as tables."""

import re

from harness.analysis.compare.probe_comparison import MetricComparison, ProbeCell
from harness.base.words import significant
from harness.present.change_table import (
    HEADINGS,
    ChangeCell,
    ChangeColumn,
    ChangeLine,
    ChangeTable,
    Counts,
    change_cell,
    common_counts,
    too_few_sentence,
    value_sentences,
    verdict_sentences,
)

_DISPLAY_UNITS = {"bit/s": ("Mbit/s", 1e6)}
"""The unit that a table shows instead of the measured one, and its size in measured units."""
_UNIT = re.compile("_(per_gbit_s|per_s|bit_s|percent|bytes|us)$")


def probe_table(probed: MetricComparison) -> ChangeTable:
    """Return the table of one metric, with a line for each host or pair of hosts."""
    every = []
    for _, row in probed.rows:
        every += [_counts(cell) for cell in row if cell.value is not None]
    counts = common_counts(every)
    unit, size = _DISPLAY_UNITS.get(probed.unit, (probed.unit, 1.0))
    lines = []
    for name, row in probed.rows:
        cells = [_probe_cell(cell, size, with_n=counts is None) for cell in row]
        lines.append(ChangeLine(name, tuple(cells)))
    caption = [f"{probed.better.capitalize()} is better."]
    if probed.by_host:
        caption.append("The value of a host is the median of its pairs.")
    caption += value_sentences(counts, every, "value")
    caption += too_few_sentence(lines)
    caption += verdict_sentences(probed.changes)
    return ChangeTable(
        heading=f"{probed.probe}: {_without_unit(probed.metric)}, {unit}",
        headings=HEADINGS,
        columns=tuple(map(ChangeColumn, probed.configurations)),
        lines=tuple(lines),
        warnings=probed.warnings,
        caption=" ".join(caption),
    )


def _counts(cell: ProbeCell) -> Counts:
    return Counts(cell.runs, len(cell.sample.values) if cell.sample else 0)


def _without_unit(metric: str) -> str:
    return _UNIT.sub("", metric).replace("_", " ")


def _probe_cell(cell: ProbeCell, size: float, *, with_n: bool) -> ChangeCell:
    if cell.sample is None:
        return ChangeCell("missing")
    errors = cell.sample.errors
    notes = (f"{len(errors)} failed, the first with: {errors[0]}",) if errors else ()
    if cell.value is None:
        return ChangeCell("failed", notes=notes)
    uncertainty = cell.interval and cell.interval.relative_distance(cell.value)
    counts = _counts(cell) if with_n else None
    return change_cell(significant(cell.value / size), uncertainty, cell.change, notes, counts)
