"""Columns of texts, and wrapped sentences, for a terminal of 100 columns."""

import re
import textwrap
from collections.abc import Sequence

from harness.base.words import display_width, padded, visible

WIDTH = 100
_NUMBER_AND_UNIT = re.compile(r"(?<=\d) (?=(µs|ms|s|min|h|%|[MG]bit/s)(\W|$))")
_NO_BREAK_SPACE = "\u00a0"
_SECOND = "\ue000"
"""Stands for the second column of a wide character while a text is wrapped. No escaped text has it."""

Row = Sequence[str]
"""Cells. A cell may have several lines."""


def fill(text: str, indent: str = "") -> str:
    """Escape a text and wrap it to the terminal's width, keeping each number with its unit.

    `indent` begins every line but the first.
    """
    joined = _NUMBER_AND_UNIT.sub(_NO_BREAK_SPACE, visible(text))
    columns = "".join(character.ljust(display_width(character), _SECOND) for character in joined)
    wrapped = textwrap.fill(columns, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return wrapped.replace(_NO_BREAK_SPACE, " ").replace(_SECOND, "")


def grid(headings: Row, rows: Sequence[Row], align: str, gap: str = "  ") -> list[str]:
    """Return the lines of a table, with a rule below the headings; without headings, it has no rule either.

    `align` has `<` or `>` for each column. Headings stand directly above the rule, cells at the top of their
    row.
    """
    above = _lines_of(headings, is_heading=True)
    below = []
    for row in rows:
        below += _lines_of(row)
    columns = zip(*above + below, strict=True)
    widths = [max(map(display_width, column)) for column in columns]
    if headings:
        above.append(["-" * width for width in widths])
    lines = above + below
    return [_joined(line, widths, align, gap) for line in lines]


def _lines_of(row: Row, *, is_heading: bool = False) -> list[Row]:
    cells = [cell.split("\n") for cell in row]
    height = max(map(len, cells), default=0)
    for cell in cells:
        empty = [""] * (height - len(cell))
        if is_heading:
            cell[:0] = empty
        else:
            cell.extend(empty)
    return list(zip(*cells, strict=True))


def _joined(line: Row, widths: Sequence[int], align: str, gap: str) -> str:
    cells = map(padded, line, widths, align)
    return gap.join(cells).rstrip()
