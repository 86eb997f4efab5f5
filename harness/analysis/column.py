"""The runs of one configuration: a column of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.analysis.sample import Outcome, take_sample
from harness.model import RecordedRun


@dataclass(frozen=True)
class Column:
    """The runs of one configuration, pooled, in the order of their start.

    `name` is the configuration's; `told_apart` makes equal names differ. `notes` are lines that a
    reader of the column must know.
    """

    name: str
    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()

    @property
    def workloads(self) -> tuple[str, ...]:
        """Everything asked for, tried or left out, in the order of first appearance."""
        return tuple(
            dict.fromkeys(
                workload
                for recorded in self.runs
                for workload in (
                    *recorded.run.workloads,
                    *(trial.workload for trial in recorded.trials),
                    *recorded.run.omitted,
                )
            )
        )

    @property
    def tried(self) -> tuple[str, ...]:
        """The workloads with a measured trial, ok or failed."""
        outcomes = {Outcome.MEASURED, Outcome.FAILED}
        return tuple(
            workload
            for workload in self.workloads
            if take_sample(workload, self.runs).outcome in outcomes
        )

    @property
    def controls(self) -> frozenset[str]:
        """The workloads that its runs say are controls."""
        return frozenset(
            name for recorded in self.runs for name in recorded.run.parameters.get("controls") or ()
        )


def told_apart(columns: Sequence[Column]) -> tuple[Column, ...]:
    """The columns with names of their own: `1g`, `1g #2`; and a note where runs appear again."""
    apart: list[Column] = []
    for column in columns:
        taken = {earlier.name for earlier in apart}
        name, number = column.name, 2
        while name in taken:
            name, number = f"{column.name} #{number}", number + 1
        notes = (*column.notes, *_repeated_runs(column, apart))
        apart.append(replace(column, name=name, notes=notes))
    return tuple(apart)


def _repeated_runs(column: Column, earlier: Sequence[Column]) -> tuple[str, ...]:
    ids = {recorded.run.id for recorded in column.runs}
    same = [other.name for other in earlier if ids & {recorded.run.id for recorded in other.runs}]
    return (f"holds runs that {', '.join(same)} holds too: no independent trials",) if same else ()
