"""A table for the terminal: at most 100 columns wide."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal

from tabulate import SEPARATING_LINE, DataRow, TableFormat, tabulate
from tabulate import Line as Rule

from harness.analysis.comparison import Comparison
from harness.present.comparison_table import comparison_table
from harness.present.table import HEADINGS, NEEDS, Fields, Footnotes, Table, superscript
from harness.terminal import shorten, visible

WIDTH = 100
NAME_WIDTHS = ((40, 40), (24, 28), (16, 20), (10, 20))
"""Of a configuration in the heading and of a line; the first that let the table fit."""

GAPS = ("  ", " ")
"""Between the figures of one configuration, in the order of preference."""

Block = list[str]
"""Lines that stand below each other, the heading first; all empty where there is nothing to say."""


def render(comparison: Comparison) -> str:
    """Table, caption and footnotes, ending with a newline.

    Where the columns do not fit beside each other, several tables follow each other, each with the
    baseline.
    """
    return render_table(comparison_table(comparison))


def render_table(table: Table) -> str:
    """The same of any table."""
    for attempt in _attempts(table):
        parts, notes = attempt
        if all(len(line) <= WIDTH for part in parts for line in part.split("\n")):
            break
    warnings = [f"{_filled(line)}\n" for line in table.warnings]
    footnotes = [_footnote(number, text) for number, text in enumerate(notes.texts, 1)]
    return "\n".join([*warnings, "\n\n".join(parts), "", _filled(table.caption), *footnotes, ""])


def _attempts(table: Table) -> Iterator[tuple[list[str], Footnotes]]:
    """From the widest to the narrowest: first names are shortened, then columns are parted."""
    whole = len(table.columns)
    for beside_baseline, widths, gap in product((whole, 2, 1), NAME_WIDTHS, GAPS):
        notes = Footnotes()
        parts = _parts(table, beside_baseline)
        yield [_grid(part, widths, gap, notes) for part in parts], notes


def _parts(table: Table, beside_baseline: int) -> Iterator[Table]:
    """The table as several, each of the baseline and so many other columns."""
    others = range(1, len(table.columns))
    for start in range(0, max(1, len(others)), beside_baseline):
        kept = (0, *others[start : start + beside_baseline])
        yield replace(
            table,
            columns=tuple(table.columns[index] for index in kept),
            lines=tuple(
                replace(line, entries=tuple(line.entries[index] for index in kept))
                for line in table.lines
            ),
        )


def _grid(table: Table, widths: tuple[int, int], gap: str, notes: Footnotes) -> str:
    of_column, of_line = widths
    headings = [_marked(name, of_column, about, notes) for name, about in table.columns]
    names = [_marked(line.name, of_line, (), notes) for line in table.lines]
    marks = [[notes.mark(entry.notes) for entry in line.entries] for line in table.lines]
    blocks = [
        _block(
            [line.entries[index].fields for line in table.lines],
            [each[index] for each in marks],
            gap,
            with_n=table.with_n,
        )
        for index in range(len(table.columns))
    ]
    below, *lines = zip([table.heading, *names], *blocks, strict=True)
    rule = Rule("", "-", "  ", "")
    form = TableFormat(None, rule, None, None, _row("  "), _row("  "), 0, None)
    return _tabulated([["", *headings], below, SEPARATING_LINE, *lines], form, "left")


def _marked(name: str, width: int, about: tuple[str, ...], notes: Footnotes) -> str:
    """A name that fits, with the mark of its notes; the first of them is the whole name."""
    shown = shorten(visible(name), width)
    whole = () if shown == visible(name) else (f"the whole name: {name}",)
    return shown + notes.mark((*whole, *about))


def _block(cells: Sequence[Fields], marks: Sequence[str], gap: str, *, with_n: bool) -> Block:
    """Median, change and n of one configuration; what no cell has takes no room."""
    rows = [HEADINGS, *cells]
    medians = [f"{row.median}{mark}" for row, mark in zip(rows, _padded(["", *marks]), strict=True)]
    columns = [
        medians,
        [row.interval for row in rows],
        _changes(rows, gap),
        [row.n if with_n else "" for row in rows],
    ]
    return _beside(columns, gap)


def _changes(rows: Sequence[Fields], gap: str) -> Block:
    """Change, its interval and p; where a sentence stands for the change, it has the room of all."""
    says = [row.change.startswith(NEEDS) for row in rows]
    columns = [
        ["" if sentence else each for each, sentence in zip(column, says, strict=True)]
        for column in (
            [row.change for row in rows],
            [row.change_interval for row in rows],
            [row.p for row in rows],
        )
    ]
    lines = _beside(columns, gap)
    if not any(lines) and any(says):
        lines[0] = HEADINGS.change
    return [
        row.change if sentence else line
        for row, sentence, line in zip(rows, says, lines, strict=True)
    ]


def _beside(columns: Sequence[Block], gap: str) -> Block:
    """Columns as one, each as wide as it must be; one with nothing below its heading is left out."""
    kept = [column for column in columns if any(column[1:])]
    if not kept:
        return [""] * len(columns[0])
    form = TableFormat(None, None, None, None, _row(gap), _row(gap), 0, None)
    return _tabulated(list(zip(*kept, strict=True)), form, "right").split("\n")


def _padded(texts: Sequence[str]) -> list[str]:
    room = max(map(len, texts))
    return [f"{text:{room}}" for text in texts]


def _row(gap: str) -> DataRow:
    return DataRow("", gap, "")


def _tabulated(
    rows: Sequence[Sequence[str]], form: TableFormat, side: Literal["left", "right"]
) -> str:
    """Rows below each other and nothing around them; tabulate's own headings would be wider."""
    return tabulate(
        rows, tablefmt=form, colglobalalign=side, disable_numparse=True, preserve_whitespace=True
    )


def _filled(text: str) -> str:
    return textwrap.fill(visible(text), WIDTH)


def _footnote(number: int, text: str) -> str:
    mark = superscript(number)
    return textwrap.fill(f"{mark} {visible(text)}", WIDTH, subsequent_indent=" " * (len(mark) + 1))
