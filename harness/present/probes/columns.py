"""Tables of what probes measured, declared by their columns."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from harness.analysis.network.cases import MeasuredCase
from harness.base.words import count_of, shorten, visible
from harness.model.probe import Metric, RecordedProbes
from harness.present.probes import UNKNOWN
from harness.present.text import simple_table

R = TypeVar("R")

MAX_ROWS, WORST_ROWS = 100, 20
"""Of more rows, only the worst are listed."""
_NAME_WIDTH = 40


@dataclass(frozen=True)
class Column(Generic[R]):
    """A column: its heading, what it shows of a row, and how numbers are written.

    `value` returns None for what is not known, and a text for what is shown as it is. A number is shown times
    `factor`, in the form `form`, with `unit` behind it.
    """

    heading: str
    value: Callable[[R], float | str | None]
    form: str = ""
    factor: float = 1.0
    unit: str = ""

    def text(self, row: R, missing: str = UNKNOWN) -> str:
        """Return the cell of a row."""
        value = self.value(row)
        if isinstance(value, str):
            return shorten(visible(value), _NAME_WIDTH)
        return missing if value is None else f"{value * self.factor:{self.form}}{self.unit}"


def of_metric(metric: Metric) -> Callable[[MeasuredCase], float | None]:
    """Return the value of a column that shows the median of a metric over the repeats."""
    return lambda row: row.median(metric)


@dataclass(frozen=True)
class ProbeTable:
    """A table of what a probe measured: a line for each row, and below it the rule by which to read it.

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
        """Yield the cells of each row; of one with errors and without any number, `failed`."""
        for row in rows:
            values = [column.value(row) for column in self.columns]
            is_failed = row.errors and not any(isinstance(value, float) for value in values)
            missing = "failed" if is_failed else UNKNOWN
            yield [column.text(row, missing) for column in self.columns]

    def text(self, probed: RecordedProbes) -> str:
        """Return the title and the table; empty without rows."""
        rows = self.rows(probed)
        if not rows:
            return ""
        shown: Sequence[Any] = rows
        more: Sequence[str] = ()
        if self.badness and len(rows) > MAX_ROWS:
            shown = sorted(rows, key=self.badness, reverse=True)[:WORST_ROWS]
            more = (f"and {count_of(len(rows) - len(shown), 'better line')}",)
        table = simple_table(self.headings, list(self.lines(shown)))
        return "\n".join((*filter(None, [self.title]), table, *more))
