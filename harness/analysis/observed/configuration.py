"""The runs of one configuration, which are one column of a table, and where they are found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from harness.analysis.observed.environment import (
    FactsByGroup,
    facts_by_group,
    layouts,
)
from harness.analysis.observed.executors import executors_of_trials
from harness.analysis.observed.interference import mean_disturbances
from harness.analysis.observed.probe_load import pooled_measurements
from harness.analysis.observed.sample import Sample, run_medians, take_sample
from harness.base.errors import BadInput
from harness.base.items import grouped, union, unique
from harness.base.words import unique_name
from harness.model.interference import Disturbance
from harness.model.probe import Measurement
from harness.model.run import PROGRAM, RecordedRun, Run
from harness.records.lookup import find_runs, probes_beside
from harness.statistics.run_model import RunMedian, RunModel
from harness.work.same_work import require_same_work


@dataclass(frozen=True)
class ConfigurationRuns:
    """The runs of one configuration, pooled, in the order of their start.

    - `name`: the configuration's name. `with_unique_names` numbers equal names.
    - `notes`: what event logs do not tell, or how names were matched.
    - `alone`: workloads of event logs that no other configuration has, each with its application. The runs
      do not have them.

    Conclusions from the runs, such as `samples`, are computed once, when they are first asked for.
    """

    name: str
    runs: tuple[RecordedRun, ...]
    notes: tuple[str, ...] = ()
    alone: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def descriptions(self) -> Sequence[Run]:
        """What each run declared, requested and observed when it started."""
        return [recorded.run for recorded in self.runs]

    @cached_property
    def workloads(self) -> tuple[str, ...]:
        """Every workload that was requested, run or omitted, in the order of first appearance."""
        found: list[Iterable[str]] = []
        for recorded in self.runs:
            found += [recorded.run.workloads, recorded.by_workload, recorded.run.omitted]
        return tuple(union(found))

    @cached_property
    def samples(self) -> Mapping[str, Sample]:
        """The sample of each workload. Raise BadInput like `take_sample`."""
        return {workload: take_sample(workload, self.runs) for workload in self.workloads}

    @cached_property
    def medians(self) -> Sequence[Mapping[str, RunMedian]]:
        """The median times of each run, by workload."""
        return list(map(run_medians, self.runs))

    @cached_property
    def facts(self) -> Sequence[FactsByGroup]:
        """The facts of each run that may explain its times."""
        found: dict[tuple[object, ...], FactsByGroup] = {}
        of_runs: list[FactsByGroup] = []
        for run in self.descriptions:
            # Equal environments of many runs are one object: see `records.reader`.
            same = (id(run.environment), id(run.parameters), id(run.dataset), id(run.facts))
            key = (run.written_by, *same)
            if key not in found:
                found[key] = facts_by_group(run)
            of_runs.append(found[key])
        return of_runs

    @cached_property
    def executors(self) -> Sequence[str]:
        """Which executors the trials that count had: `2 on 2 nodes`. Older results do not tell."""
        return union(map(executors_of_trials, self.runs))

    @cached_property
    def disturbances(self) -> Mapping[Disturbance, float]:
        """What disturbed the trials that count, on average."""
        return mean_disturbances(self.runs)

    @property
    def attempted(self) -> Sequence[str]:
        """The workloads with at least one measured trial that counts, ok or failed."""
        return [name for name, sample in self.samples.items() if sample.runs_s or sample.errors]

    @property
    def counted_runs(self) -> int:
        """How many runs have a time that counts; one that ended in its warm-up has none."""
        return sum(map(bool, self.medians))

    @property
    def spark_versions(self) -> set[object]:
        """The versions of Spark of all runs, None where one is unknown."""
        return {run.environment.get("spark") for run in self.descriptions}

    @property
    def layouts(self) -> frozenset[str]:
        """The layouts in which the data was observed; empty if none was."""
        return frozenset(chain.from_iterable(map(layouts, self.descriptions)))

    @cached_property
    def controls(self) -> frozenset[str]:
        """The workloads that any of the runs declares to be a control."""
        return named_by_runs(self.descriptions, "controls")


def model_of(columns: Iterable[ConfigurationRuns]) -> RunModel:
    """Return the model of the times of a table with these columns."""
    medians: list[Sequence[Mapping[str, RunMedian]]] = []
    applications: list[Sequence[str | None]] = []
    for column in columns:
        medians.append(column.medians)
        applications.append([recorded.application for recorded in column.runs])
    return RunModel(medians, applications)


def with_unique_names(columns: Iterable[ConfigurationRuns]) -> tuple[ConfigurationRuns, ...]:
    """Number columns of equal name: `1g`, `1g #2`."""
    unique: dict[str, ConfigurationRuns] = {}
    for column in columns:
        name = unique_name(column.name, list(unique))
        unique[name] = column if name == column.name else replace(column, name=name)
    return tuple(unique.values())


def find_configuration(name: str, results: Path, *, samples: bool = True) -> ConfigurationRuns:
    """Return the pooled runs that `name` denotes.

    `name` is a results file, a directory with the results of one configuration, or the name of a
    configuration under `results`. `samples` is as in `load`. Raises BadInput if the name stands for neither
    of them, or if a directory mixes configurations or runs that did different work.
    """
    runs = find_runs(name, results, samples=samples)
    descriptions = [recorded.run for recorded in runs]
    configurations = unique(run.configuration for run in descriptions)
    if len(configurations) > 1:
        raise BadInput(
            f"{name} mixes runs of several configurations ({', '.join(configurations)}); "
            "name a directory with one configuration, or one results file"
        )
    for pooled in grouped(descriptions, lambda run: run.parameters.get(PROGRAM)).values():
        require_same_work(name, pooled)
    return ConfigurationRuns(runs[0].run.configuration, runs)


def probe_measurements(column: ConfigurationRuns) -> tuple[Measurement, ...]:
    """Return what probes measured that are stored beside the configuration's runs; there may be none.

    Earlier values of another load than that of the newest ones are left out. Raises BadInput if one of their
    files is malformed.
    """
    return tuple(pooled_measurements(probes_beside(column.runs)))


def named_by_runs(runs: Iterable[Run], parameter: str) -> frozenset[str]:
    """Return the workloads that a parameter of any run lists, such as `controls` or `per_process`."""
    found: set[str] = set()
    for run in runs:
        found.update(run.parameters.get(parameter) or ())
    return frozenset(found)
