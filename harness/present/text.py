"""Documents as text for the terminal, at most 100 columns wide."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from harness.base.words import display_width, label, padded, shorten, visible
from harness.present.blocks import (
    Block,
    Document,
    Facts,
    Heading,
    Lines,
    Paragraph,
    Sentences,
    Table,
)
from harness.present.change_table import ChangeCell, ChangeLine, ChangeTable, abbreviated
from harness.present.footnotes import Footnotes, superscript
from harness.present.grid import WIDTH, fill, grid

NAME_WIDTHS = ((40, 40), (24, 28), (16, 20), (10, 20), (16, 12), (10, 12), (8, 8))
"""Widths of a configuration's and a line's name; the first pair that fits is used.

A longer name of a configuration goes on in a further line, and one of a line is shortened."""

GAPS = ("  ", " ")
"""Space between the columns of one configuration; the first that fits is used."""

INDENT = "  "
_MAX_VALUE = 300
"""Characters of a fact that are shown: Java's options can have thousands. The file has all of them."""


def render(document: Document) -> str:
    """Return the blocks with blank lines between them, except below a heading; ends with a newline."""
    text = ""
    for block in document:
        shown = _block(block)
        if shown:
            text += f"{shown}\n"
        if shown and not isinstance(block, Heading):
            text += "\n"
    return text.rstrip("\n") + "\n"


def _block(block: Block) -> str:
    """Return a block without a newline at its end; an empty text if it has nothing to show."""
    match block:
        case Heading(text):
            lines = [visible(text)]
        case Paragraph():
            lines = _paragraph(block)
        case Sentences(texts):
            lines = _sentences(texts)
        case Lines(texts):
            lines = list(map(visible, texts))
        case Table():
            lines = _table(block)
        case Facts(values):
            lines = list(_facts(values, INDENT)) or [f"{INDENT}none"]
        case ChangeTable():
            lines = [_change_table(block)]
    return "\n".join(lines)


def _sentences(texts: Iterable[str]) -> list[str]:
    """Wrap each sentence. Its first line begins at the margin, the others are indented."""
    return [fill(text, INDENT) for text in texts]


def fits(table: Table) -> bool:
    """Return whether a table is no wider than the terminal."""
    return _is_narrow(_table(table))


def _is_narrow(texts: Sequence[str]) -> bool:
    lines = "\n".join(texts).split("\n")
    return max(map(display_width, lines)) <= WIDTH


def _paragraph(paragraph: Paragraph) -> list[str]:
    lines = []
    if paragraph.text:
        lines.append(fill(paragraph.text))
    for number, note in enumerate(paragraph.notes, 1):
        mark = superscript(number)
        lines.append(fill(f"{mark} {note}", indent=" " * (len(mark) + 1)))
    return lines


def _table(table: Table) -> list[str]:
    if not table.rows:
        return []
    rows = [list(map(_cell, row)) for row in table.rows]
    align = table.align.ljust(len(rows[0]), table.align[-1])
    gap = " " if table.is_dense else "  "
    headings = []
    for heading, side in zip(table.headings, align, strict=False):  # some tables have none
        if table.is_dense:
            headings.append(heading.replace(" ", "\n"))
        elif side == ">":
            headings.append(f"  {heading}")
        else:
            headings.append(f"{heading}  ")
    return grid(headings, rows, align, gap) + _sentences(table.remarks)


def _cell(text: str) -> str:
    """Escape a text of one line or more."""
    return "\n".join(map(visible, text.split("\n")))


def _facts(facts: Mapping[Any, Any], indent: str) -> Iterator[str]:
    """Yield a line for each fact; nested facts are indented below their name."""
    named = {visible(str(name)): value for name, value in facts.items()}
    width = max(map(len, named), default=0)
    for name, value in named.items():
        match value:
            case Mapping() if value:
                yield f"{indent}{name}"
                yield from _facts(value, indent + INDENT)
            case [Mapping(), *_]:
                yield f"{indent}{name}"
                yield from _facts(dict(enumerate(value, 1)), indent + INDENT)
            case _:
                begin = f"{indent}{name:{width}}  "
                yield fill(begin + shorten(_scalar(value), _MAX_VALUE), " " * len(begin))


