"""A comparison as a Markdown table: a cell a configuration."""

from __future__ import annotations

from tabulate import tabulate

from harness.analysis.comparison import Cell, Comparison
from harness.present import quantities
from harness.present.caption import caption
from harness.present.escape import markdown
from harness.present.footnotes import Footnotes


def render(comparison: Comparison) -> str:
    """Table, caption and the footnotes as a numbered list, ending with a newline."""
    notes = Footnotes()
    headings = [markdown(column.name) + notes.mark(column.notes) for column in comparison.columns]
    rows = [
        [markdown(row.workload), *(_cell(cell, notes) for cell in row.cells)]
        for row in comparison.rows
    ]
    table = tabulate(
        rows,
        headers=["workload", *headings],
        tablefmt="pipe",
        disable_numparse=True,
        colalign=["left", *("right" for _ in headings)],
    )
    footnotes = [f"{number}. {markdown(text)}" for number, text in enumerate(notes.texts, 1)]
    paragraphs = [table, caption(comparison), *(["\n".join(footnotes)] if footnotes else [])]
    return "\n\n".join(paragraphs) + "\n"


def _cell(cell: Cell, notes: Footnotes) -> str:
    mark = notes.mark(cell.notes)
    if cell.summary is None:
        return f"{cell.sample.outcome}{mark}"
    parts = (
        quantities.time(cell.summary.median_s) + mark,
        quantities.spread(cell.summary.spread),
        quantities.change(cell.change),
        f"n={cell.summary.n}",
    )
    return " ".join(filter(None, parts))
