"""Whether a baseline is fit for a later comparison, and the smallest change that it can reveal.

The checks have to be made while the network that the baseline was measured on still exists.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from harness.analysis import declared, environment
from harness.analysis.configuration import ConfigurationRuns
from harness.analysis.confounders import confounders
from harness.analysis.interference import disturbed_line, interference_facts
from harness.analysis.sample import disturbed_trials, measured_trials, take_sample
from harness.model.run import Ending, Run, Status
from harness.statistics.change import min_trials
from harness.statistics.median import noise
from harness.statistics.power import detectable_change
from harness.terminal import count_of


class CheckStatus(StrEnum):
    """The result of a check. MISSING: a comparison needs it, and it cannot be had after the upgrade."""

    OK = "ok"
    ADVICE = "advice"
    MISSING = "MISSING"


@dataclass(frozen=True)
class Finding:
    """A status, and a line on what was found, or on what is missing and how to fix it."""

    status: CheckStatus
    message: str


@dataclass(frozen=True)
class Sensitivity:
    """The smallest change of a workload that a comparison will detect.

    It holds if the other configuration gets as many trials, `n`. `noise` is the standard deviation of
    a trial as a fraction, None if unknown. `min_change` is the smallest relative change that is detected
    with the usual power, None if the noise is unknown or the trials are too few for any change.
    """

    workload: str
    n: int
    noise: float | None
    min_change: float | None


@dataclass(frozen=True)
class Readiness:
    """A baseline with the finding of each check, by name, and the sensitivity of each workload."""

    baseline: ConfigurationRuns
    findings: Mapping[str, Finding]
    sensitivities: tuple[Sensitivity, ...]

    @property
    def missing(self) -> tuple[str, ...]:
        """The names of the checks that failed. The baseline is ready if there are none."""
        return tuple(
            name for name, finding in self.findings.items() if finding.status is CheckStatus.MISSING
        )


def readiness(baseline: ConfigurationRuns) -> Readiness:
    """Check a baseline that will be compared with one other configuration, in all its workloads."""
    workloads = _measured_workloads(baseline)
    return Readiness(
        baseline,
        {name: check(baseline) for name, check in _CHECKS.items()},
        tuple(_sensitivity(name, baseline, len(workloads)) for name in workloads),
    )


def _sensitivity(workload: str, baseline: ConfigurationRuns, comparisons: int) -> Sensitivity:
    times_s = take_sample(workload, baseline.runs).times_s
    noise_ = noise(times_s)
    min_change = None if noise_ is None else detectable_change(noise_, len(times_s), comparisons)
    return Sensitivity(workload, len(times_s), noise_, min_change)


def _ok(message: str) -> Finding:
    return Finding(CheckStatus.OK, message)


def _advice(message: str) -> Finding:
    return Finding(CheckStatus.ADVICE, message)


def _missing(message: str) -> Finding:
    return Finding(CheckStatus.MISSING, message)


def _listed(names: Iterable[str]) -> str:
    """Join distinct names: `a, b`."""
    return ", ".join(dict.fromkeys(names))


def _runs(baseline: ConfigurationRuns) -> list[Run]:
    return [recorded.run for recorded in baseline.runs]


def _measured_workloads(baseline: ConfigurationRuns) -> tuple[str, ...]:
    """Return the workloads with at least one measured time."""
    return tuple(name for name in baseline.workloads if take_sample(name, baseline.runs).times_s)


def _all_completed(baseline: ConfigurationRuns) -> Finding:
    """Check that every run finished."""
    unfinished = [r.run.id for r in baseline.runs if r.ending is not Ending.COMPLETED]
    if unfinished:
        return _missing(
            f"{_listed(unfinished)} did not finish; move unfinished results files away and run the "
            "benchmark again"
        )
    return _ok(f"{count_of(len(baseline.runs), 'run')} finished")


def _enough_trials(baseline: ConfigurationRuns) -> Finding:
    """Check that a change of any workload can be significant, given as many trials after it."""
    numbers = {
        name: len(take_sample(name, baseline.runs).times_s)
        for name in _measured_workloads(baseline)
    }
    if not numbers:
        return _missing("no measured trial is ok; run jobs/benchmark.py")
    needed = min_trials(1, 1, len(numbers))
    table = f"a table of {count_of(len(numbers), 'workload')}"
    few = [f"{n} of {name}" for name, n in numbers.items() if n < needed]
    if few:
        found = _listed(few) if len(few) < len(numbers) else _per_workload(numbers.values())
        return _missing(
            f"{found}: with fewer than {needed}, no change can be significant in {table}; run the "
            "benchmark again, the trials of all runs count"
        )
    return _ok(f"{_per_workload(numbers.values())}; {table} needs {needed}")


def _per_workload(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low} per workload" if low == high else f"{low} to {high} per workload"


def _no_failures(baseline: ConfigurationRuns) -> Finding:
    """Check that every measured trial is ok."""
    failed = [trial for trial in measured_trials(baseline.runs) if trial.status is Status.FAILED]
    if failed:
        first = failed[0]
        return _missing(
            f"{count_of(len(failed), 'trial')} failed, the first of {first.workload} with: "
            f"{first.error}; find the cause and run the benchmark again"
        )
    return _ok("no trial failed")


def _undisturbed(baseline: ConfigurationRuns) -> Finding:
    """Check that trials were watched, and that few were disturbed."""
    if not interference_facts(baseline.runs) and not any(disturbed_trials(baseline.runs)):
        return _advice("not recorded what disturbed the trials; measure with jobs/benchmark.py")
    if line := disturbed_line(baseline.runs):
        return _advice(line)
    return _ok("no measured trial was disturbed")


def _all_workloads(baseline: ConfigurationRuns) -> Finding:
    """Check that no workload was left out that may be wanted in a later comparison."""
    measured = _measured_workloads(baseline)
    known = [
        *baseline.workloads,
        *(name for run in _runs(baseline) for name in run.parameters.get("not_requested") or ()),
    ]
    absent = [name for name in known if name not in measured]
    if absent:
        return _advice(f"not measured: {_listed(absent)}; after the upgrade it is too late")
    return _ok(f"all {len(measured)} were measured")


def _has_controls(baseline: ConfigurationRuns) -> Finding:
    """Check for a workload that neither network nor storage can affect."""
    measured = [name for name in _measured_workloads(baseline) if name in baseline.controls]
    if measured:
        return _ok(_listed(measured))
    return _missing(
        "none: a change of the machines would look like a change of the network; run the Pi "
        "workloads too"
    )


def _has_task_metrics(baseline: ConfigurationRuns) -> Finding:
    """Check that every trial has complete task metrics."""
    trials = [trial for trial in measured_trials(baseline.runs) if trial.status is Status.OK]
    if trials and all(trial.tasks is None for trial in trials):
        return _missing(
            "no trial has them: nothing could explain where the time went; run the benchmark again"
        )
    partial = [trial for trial in trials if trial.tasks is None or trial.tasks.incomplete]
    if partial:
        return _advice(
            f"{len(partial)} of {count_of(len(trials), 'trial')} have none, or incomplete ones"
        )
    return _ok(f"complete for {count_of(len(trials), 'trial')}")


def _several_submissions(baseline: ConfigurationRuns) -> Finding:
    """Check that the noise includes differences between one start of Spark and the next."""
    if len(baseline.runs) == 1:
        return _advice(
            "all trials are of one spark-submit, and times differ from start to start; several runs "
            "of fewer trials are more reliable"
        )
    return _ok(f"{len(baseline.runs)} runs of spark-submit")


def _no_contradictions(baseline: ConfigurationRuns) -> Finding:
    """Check that links and data are what the name and the facts declare."""
    lines = declared.contradictions(baseline.runs)
    if lines:
        return _missing(f"{lines[0]}; correct whichever is wrong and run the benchmark again")
    return _ok("no observation contradicts them")


def _links_known(baseline: ConfigurationRuns) -> Finding:
    """Check that speed and MTU of at least one link were observed, or are declared."""
    runs = _runs(baseline)
    is_known = {"speed": all(map(_knows_speed, runs)), "MTU": all(map(_knows_mtu, runs))}
    unknown = [name for name, known in is_known.items() if not known]
    if unknown:
        return _missing(
            f"unknown {' and '.join(unknown)}; declare what the links are and run the benchmark again, "
            "for example --fact link=1gbit --fact mtu=1500"
        )
    return _ok(_listed(link for run in runs for link in _links(run)))


def _knows_speed(run: Run) -> bool:
    is_declared = "link" in run.facts or bool(declared.rates(run.configuration))
    return is_declared or bool(environment.link_speeds(run))


def _knows_mtu(run: Run) -> bool:
    is_declared = "mtu" in run.facts or bool(declared.mtus(run.configuration))
    return is_declared or bool(environment.link_mtus(run))


def _links(run: Run) -> Iterator[str]:
    """Describe the declared facts, the observed links, and as a last resort the name's claims."""
    yield from (f"{fact}={run.facts[fact]}" for fact in ("link", "mtu") if fact in run.facts)
    speeds = environment.link_speeds(run)
    for node, links in environment.link_mtus(run).items():
        for name, mtu in links.items():
            speed = speeds.get(node, {}).get(name)
            yield f"{name} with MTU {mtu}" + (f" at {speed} Mbit/s" if speed else "")
    if not speeds and "link" not in run.facts:
        yield from (f"{rate} according to the name" for rate in declared.rates(run.configuration))