def _scalar(value: Any) -> str:
    match value:
        case None:
            return "unknown"
        case bool():
            return "yes" if value else "no"
        case list() | tuple():
            return ", ".join(map(_scalar, value)) or "none"
        case Mapping():
            return "none"
        case _:
            return visible(str(value))


def _change_table(table: ChangeTable) -> str:
    """Return the table with warnings, caption and footnotes.

    One that is too wide becomes several tables, each with the baseline.
    """
    # Names become shorter first, then there are fewer columns beside the baseline, and at last `too few runs`
    # is abbreviated.
    forms = product((table, abbreviated(table)), (len(table.columns), 2, 1), NAME_WIDTHS, GAPS)
    for form, beside, widths, gap in forms:
        notes = Footnotes()
        parts = [_part(part, widths, gap, notes) for part in _parts(form, beside)]
        if _is_narrow(parts):
            break
    blocks = [*map(fill, table.warnings), *parts]
    blocks.append("\n".join(_sentences(table.totals)))
    blocks.append("\n".join(_paragraph(Paragraph(form.caption, notes.texts))))
    return "\n\n".join(filter(None, blocks))


def _parts(table: ChangeTable, beside: int) -> Iterator[ChangeTable]:
    """Split the table into tables of the baseline and up to `beside` other columns."""
    count = len(table.columns)
    for start in range(1, max(2, count), beside):
        part = slice(start, start + beside)
        lines = [replace(line, cells=line.cells[:1] + line.cells[part]) for line in table.lines]
        columns = table.columns[:1] + table.columns[part]
        yield replace(table, columns=columns, lines=tuple(lines))


def _part(table: ChangeTable, widths: tuple[int, int], gap: str, notes: Footnotes) -> str:
    """Return a table with a column of names and one for each configuration; notes get numbers by line."""
    column_width, line_width = widths
    for column in table.columns:
        notes.mark(column.notes)
    columns = [[_marked(line, line_width, notes) for line in table.lines]]
    for line in table.lines:
        for cell in line.cells:
            notes.mark(cell.notes)
    headings = [label(table.heading, WIDTH)]
    for index, column in enumerate(table.columns):
        cells = [line.cells[index] for line in table.lines]
        words = _column([table.headings, *cells], notes, gap)
        width = max(column_width, *map(display_width, words))
        name = textwrap.wrap(visible(column.name), width, drop_whitespace=False)
        headings.append("\n".join(name) + f"{notes.mark(column.notes)}\n{words[0]}")
        columns.append(words[1:])
    return "\n".join(grid(headings, list(zip(*columns, strict=True)), "<" * len(columns)))


def _marked(line: ChangeLine, width: int, notes: Footnotes) -> str:
    """Return a name, shortened, and the marks of its notes. The full name becomes the first of them."""
    name = visible(line.name)
    shown = shorten(name, width)
    if shown == name:
        return name + notes.mark(line.notes)
    return shown + notes.mark([f"full name: {line.name}", *line.notes])


def _column(cells: Sequence[ChangeCell], notes: Footnotes, gap: str) -> list[str]:
    """Return a line for each cell of a configuration, the headings first; omit what no cell has."""
    marks = [notes.mark(cell.notes) for cell in cells]
    marks_width = max(map(display_width, marks))
    change_marks_width = max(len(cell.mark) for cell in cells)
    rows = []
    for cell, mark in zip(cells, marks, strict=True):
        value = cell.value + padded(mark, marks_width)
        change = cell.change + cell.mark.ljust(change_marks_width)
        rows.append((value, cell.interval, change, cell.change_interval, cell.p, cell.n))
    kept = [column for column in zip(*rows, strict=True) if any(map(str.strip, column[1:]))]
    return grid((), list(zip(*kept, strict=True)), ">" * len(kept), gap) or [""]
