"""The outcomes of a comparison: the change of each workload, in the words of the table."""

from dataclasses import dataclass

from harness.analysis.compare.comparison import Comparison
from harness.present.change_table import ChangeCell, Effect, effect_of
from harness.present.comparison_table import comparison_table
from harness.statistics.change import Change
from harness.statistics.interval import Interval


@dataclass(frozen=True)
class ReportedChange:
    """A workload in a configuration against the baseline. `change` is None if it cannot be compared.

    `before` and `after` are the words of the table. `unit` is the unit of its work, if the workload counts
    it.
    """

    workload: str
    configuration: str
    is_control: bool
    before: ChangeCell
    after: ChangeCell
    change: Change | None
    unit: str | None

    @property
    def text(self) -> str:
        """What there is before and after, or the change as in the table: `-9.5% ±1%`, `+13.4% flop/s ±3%`."""
        if self.change is None:
            return f"({self.before.value} before, {self.after.value} after)"
        words = [self.after.marked_change, self.after.change_interval]
        if self.unit:
            words.insert(1, f"{self.unit}/s")
        return " ".join(words).strip()

    @property
    def relative_change(self) -> float:
        """The change of the time, 0 if it cannot be compared."""
        return self.change.relative_change if self.change else 0.0

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of that change."""
        return self.change.interval if self.change else None

    @property
    def effect(self) -> Effect:
        """What became of the time."""
        return effect_of(self.change)


def outcomes(comparison: Comparison) -> list[ReportedChange]:
    """Return the outcome of each workload in each configuration but the baseline, as in the table."""
    found = []
    columns = comparison.columns[1:]
    controls = comparison.controls
    for row, line in zip(comparison.rows, comparison_table(comparison).lines, strict=True):
        before, *others = line.cells
        for column, cell, words in zip(columns, row.cells[1:], others, strict=True):
            outcome = ReportedChange(
                row.workload,
                column.name,
                row.workload in controls,
                before,
                words,
                cell.change,
                cell.sample.unit,
            )
            found.append(outcome)
    return found
