"""Which run of an experiment comes next: the order of all, and what is left of them."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from harness.base.words import join_names
from harness.experiments.experiment import Configuration, Experiment
from harness.programs.program import Program
from harness.trials.order import in_turns


@dataclass(frozen=True)
class Part:
    """A run of one configuration, on Spark or of the program of this name.

    `number`, from 1, counts the runs of this configuration.
    """

    configuration: Configuration
    number: int
    program: str | None = None

    def __str__(self) -> str:
        text = f"{self.configuration.name}, run {self.number}"
        if self.program:
            return f"{text}, {self.program}"
        return text


@dataclass(frozen=True)
class PlannedRun:
    """One application: the configurations that it measures, in the order of their first turns."""

    configurations: tuple[Configuration, ...]
    number: int
    programs: tuple[Program, ...] = ()
    has_spark: bool = True

    @property
    def probed_parts(self) -> list[Part]:
        """The networks that are probed, one for each configuration."""
        return [Part(each, self.number) for each in self.configurations]

    @property
    def spark_parts(self) -> list[Part]:
        """The runs on Spark, one for each configuration."""
        if self.has_spark:
            return self.probed_parts
        return []

    @property
    def program_parts(self) -> list[Part]:
        """The runs of programs, one for each configuration and program."""
        parts = []
        for each in self.configurations:
            parts += [Part(each, self.number, program.name) for program in self.programs]
        return parts

    @property
    def parts(self) -> list[Part]:
        """All runs, on Spark first."""
        return [*self.spark_parts, *self.program_parts]

    @property
    def link_texts(self) -> str:
        """The settings of the configurations in words, after a comma: `, 100mbit; 1gbit`."""
        texts = dict.fromkeys(filter(None, map(str, self.configurations)))
        if not texts:
            return ""
        return f", {'; '.join(texts)}"

    def __str__(self) -> str:
        return f"{join_names([each.name for each in self.configurations])}, run {self.number}"


@dataclass(frozen=True)
class LeftOver:
    """The rest of a planned run: networks to probe, programs to run, and runs on Spark to make.

    Runs on Spark are one application, so all of them are made if one is missing.
    """

    run: PlannedRun
    to_probe: tuple[Part, ...]
    programs: tuple[Part, ...]
    on_spark: tuple[Part, ...]

    @property
    def is_measured(self) -> bool:
        """Whether at most its probes are left."""
        return not self.programs and not self.on_spark


def planned_runs(experiment: Experiment) -> Iterator[PlannedRun]:
    """Yield all runs in order: in turns, so that drift affects all configurations alike."""
    for number in range(1, experiment.runs + 1):
        for configurations in _applications(experiment, number):
            yield PlannedRun(configurations, number, experiment.programs, experiment.has_spark)


def _applications(experiment: Experiment, number: int) -> Iterator[tuple[Configuration, ...]]:
    """Yield the configurations that one application measures in turns: it stays on its nodes."""
    order = in_turns(experiment.configurations, experiment.id, number)
    if experiment.turns == "runs":
        for configuration in order:
            yield (configuration,)
        return
    for nodes in dict.fromkeys(configuration.nodes for configuration in order):
        together = [each for each in experiment.configurations if each.nodes == nodes]
        yield tuple(in_turns(together, f"{experiment.id}-{number}", 1))


def left_over(
    experiment: Experiment, completed: Collection[Part], probed: Collection[Part]
) -> list[LeftOver]:
    """Return what is left of each planned run, in their order, after these complete parts."""
    every = []
    for run in planned_runs(experiment):
        to_probe: list[Part] = []
        if experiment.probe_seconds is not None:
            # The first turn's configuration comes last, so that it can stay in force.
            to_probe = [part for part in reversed(run.probed_parts) if part not in probed]
        programs = [part for part in run.program_parts if part not in completed]
        on_spark = run.spark_parts
        if all(part in completed for part in on_spark):
            on_spark = []
        every.append(LeftOver(run, tuple(to_probe), tuple(programs), tuple(on_spark)))
    return every
