"""The runs of one configuration: a column of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.analysis.sample import Outcome, take_sample
from harness.model.errors import BadInput
from harness.model.run import RecordedRun, Run
from harness.records.lookup import find_runs


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of one configuration, pooled, in the order of their start.

    `name` is the configuration's; `with_unique_names` makes equal names differ. `notes` are lines that a
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


def with_unique_names(columns: Sequence[ConfigurationRuns]) -> tuple[ConfigurationRuns, ...]:
    """The columns with names of their own: `1g`, `1g #2`; and a note where runs appear again."""
    apart: list[ConfigurationRuns] = []
    for column in columns:
        taken = {earlier.name for earlier in apart}
        name, number = column.name, 2
        while name in taken:
            name, number = f"{column.name} #{number}", number + 1
        notes = (*column.notes, *_repeated_runs(column, apart))
        apart.append(replace(column, name=name, notes=notes))
    return tuple(apart)


def _repeated_runs(
    column: ConfigurationRuns, earlier: Sequence[ConfigurationRuns]
) -> tuple[str, ...]:
    ids = {recorded.run.id for recorded in column.runs}
    same = [other.name for other in earlier if ids & {recorded.run.id for recorded in other.runs}]
    return (f"holds runs that {', '.join(same)} holds too: no independent trials",) if same else ()


WORK: Mapping[str, Callable[[Run], object]] = {
    "sink": lambda run: run.parameters.get("sink"),
    "repartition": lambda run: run.parameters.get("repartition"),
    "pi_samples": lambda run: run.parameters.get("pi_samples"),
    "dataset digest": lambda run: (run.dataset or {}).get("digest"),
}
"""What makes a workload's trials the same work; trials of different work are no one sample."""


def find_configuration(name: str, results: Path) -> ConfigurationRuns:
    """The runs that `name` stands for, pooled.

    It is a results file, a directory of one configuration's, or a configuration under `results`.
    Raises BadInput where it is none of these, and where a directory mixes configurations or runs
    that did not do the same work.
    """
    runs = find_runs(name, results)
    configurations = list(dict.fromkeys(recorded.run.configuration for recorded in runs))
    if len(configurations) > 1:
        raise BadInput(
            f"{name} mixes runs of several configurations ({', '.join(configurations)}); "
            "give a directory of one, or a results file"
        )
    for what, read in WORK.items():
        values = list(dict.fromkeys(str(read(recorded.run)) for recorded in runs))
        if len(values) > 1:
            raise BadInput(
                f"{name} mixes runs that differ in {what} ({', '.join(values)}): their trials cannot "
                "be pooled; give results files, one run a column"
            )
    return ConfigurationRuns(configurations[0], runs)
