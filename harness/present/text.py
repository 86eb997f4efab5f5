"""A comparison for the terminal: at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal

from tabulate import SEPARATING_LINE, DataRow, Line, TableFormat, tabulate

from harness.analysis.comparison import Cell, Column, Comparison
from harness.present import quantities
from harness.present.caption import caption
from harness.present.escape import shorten, visible
from harness.present.footnotes import Footnotes, superscript

WIDTH = 100
WORKLOAD_WIDTH = 20
NAME_WIDTHS = (40, 24, 16, 10)
"""Of a configuration in the heading; the first that lets the table fit."""

GAPS = ("  ", " ")
"""Between the figures of one configuration, in the order of preference."""

_HEADINGS = ("median", "±", "change", "n")

Block = list[str]
"""The lines that stand below one configuration's name, the headings first."""


def render(comparison: Comparison) -> str:
    """Table, caption and footnotes, ending with a newline.

    Where the columns do not fit beside each other, several tables follow each other, each with the
    baseline.
    """
    for attempt in _attempts(comparison):
        tables, notes = attempt
        if all(len(line) <= WIDTH for table in tables for line in table.split("\n")):
            break
    footnotes = [_footnote(number, text) for number, text in enumerate(notes.texts, 1)]
    return "\n".join(["\n\n".join(tables), "", caption(comparison), *footnotes, ""])


def _attempts(comparison: Comparison) -> Iterator[tuple[list[str], Footnotes]]:
    """From the widest to the narrowest: first names are shortened, then columns are parted."""
    whole = len(comparison.columns)
    for beside_baseline, name_width, gap in product((whole, 2, 1), NAME_WIDTHS, GAPS):
        notes = Footnotes()
        parts = _parts(comparison, beside_baseline)
        yield [_table(part, name_width, gap, notes) for part in parts], notes


def _parts(comparison: Comparison, beside_baseline: int) -> Iterator[Comparison]:
    """The comparison as several, each of the baseline and so many other columns."""
    others = range(1, len(comparison.columns))
    for start in range(0, max(1, len(others)), beside_baseline):
        kept = (0, *others[start : start + beside_baseline])
        yield Comparison(
            tuple(comparison.columns[index] for index in kept),
            tuple(
                replace(row, cells=tuple(row.cells[index] for index in kept))
                for row in comparison.rows
            ),
        )


def _table(comparison: Comparison, name_width: int, gap: str, notes: Footnotes) -> str:
    names = [_name(column, name_width, notes) for column in comparison.columns]
    workloads = [_marked(row.workload, WORKLOAD_WIDTH, (), notes) for row in comparison.rows]
    marks = [[notes.mark(cell.notes) for cell in row.cells] for row in comparison.rows]
    blocks = [
        _block([row.cells[index] for row in comparison.rows], [line[index] for line in marks], gap)
        for index in range(len(comparison.columns))
    ]
    headings, *lines = zip(["workload", *workloads], *blocks, strict=True)
    return _aligned([["", *names], headings, SEPARATING_LINE, *lines], "  ", "left")


def _name(column: Column, width: int, notes: Footnotes) -> str:
    return _marked(column.name, width, column.notes, notes)


def _marked(name: str, width: int, about: tuple[str, ...], notes: Footnotes) -> str:
    """A name that fits, with the mark of its notes; the first of them is the whole name."""
    shown = shorten(visible(name), width)
    whole = () if shown == visible(name) else (f"the whole name: {name}",)
    return shown + notes.mark((*whole, *about))


def _block(cells: list[Cell], marks: list[str], gap: str) -> Block:
    """Median, spread, change and n below each other; what no cell has takes no room."""
    room = max(map(len, marks), default=0)
    rows = [_HEADINGS, *map(_fields, cells)]
    firsts = [f"{row[0]}{mark:{room}}" for row, mark in zip(rows, ["", *marks], strict=True)]
    kept = [i for i in (1, 2, 3) if any(row[i] for row in rows[1:])]
    fields = [(first, *(row[i] for i in kept)) for first, row in zip(firsts, rows, strict=True)]
    return _aligned(fields, gap, "right").split("\n")


def _fields(cell: Cell) -> tuple[str, str, str, str]:
    if cell.summary is None:
        return str(cell.sample.outcome), "", "", ""
    return (
        quantities.time(cell.summary.median_s),
        quantities.spread(cell.summary.spread),
        quantities.change(cell.change),
        str(cell.summary.n),
    )


def _aligned(rows: Sequence[Sequence[str]], gap: str, side: Literal["left", "right"]) -> str:
    """Rows below each other and nothing around them; tabulate's own headings would be wider."""
    row, rule = DataRow("", gap, ""), Line("", "-", gap, "")
    return tabulate(
        rows,
        tablefmt=TableFormat(None, rule, None, None, row, row, 0, None),
        colglobalalign=side,
        disable_numparse=True,
        preserve_whitespace=True,
    )


def _footnote(number: int, text: str) -> str:
    mark = superscript(number)
    return textwrap.fill(f"{mark} {visible(text)}", WIDTH, subsequent_indent=" " * (len(mark) + 1))