_SOFTWARE = {"kernel": "kernel", "spark": "Spark", "java": "Java", "executors": "executors"}
"""Keys of the environment that a comparison needs, with their names."""


def _environment_known(baseline: ConfigurationRuns) -> Finding:
    """Check that machines and software were recorded."""
    unknown = [
        name
        for key, name in _SOFTWARE.items()
        if not all(run.environment.get(key) for run in _runs(baseline))
    ]
    if unknown:
        return _missing(f"unknown: {_listed(unknown)}; measure with jobs/benchmark.py")
    return _ok(f"{_listed(_SOFTWARE.values())} are known")


def _no_confounders(baseline: ConfigurationRuns) -> Finding:
    """Check that the baseline's own runs do not differ from each other."""
    first, *others = baseline.runs
    facts = [found.fact for other in others for found in confounders([first], [other])]
    if facts:
        return _advice(f"its runs differ in {_listed(facts)}")
    return _ok("none between its runs" if others else "none, as there is a single run")


_LAYOUT_SCHEMES = frozenset({"hdfs", "qfs"})
"""Schemes of file systems that report the layout of a file."""


def _layout_verified(baseline: ConfigurationRuns) -> Finding:
    """Check that the file system reported the layout of every file, and that the manifest agrees."""
    datasets = [run.dataset for run in _runs(baseline) if run.dataset]
    if not datasets:
        return _advice("no run recorded that it read data")
    drifts = [layout["drift"] for data in datasets if (layout := data["layout"]).get("drift")]
    if drifts:
        return _missing(
            f"not as in the manifest: {drifts[0]}; write the data again and run the benchmark again"
        )
    layouts = [name for run in _runs(baseline) for name in environment.layouts(run)]
    if layouts:
        return _ok(f"{_listed(layouts)}, as in the manifest")
    schemes = sorted({str(data["uri"]).partition(":")[0] for data in datasets})
    if _LAYOUT_SCHEMES.intersection(schemes):
        return _missing(f"{_listed(schemes)} did not report it; run the benchmark again")
    return _advice(f"unknown, because {_listed(schemes)} storage does not report it")


def _content_checked(baseline: ConfigurationRuns) -> Finding:
    """Check that the rows were compared with the digest in the manifest."""
    unchecked = [
        run.id
        for run in _runs(baseline)
        if run.dataset and not run.parameters.get("content_checked")
    ]
    if unchecked:
        return _advice(f"{_listed(unchecked)} did not compare the rows with their digest")
    return _ok("the rows have the digest in the manifest")


_CHECKS: Mapping[str, Callable[[ConfigurationRuns], Finding]] = {
    "runs": _all_completed,
    "trials": _enough_trials,
    "failures": _no_failures,
    "disturbances": _undisturbed,
    "workloads": _all_workloads,
    "controls": _has_controls,
    "task metrics": _has_task_metrics,
    "name and facts": _no_contradictions,
    "links": _links_known,
    "environment": _environment_known,
    "confounders": _no_confounders,
    "layout": _layout_verified,
    "content": _content_checked,
    "submissions": _several_submissions,
}
