"""Several runs of a program on several numbers of hosts: in turns, and resumed where they were cut off."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from harness.base.terminal import say
from harness.model.run import PROGRAM, Ending, RecordedRun
from harness.model.scaling import scaled_name
from harness.programs.program_run import ProgramRun, run_program
from harness.records.series import Series, locked_series, missing_runs
from harness.work.same_work import require_work_of_runs


def on_first_hosts(planned: ProgramRun, nodes: Sequence[int]) -> list[ProgramRun]:
    """Return what to run on the first 1, 2, ... of the hosts that `nodes` lists."""
    whole = planned.placement
    return [
        replace(
            planned,
            placement=replace(whole, hosts=whole.hosts[:number]),
            configuration=scaled_name(planned.configuration, number),
        )
        for number in nodes
    ]


def make_runs(every: Sequence[ProgramRun], runs: int, results: Path) -> list[RecordedRun]:
    """Make the runs that are not complete yet, and return all that are complete, and those made.

    A run that is interrupted is the last. Raise BadInput before anything runs if a problem does not suit its
    hosts, or could not be pooled with what its configuration has.
    """
    planned_of = {}
    for planned in every:
        series = Series(results, planned.configuration, series_id(planned))
        of_program = [
            recorded
            for recorded in series.of_configuration()
            if recorded.run.parameters.get(PROGRAM) == planned.program.name
        ]
        problem = {"problem": dict(planned.problem)}
        require_work_of_runs(planned.configuration, problem, of_program)
        planned_of[series] = planned
    recorded = {series: series.complete() for series in planned_of}
    missing = list(missing_runs(list(planned_of), runs))
    if existing := runs * len(every) - len(missing):
        say(f"{existing} of {runs * len(every)} runs are complete already")
    with locked_series(planned_of):
        for series, number in missing:
            say(f"{series.configuration}, run {number} of {runs}")
            recorded[series].append(run_program(planned_of[series], results, series.id))
            if recorded[series][-1].ending is not Ending.COMPLETED:
                break
    return [run for of_series in recorded.values() for run in of_series]


def series_id(planned: ProgramRun) -> str:
    """Return a digest of everything on which a run's result depends, but the time."""
    placement = planned.placement
    values = [
        *(planned.program.name, dict(planned.problem)),
        [f"{host}={host.address}" for host in placement.hosts],
        *(placement.per_host, planned.trials, planned.warmup, planned.host_peak, planned.network),
    ]
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()[:12]
