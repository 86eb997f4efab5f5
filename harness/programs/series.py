"""Several runs of a program on several numbers of hosts: in turns, and resumed where they were cut off."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.model.run import Ending, RecordedRun, Status
from harness.model.scaling import scaled_name
from harness.programs.run import ProgramRun, problem_that_fits, run_program
from harness.records.directories import configuration_directory, results_files
from harness.records.reader import load
from harness.terminal import count_of, say


@dataclass(frozen=True)
class ProgramSeries:
    """Runs of a program, each as `planned`, on the first 1, 2, ... of its hosts that `nodes` lists.

    Without `nodes` they are on all hosts, and the configuration keeps its name.
    """

    planned: ProgramRun
    runs: int
    nodes: tuple[int, ...] = ()

    @property
    def sizes(self) -> tuple[ProgramRun, ...]:
        """What to run for each number of nodes."""
        whole = self.planned.placement
        if not self.nodes:
            return (self.planned,)
        return tuple(
            replace(
                self.planned,
                placement=replace(whole, hosts=whole.hosts[:number]),
                configuration=scaled_name(self.planned.configuration, number),
            )
            for number in self.nodes
        )

    def order(self) -> Iterator[tuple[int, ProgramRun]]:
        """Yield the number of each run and what it runs, there and back, so that drift affects all alike."""
        for number in range(1, self.runs + 1):
            for each in self.sizes[:: 1 if number % 2 else -1]:
                yield number, each


def make_runs(series: ProgramSeries, results: Path) -> list[RecordedRun]:
    """Make the runs that are not complete yet, and return all that are complete, and one that was cut off.

    Raise BadInput if a problem does not fit its hosts, before anything runs.
    """
    for each in series.sizes:
        problem_that_fits(each)
    done = {each.configuration: _complete(each, results) for each in series.sizes}
    if existing := sum(map(len, done.values())):
        say(
            f"{count_of(existing, 'run')} of {series.runs * len(series.sizes)} are complete already"
        )
    for number, planned in series.order():
        runs = done[planned.configuration]
        if number <= len(runs):
            continue
        say(f"{planned.configuration}, run {number} of {series.runs}")
        runs.append(run_program(planned, results, series=series_of(planned)))
        if runs[-1].ending is not Ending.COMPLETED:
            break
    return [recorded for runs in done.values() for recorded in runs]


def series_of(planned: ProgramRun) -> str:
    """Return a digest of everything on which a run's result depends, but the time."""
    placement = planned.placement
    problem = planned.program.problem(placement, growing=planned.growing)
    values = [
        *(
            planned.program.name,
            dict(problem),
            [f"{host}={host.address}" for host in placement.hosts],
        ),
        *(placement.per_host, planned.trials, planned.warmup, planned.host_peak, planned.network),
    ]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]


def _complete(planned: ProgramRun, results: Path) -> list[RecordedRun]:
    name = series_of(planned)
    runs: Sequence[RecordedRun] = [
        load(file)
        for file in results_files(configuration_directory(results, planned.configuration))
    ]
    return [
        each
        for each in runs
        if each.ending is Ending.COMPLETED
        and each.run.parameters.get("series") == name
        and any(trial.status is Status.OK for trial in each.trials)
    ]
