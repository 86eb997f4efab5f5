"""Documents in Markdown, with one cell for each configuration."""

import re
from collections.abc import Iterable
from pathlib import Path

from harness.base.words import visible
from harness.present.blocks import Sentences
from harness.present.change_table import ChangeCell, ChangeColumn, ChangeLine, ChangeTable
from harness.present.footnotes import Footnotes
from harness.present.quantities import p_statement

_MARKDOWN_SYNTAX = re.compile(r"[\\`*_\[\]|~$]")
_HTML_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render(document: Iterable[ChangeTable | Sentences]) -> str:
    """Return the tables of changes and the sentences; ends with a newline."""
    parts = []
    for block in document:
        if isinstance(block, ChangeTable):
            parts.append(_change_table(block))
        else:
            parts += map(escape, block.texts)
    return "\n\n".join(parts) + "\n"


def is_table(file: Path) -> bool:
    """Return whether a file has a table of workloads, as `render` writes it. Raises OSError."""
    return b"\n| workload " in b"\n" + file.read_bytes()


def _change_table(table: ChangeTable) -> str:
    """Return table, caption and footnotes, the latter as a numbered list."""
    from tabulate import tabulate  # noqa: PLC0415  tables for the terminal need none

    notes = Footnotes()
    headings = [escape(table.heading)]
    headings += [_marked(column, notes) for column in table.columns]
    rows = []
    for line in table.lines:
        row = [_marked(line, notes)]
        row += [_cell(cell, notes) for cell in line.cells]
        rows.append(row)
    body = tabulate(
        rows,
        headers=headings,
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left"] + ["right"] * len(table.columns),
    )
    warnings = [f"**{escape(line)}**" for line in table.warnings]
    footnotes = [f"{number}. {escape(text)}" for number, text in enumerate(notes.texts, 1)]
    paragraphs = [*warnings, body, *map(escape, table.totals), table.caption, "\n".join(footnotes)]
    return "\n\n".join(filter(None, paragraphs))


def _marked(named: ChangeColumn | ChangeLine, notes: Footnotes) -> str:
    return escape(named.name) + notes.mark(named.notes)


def _cell(cell: ChangeCell, notes: Footnotes) -> str:
    words = [escape(cell.value) + notes.mark(cell.notes)]
    words += [cell.interval, cell.marked_change, cell.change_interval]
    if cell.p:
        words.append(f"({p_statement(cell.p)})")
    if cell.n:
        words.append(f"n={cell.n}")
    return " ".join(filter(None, words))


def escape(text: str) -> str:
    """Escape a text so that Markdown shows it literally, also in a table cell."""
    escaped = _MARKDOWN_SYNTAX.sub(r"\\\g<0>", visible(text))
    return escaped.translate(_HTML_ENTITIES)
