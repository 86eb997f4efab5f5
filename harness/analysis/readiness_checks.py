"""What a check of a baseline found, before the network that it was measured on is gone."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis import declared, observed
from harness.analysis.column import ConfigurationRuns
from harness.analysis.confounders import confounders
from harness.analysis.declared import contradictions
from harness.analysis.sample import take_sample
from harness.model.run import Ending, Phase, Run, Status, Trial
from harness.statistics.change import min_trials


class Standing(StrEnum):
    """How a check ended. What lacks cannot be had later, and a comparison needs it."""

    OK = "ok"
    ADVICE = "advice"
    LACKING = "LACKING"


@dataclass(frozen=True)
class Finding:
    """How it stands; and in a line what is there, or what is not and what to do about it."""

    standing: Standing
    said: str


def ok(said: str) -> Finding:
    return Finding(Standing.OK, said)


def advice(said: str) -> Finding:
    return Finding(Standing.ADVICE, said)


def missing(said: str) -> Finding:
    return Finding(Standing.LACKING, said)


def listed(names: Iterable[str]) -> str:
    """`a, b`: each once."""
    return ", ".join(dict.fromkeys(names))


def number_of(number: int, what: str) -> str:
    """`1 run`, `2 runs`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# MERGED from harness.analysis.readiness.trial_checks: 'Whether a baseline has the trials that a comparison will need.'
def measured_workloads(column: ConfigurationRuns) -> tuple[str, ...]:
    """Those that have a time."""
    return tuple(name for name in column.workloads if take_sample(name, column.runs).times_s)


def _measured_trials(column: ConfigurationRuns) -> Iterator[Trial]:
    for one in column.runs:
        yield from (trial for trial in one.trials if trial.phase is Phase.MEASURED)


def completed(column: ConfigurationRuns) -> Finding:
    """Every run came to its end."""
    unfinished = [one.run.id for one in column.runs if one.ending is not Ending.COMPLETED]
    if unfinished:
        return missing(
            f"{listed(unfinished)} did not come to the end; run again, and move that file away"
        )
    return ok(f"{number_of(len(column.runs), 'run')} came to the end")


def enough_trials(column: ConfigurationRuns) -> Finding:
    """A change of any workload could be significant, with as many trials after."""
    numbers = {
        name: len(take_sample(name, column.runs).times_s) for name in measured_workloads(column)
    }
    if not numbers:
        return missing("none was ok; run jobs/benchmark.py")
    needed = min_trials(1, 1, len(numbers))
    table = f"a table of {number_of(len(numbers), 'workload')}"
    few = [f"{n} of {name}" for name, n in numbers.items() if n < needed]
    if few:
        there = listed(few) if len(few) < len(numbers) else _each(numbers.values())
        return missing(
            f"{there}: with fewer than {needed} no change is significant in {table}; run again, all "
            "runs count together"
        )
    return ok(f"{_each(numbers.values())}; {table} takes {needed}")


