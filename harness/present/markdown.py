"""Tables in Markdown, with one cell for each configuration."""

import re
from pathlib import Path

from harness.analysis.compare.comparison import Comparison
from harness.base.words import visible
from harness.present import quantities
from harness.present.comparison_table import comparison_table
from harness.present.table import Entry, Footnotes, Table

_MARKDOWN_SYNTAX = re.compile(r"[\\`*_\[\]|~$]")
_HTML_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


def render(comparison: Comparison) -> str:
    """Return table, caption and footnotes, the latter as a numbered list; ends with a newline."""
    return render_table(comparison_table(comparison))


def is_table(file: Path) -> bool:
    """Return whether a file has a table of workloads, as `render` writes it. Raises OSError."""
    return b"\n| workload " in b"\n" + file.read_bytes()


def render_table(table: Table) -> str:
    """Return any before/after table in the same form."""
    from tabulate import tabulate  # noqa: PLC0415  tables for the terminal need none

    notes = Footnotes()
    headings = [escape(name) + notes.mark(about) for name, about in table.columns]
    rows = [
        [
            escape(line.name) + notes.mark(line.notes),
            *(_cell(entry, notes) for entry in line.entries),
        ]
        for line in table.lines
    ]
    body = tabulate(
        rows,
        headers=[escape(table.heading), *headings],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left", *("right" for _ in headings)],
    )
    warnings = [f"**{escape(line)}**" for line in table.warnings]
    footnotes = [f"{number}. {escape(text)}" for number, text in enumerate(notes.texts, 1)]
    paragraphs = [*warnings, body, table.caption, "\n".join(footnotes)]
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _cell(entry: Entry, notes: Footnotes) -> str:
    fields = entry.fields
    parts = (
        escape(fields.value) + notes.mark(entry.notes),
        fields.interval,
        fields.marked_change,
        fields.change_interval,
        f"({quantities.p_statement(fields.p)})" if fields.p else "",
        f"n={fields.n}" if fields.n else "",
    )
    return " ".join(filter(None, parts))


def escape(text: str) -> str:
    """Escape a text so that Markdown shows it literally, also in a table cell."""
    escaped = _MARKDOWN_SYNTAX.sub(r"\\\g<0>", visible(text))
    return "".join(_HTML_ENTITIES.get(character, character) for character in escaped)
