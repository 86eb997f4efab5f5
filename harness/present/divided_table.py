"""A change in each workload, divided over where the time went."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from harness.analysis.attribution.attribution import PARTS
from harness.analysis.attribution.explanation import ExplainedRow
from harness.analysis.statistics.change import Verdict
from harness.present import quantities
from harness.present.escape import shorten, visible
from harness.present.parts import HEADINGS, NAMES, UNKNOWN, narrow_table

WIDTH = 100
_NAME_WIDTHS = (20, 16, 12)
_DECIMALS = ((100, 2), (1_000, 1), (100_000, 0))
"""How many a table has whose greatest number of seconds is less than this."""
_THOUSANDS = -3
"""In place of decimals, beyond all of these."""


def divided_table(rows: Sequence[ExplainedRow], marks: Mapping[str, str]) -> str:
    """Workloads down; the change and its parts across, in seconds, which add up as they are shown.

    A part in which nothing changed takes no room, and is named below. `marks` are those of the
    footnotes, by workload.
    """
    decimals = _decimals(rows)
    divided = [_rounded(row, decimals) for row in rows]
    kept = [part for part in PARTS if any(one.get(part) for one in divided)]
    numbers = [
        [
            _doubt(row) + _signed(one.get("change"), decimals),
            *(_signed(one.get(part), decimals) for part in (*kept, "rest")),
        ]
        for row, one in zip(rows, divided, strict=True)
    ]
    headings = ["workload", "change", *(HEADINGS[part] for part in kept), "rest"]
    for width in _NAME_WIDTHS:
        names = [shorten(visible(row.workload), width) + marks[row.workload] for row in rows]
        lines = [[name, *line] for name, line in zip(names, numbers, strict=True)]
        table = narrow_table(headings, lines)
        if all(len(line) <= WIDTH for line in table.split("\n")):
            break
    return f"{table}\n\n{_caption(rows, kept, decimals)}"


def _doubt(row: ExplainedRow) -> str:
    change = row.cells[1].change
    return quantities.NOISE if change and change.verdict is Verdict.NOISE else ""


def _decimals(rows: Sequence[ExplainedRow]) -> int:
    greatest = max(
        abs(seconds)
        for row in rows
        for seconds in (row.change_s or 0, row.rest_s or 0, *row.parts_s.values())
    )
    return next((decimals for limit, decimals in _DECIMALS if greatest < limit), _THOUSANDS)


def _rounded(row: ExplainedRow, decimals: int) -> dict[str, int]:
    """In units of the last decimal, so that what is shown adds up: the rest takes what is rounded."""
    if row.change_s is None:
        return {}
    change = round(row.change_s * 10.0**decimals)
    parts = {name: round(seconds * 10.0**decimals) for name, seconds in row.parts_s.items()}
    rest = {"rest": change - sum(parts.values())} if parts else {}
    return {"change": change, **parts, **rest}


def _signed(units: int | None, decimals: int) -> str:
    if units is None:
        return UNKNOWN
    shown = max(0, decimals)
    return f"{units / 10**shown:+.{shown}f}" if units else "0"


def _caption(rows: Sequence[ExplainedRow], kept: Sequence[str], decimals: int) -> str:
    changes = [row.cells[1].change for row in rows]
    verdicts = {change.verdict for change in changes if change}
    nothing = ", ".join(NAMES[part] for part in PARTS if part not in kept)
    sentences = [
        f"{'Thousands of seconds' if decimals == _THOUSANDS else 'Seconds'}, of the medians.",
        f"{quantities.NOISE}: chance explains it." if Verdict.NOISE in verdicts else "",
        "Of so few trials chance may explain every change." if Verdict.TOO_FEW in verdicts else "",
        f"Nothing changed in: {nothing}." if nothing else "",
    ]
    return textwrap.fill(" ".join(filter(None, sentences)), WIDTH)
