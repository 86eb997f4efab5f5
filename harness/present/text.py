"""Tables for the terminal, at most 100 columns wide."""

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

from harness.analysis.compare.comparison import Comparison
from harness.base.words import display_width, padded, shorten, visible
from harness.present.comparison_table import comparison_table
from harness.present.table import Fields, Footnotes, Table, abbreviated, superscript

WIDTH = 100
NAME_WIDTHS = ((40, 40), (24, 28), (16, 20), (10, 20), (16, 12), (10, 12), (8, 8))
"""Widths of a configuration's and a line's name; the first pair that fits is used.

A longer name of a configuration goes on in a further line, and one of a line is shortened."""

GAPS = ("  ", " ")
"""Space between the columns of one configuration; the first that fits is used."""

_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(µs|ms|s|min|h|%|[MG]bit/s)(\W|$))")
_NO_BREAK_SPACE = "\u00a0"
_FILLER = "\ue000"
"""Stands for the second column of a wide character where tabulate lays out a table."""

Block = list[str]
"""The lines of a column, the heading first, each padded to the same width."""


def render(comparison: Comparison) -> str:
    """Return the comparison as a table with caption and footnotes; ends with a newline.

    A comparison that is too wide for one table becomes several, each with the baseline.
    """
    return render_table(comparison_table(comparison))


def render_table(table: Table) -> str:
    """Return any before/after table in the same form."""
    for attempt in _attempts(table):
        parts, notes, caption = attempt
        if all(display_width(line) <= WIDTH for part in parts for line in part.split("\n")):
            break
    warnings = [f"{fill(line)}\n" for line in table.warnings]
    lines = [*warnings, "\n\n".join(parts), "", *filter(None, [fill(caption)])]
    return "\n".join([*lines, *footnotes(notes), ""])


def fill(text: str, indent: str = "") -> str:
    """Escape a text and wrap it to the terminal's width, keeping each number with its unit.

    `indent` begins every line but the first.
    """
    joined = _NUMBER_AND_UNIT.sub(_NO_BREAK_SPACE, visible(text))
    wrapped = textwrap.fill(joined, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return wrapped.replace(_NO_BREAK_SPACE, " ")


def footnotes(notes: Footnotes) -> list[str]:
    """Return the notes as `¹ text`, each wrapped to the terminal's width."""
    marks = [superscript(number) for number in range(1, len(notes.texts) + 1)]
    return [
        fill(f"{mark} {text}", indent=" " * (len(mark) + 1))
        for mark, text in zip(marks, notes.texts, strict=True)
    ]


def simple_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a plain table; all columns with a heading except the first are right-aligned."""
    from tabulate import tabulate  # noqa: PLC0415  comparing needs none, and importing it takes a while

    align = ["left", *("right" if heading else "left" for heading in headings[1:])]
    filled = [list(map(with_fillers, row)) for row in rows]
    table = tabulate(
        filled, list(headings), tablefmt="simple", colalign=align, disable_numparse=True
    )
    return without_fillers(table)


def with_fillers(text: str) -> str:
    """Return a text with a character for each column: tabulate counts characters."""
    return text + _FILLER * (display_width(text) - len(text))


def without_fillers(table: str) -> str:
    """Return what tabulate made of texts with fillers."""
    return table.replace(_FILLER, "")


def _attempts(table: Table) -> Iterator[tuple[list[str], Footnotes, str]]:
    """Yield the table, from its widest form to its narrowest, with its notes and its caption.

    Names become shorter first, then there are more parts, and at last `too few runs` is abbreviated.
    """
    beside = (len(table.columns), 2, 1)
    forms = (table, abbreviated(table))
    for form, beside_baseline, widths, gap in product(forms, beside, NAME_WIDTHS, GAPS):
        notes = Footnotes()
        parts = _parts(form, beside_baseline)
        yield [_grid(part, widths, gap, notes) for part in parts], notes, form.caption


def _parts(table: Table, beside_baseline: int) -> Iterator[Table]:
    """Split the table into tables of the baseline and up to `beside_baseline` other columns."""
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
    column_width, line_width = widths
    heading_marks = [notes.mark(heading.notes) for heading in table.columns]
    names = [_marked(line.name, line_width, line.notes, notes) for line in table.lines]
    marks = [[notes.mark(entry.notes) for entry in line.entries] for line in table.lines]
    blocks = [
        _block(
            table.headings,
            [line.entries[index].fields for line in table.lines],
            [line_marks[index] for line_marks in marks],
            gap,
        )
        for index in range(len(table.columns))
    ]
    headings = [
        _heading(column.name, max(column_width, *map(display_width, block)), mark)
        for column, block, mark in zip(table.columns, blocks, heading_marks, strict=True)
    ]
    height = max(map(len, headings))
    below = [[shorten(visible(table.heading), WIDTH), *names], *blocks]
    columns = [
        [""] * (height - len(above)) + above + own
        for above, own in zip([[], *headings], below, strict=True)
    ]
    lines = _joined(columns, "  ", "<")
    lines.insert(height + 1, "  ".join("-" * max(map(display_width, column)) for column in columns))
    return "\n".join(lines)


def _heading(name: str, width: int, mark: str) -> Block:
    """Return the whole name in lines of `width`, broken at hyphens where it has them, and the mark."""
    *lines, last = textwrap.wrap(visible(name), width, drop_whitespace=False) or [""]
    return [*lines, last + mark]


def _marked(name: str, width: int, about: tuple[str, ...], notes: Footnotes) -> str:
    """Shorten a name to `width` and mark its notes; the full name becomes the first of them."""
    shown = shorten(visible(name), width)
    full = () if shown == visible(name) else (f"full name: {name}",)
    return shown + notes.mark((*full, *about))


def _block(headings: Fields, cells: Sequence[Fields], marks: Sequence[str], gap: str) -> Block:
    """Lay out one configuration: value, interval, change and n; omit what no cell has."""
    rows = [headings, *cells]
    values = [f"{row.value}{mark}" for row, mark in zip(rows, _padded(["", *marks]), strict=True)]
    change_marks = _padded([row.mark for row in rows])
    columns = [
        values,
        [row.interval for row in rows],
        [f"{row.change}{mark}" for row, mark in zip(rows, change_marks, strict=True)],
        [row.change_interval for row in rows],
        [row.p for row in rows],
        [row.n for row in rows],
    ]
    return _beside(columns, gap)


def _beside(columns: Sequence[Block], gap: str) -> Block:
    """Join columns line by line, each as wide as it must be; omit columns with a heading alone."""
    kept = [column for column in columns if any(column[1:])]
    if not kept:
        return [""] * len(columns[0])
    return _joined(kept, gap, ">")


def _joined(columns: Sequence[Block], gap: str, side: str) -> Block:
    """Join columns line by line, each as wide as it must be, its texts on the side `<` or `>`."""
    padded = [_padded(column, side) for column in columns]
    return [gap.join(line).rstrip() for line in zip(*padded, strict=True)]


def _padded(texts: Sequence[str], side: str = "<") -> Block:
    width = max(map(display_width, texts))
    return [padded(text, width, side) for text in texts]