def _each(numbers: Collection[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{least} a workload" if least == most else f"{least} to {most} a workload"


def no_failures(column: ConfigurationRuns) -> Finding:
    """Every measured trial was ok."""
    failed = [trial for trial in _measured_trials(column) if trial.status is Status.FAILED]
    if failed:
        first = failed[0]
        return missing(
            f"{number_of(len(failed), 'trial')} failed, first {first.workload} with {first.error}; "
            "find out why, and run again"
        )
    return ok("no trial failed")


def all_workloads(column: ConfigurationRuns) -> Finding:
    """Nothing was left out that somebody may want to compare later."""
    there = measured_workloads(column)
    left_out = [
        *column.workloads,
        *(name for one in column.runs for name in one.run.parameters.get("not_requested") or ()),
    ]
    absent = [name for name in left_out if name not in there]
    if absent:
        return advice(f"without {listed(absent)}: after the upgrade it is too late for them")
    return ok(f"all {len(there)} were measured")


def controls(column: ConfigurationRuns) -> Finding:
    """There is a workload that neither network nor storage can affect."""
    there = [name for name in measured_workloads(column) if name in column.controls]
    if there:
        return ok(listed(there))
    return missing(
        "none: nobody will be able to tell the network from the machine; run the Pi workloads too"
    )


def task_metrics(column: ConfigurationRuns) -> Finding:
    """Every trial knows where its time went."""
    trials = [trial for trial in _measured_trials(column) if trial.status is Status.OK]
    amiss = [trial for trial in trials if trial.tasks is None or trial.tasks.incomplete]
    if trials and all(trial.tasks is None for trial in trials):
        return missing(
            "no trial has them: nobody will be able to say where the time went; run again"
        )
    if amiss:
        return advice(
            f"{len(amiss)} of {number_of(len(trials), 'trial')} lack them, or some of them"
        )
    return ok(f"of {number_of(len(trials), 'trial')}")


def several_submissions(column: ConfigurationRuns) -> Finding:
    """What differs from one start to the next is in the noise too."""
    if len(column.runs) == 1:
        return advice(
            "all trials are of one spark-submit, and starts differ; several runs of fewer trials "
            "tell more"
        )
    return ok(f"{len(column.runs)} times spark-submit")


# MERGED from harness.analysis.readiness.circumstance_checks: 'Whether enough is known of the circumstances in which a baseline was measured.'
_NEEDED = {"kernel": "kernel", "spark": "Spark", "java": "Java", "executors": "executors"}
_TELLING_SCHEMES = frozenset({"hdfs", "qfs"})
"""Of file systems that can say how they keep a file."""


def nothing_contradicted(column: ConfigurationRuns) -> Finding:
    """Links and data are what the name and the declared facts say."""
    lines = contradictions(column.runs)
    if lines:
        return missing(f"{lines[0]}; put right which of them is wrong, and run again")
    return ok("nothing that was observed contradicts them")


def links_known(column: ConfigurationRuns) -> Finding:
    """Speed and MTU of a link were observed, or are declared."""
    runs = _runs(column)
    unknown = {
        "speed": not all(map(_knows_speed, runs)),
        "MTU": not all(map(_knows_mtu, runs)),
    }
    if any(unknown.values()):
        lacks = listed(name for name, is_unknown in unknown.items() if is_unknown)
        return missing(
            f"{lacks} of no link that is up is known; run again with what it is, for example "
            "--fact link=1gbit --fact mtu=1500"
        )
    return ok(listed(told for run in runs for told in _links(run)))


def _knows_speed(run: Run) -> bool:
    is_declared = "link" in run.facts or bool(declared.rates(run.configuration))
    return is_declared or bool(observed.link_speeds(run))


def _knows_mtu(run: Run) -> bool:
    is_declared = "mtu" in run.facts or bool(declared.mtus(run.configuration))
    return is_declared or bool(observed.link_mtus(run))


def _links(run: Run) -> Iterator[str]:
    """What is known of its links: what was declared, what was observed, and else what it is named."""
    yield from (f"{fact}={run.facts[fact]}" for fact in ("link", "mtu") if fact in run.facts)
    speeds = observed.link_speeds(run)
    for node, links in observed.link_mtus(run).items():
        for name, mtu in links.items():
            speed = speeds.get(node, {}).get(name)
            yield f"{name} with MTU {mtu}" + (f" at {speed} Mbit/s" if speed else "")
    if not speeds and "link" not in run.facts:
        yield from (f"{rate} by its name" for rate in declared.rates(run.configuration))


def environment_known(column: ConfigurationRuns) -> Finding:
    """What machines and software were."""
    unknown = [
        name
        for key, name in _NEEDED.items()
        if not all(run.environment.get(key) for run in _runs(column))
    ]
    if unknown:
        return missing(f"{listed(unknown)} not known; run jobs/benchmark.py itself")
    return ok(f"{listed(_NEEDED.values())} are known")


def alike(column: ConfigurationRuns) -> Finding:
    """Its own runs do not differ."""
    first, *others = column.runs
    what = [one.what for other in others for one in confounders([first], [other])]
    if what:
        return advice(f"its runs differ in {listed(what)}")
    return ok("the same in all runs" if others else "those of one run")


def layout_proven(column: ConfigurationRuns) -> Finding:
    """The file system said of every file how it lies, and it is as the manifest says."""
    datasets = [run.dataset for run in _runs(column) if run.dataset]
    if not datasets:
        return advice("no run says that it read data")
    drifts = [layout["drift"] for one in datasets if (layout := one["layout"]).get("drift")]
    if drifts:
        return missing(f"not as the manifest says: {drifts[0]}; write the data anew and run again")
    layouts = [name for run in _runs(column) for name in observed.layouts(run)]
    if layouts:
        return ok(f"{listed(layouts)}, as the manifest says")
    schemes = sorted({str(one["uri"]).partition(":")[0] for one in datasets})
    if _TELLING_SCHEMES.intersection(schemes):
        return missing(f"{listed(schemes)} did not say how the data lies; run again")
    return advice(f"{listed(schemes)} does not say how it keeps the data")


def content_checked(column: ConfigurationRuns) -> Finding:
    """The rows were held against their digest."""
    unchecked = [
        run.id for run in _runs(column) if run.dataset and not run.parameters.get("content_checked")
    ]
    if unchecked:
        return advice(f"{listed(unchecked)} did not hold the rows against their digest")
    return ok("as its digest says")


def _runs(column: ConfigurationRuns) -> list[Run]:
    return [one.run for one in column.runs]
