"""What commands print, as values: a document is a sequence of blocks, and each format has one renderer.

The renderers are `text.py`, `markdown.py`, and for the report `report/blocks.html`. Each escapes what it
shows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.present.change_table import ChangeTable


@dataclass(frozen=True)
class Heading:
    """A line that stands directly above the next block."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """A text that is wrapped, such as the caption of a table, and the notes to which marks refer."""

    text: str
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Sentences:
    """Sentences that are wrapped. Each begins a line. They are read once."""

    texts: Iterable[str]


@dataclass(frozen=True)
class Lines:
    """Lines that are not wrapped, such as findings and the paths of files. They are read once."""

    texts: Iterable[str]


@dataclass(frozen=True)
class Table:
    """Headings, and rows with a cell for each heading; without rows, nothing is shown.

    `align` has `<` or `>` for each column. Its last character stands for all further columns, too. A table
    that `is_dense` has the words of a heading below each other. The `remarks` are sentences directly below.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    align: str = "<>"
    is_dense: bool = False
    remarks: Sequence[str] = ()


@dataclass(frozen=True)
class Facts:
    """Values by name. Those that have names themselves are indented below their name."""

    values: Mapping[str, Any]


Block = Heading | Paragraph | Sentences | Lines | Table | Facts | ChangeTable
Document = Iterable[Block]


def table_of(rows: Sequence[Mapping[str, str]]) -> Table:
    """Return the table of rows, one or more, whose cells are given by their headings."""
    return Table(tuple(rows[0]), tuple(tuple(row.values()) for row in rows))
