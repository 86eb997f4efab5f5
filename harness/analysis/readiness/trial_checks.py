"""Whether a baseline has the trials that a comparison will need."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from harness.analysis.column import Column
from harness.analysis.readiness.finding import Finding, advice, counted, lacking, listed, ok
from harness.analysis.sample import take_sample
from harness.analysis.statistics.change import trials_for_any_result
from harness.model import Ending, Phase, Status, Trial


def measured_workloads(column: Column) -> tuple[str, ...]:
    """Those that have a time."""
    return tuple(name for name in column.workloads if take_sample(name, column.runs).times_s)


def _measured_trials(column: Column) -> Iterator[Trial]:
    for one in column.runs:
        yield from (trial for trial in one.trials if trial.phase is Phase.MEASURED)


def completed(column: Column) -> Finding:
    """Every run came to its end."""
    unfinished = [one.run.id for one in column.runs if one.ending is not Ending.COMPLETED]
    if unfinished:
        return lacking(
            f"{listed(unfinished)} did not come to the end; run again, and move that file away"
        )
    return ok(f"{counted(len(column.runs), 'run')} came to the end")


def enough_trials(column: Column) -> Finding:
    """A change of any workload could be significant, with as many trials after."""
    numbers = {
        name: len(take_sample(name, column.runs).times_s) for name in measured_workloads(column)
    }
    if not numbers:
        return lacking("none was ok; run jobs/benchmark.py")
    needed = trials_for_any_result(1, 1, len(numbers))
    table = f"a table of {counted(len(numbers), 'workload')}"
    few = [f"{n} of {name}" for name, n in numbers.items() if n < needed]
    if few:
        there = listed(few) if len(few) < len(numbers) else _each(numbers.values())
        return lacking(
            f"{there}: with fewer than {needed} no change is significant in {table}; run again, all "
            "runs count together"
        )
    return ok(f"{_each(numbers.values())}; {table} takes {needed}")


def _each(numbers: Collection[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least} a workload" if least == most else f"{least} to {most} a workload"


def no_failures(column: Column) -> Finding:
    """Every measured trial was ok."""
    failed = [trial for trial in _measured_trials(column) if trial.status is Status.FAILED]
    if failed:
        first = failed[0]
        return lacking(
            f"{counted(len(failed), 'trial')} failed, first {first.workload} with {first.error}; "
            "find out why, and run again"
        )
    return ok("no trial failed")


def all_workloads(column: Column) -> Finding:
    """Nothing was left out that somebody may want to compare later."""
    there = measured_workloads(column)
    left_out = [
        *column.workloads,
        *(name for one in column.runs for name in one.run.parameters.get("unasked") or ()),
    ]
    absent = [name for name in left_out if name not in there]
    if absent:
        return advice(f"without {listed(absent)}: after the upgrade it is too late for them")
    return ok(f"all {len(there)} were measured")


def controls(column: Column) -> Finding:
    """There is a workload that neither network nor storage can affect."""
    there = [name for name in measured_workloads(column) if name in column.controls]
    if there:
        return ok(listed(there))
    return lacking(
        "none: nobody will be able to tell the network from the machine; run the Pi workloads too"
    )


def task_metrics(column: Column) -> Finding:
    """Every trial knows where its time went."""
    trials = [trial for trial in _measured_trials(column) if trial.status is Status.OK]
    amiss = [trial for trial in trials if trial.tasks is None or trial.tasks.incomplete]
    if trials and all(trial.tasks is None for trial in trials):
        return lacking(
            "no trial has them: nobody will be able to say where the time went; run again"
        )
    if amiss:
        return advice(f"{len(amiss)} of {counted(len(trials), 'trial')} lack them, or some of them")
    return ok(f"of {counted(len(trials), 'trial')}")


def several_submissions(column: Column) -> Finding:
    """What differs from one start to the next is in the noise too."""
    if len(column.runs) == 1:
        return advice(
            "all trials are of one spark-submit, and starts differ; several runs of fewer trials "
            "tell more"
        )
    return ok(f"{len(column.runs)} times spark-submit")
