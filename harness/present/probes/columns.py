"""Tables of measurements, declared by their columns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.analysis.network.measured import MeasuredCase
from harness.base.words import count_of, label
from harness.model.probe import Metric, RecordedProbes
from harness.present.blocks import Block, Heading, Table

R = TypeVar("R")

UNKNOWN = "?"
"""Stands for a value that is not known."""
MAX_ROWS = 100
WORST_ROWS = 20
"""If there are more than MAX_ROWS, only the worst are listed."""
_NAME_WIDTH = 40


@dataclass(frozen=True)
class Column(Generic[R]):
    """A column: its heading, its value in a row, and how numbers are written.

    `value` returns None if it is unknown, and a text to be shown as it is. A number is shown times `factor`,
    in the form `form`, with `unit` behind it.
    """

    heading: str
    value: Callable[[R], float | str | None]
    form: str = ""
    factor: float = 1.0
    unit: str = ""

    def text(self, value: float | str | None, missing: str) -> str:
        """Return the cell of a value, or else `missing`."""
        if value is None:
            return missing
        if isinstance(value, str):
            return label(value, _NAME_WIDTH)
        return f"{value * self.factor:{self.form}}{self.unit}"


def of_metric(metric: Metric) -> Callable[[MeasuredCase], float | None]:
    """Return the value of a column that shows the median of a metric over the repeats."""
    return lambda row: row.median(metric)


@dataclass(frozen=True)
class MeasurementTable:
    """A table of a probe's measurements, with the rule by which to read it.

    A row has `errors`, one line each. If there are very many rows, the rows with the greatest `badness` are
    shown.
    """

    rows: Callable[[RecordedProbes], Sequence[Any]]
    columns: Sequence[Column[Any]]
    title: str = ""
    rule: str = ""
    badness: Callable[[Any], float] | None = None

    @property
    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [column.heading for column in self.columns]

    def lines(self, rows: Sequence[Any]) -> Iterator[list[str]]:
        """Yield the cells of each row. A row with errors and without any number has `failed` in its cells."""
        for row in rows:
            values = [column.value(row) for column in self.columns]
            is_failed = row.errors and not any(isinstance(value, float) for value in values)
            missing = "failed" if is_failed else UNKNOWN
            cells = zip(self.columns, values, strict=True)
            yield [column.text(value, missing) for column, value in cells]

    def blocks(self, probed: RecordedProbes) -> Iterator[Block]:
        """Yield the title and the table; nothing without rows."""
        rows = self.rows(probed)
        if not rows:
            return
        if self.title:
            yield Heading(self.title)
        remarks = []
        if self.badness and len(rows) > MAX_ROWS:
            remarks.append(f"and {count_of(len(rows) - WORST_ROWS, 'better line')}")
            rows = sorted(rows, key=self.badness, reverse=True)[:WORST_ROWS]
        yield numbers(self.headings, list(self.lines(rows)), remarks)


def numbers(
    headings: Sequence[str], rows: Sequence[Sequence[str]], remarks: Sequence[str] = ()
) -> Table:
    """Return a table whose columns are numbers, except the first and those without a heading."""
    align = "<" + "".join(">" if heading else "<" for heading in headings[1:])
    return Table(headings, rows, align, remarks=remarks)
